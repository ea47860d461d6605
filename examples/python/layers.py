#!/usr/bin/env python3
"""A scene whose truth is known, separated: how much nearer to the truth is the layer than the photo?

usage: layers.py [FOLDER]     with matplotlib, a figure goes into FOLDER as layers.png

Each part can be pasted into a notebook."""
# %% Two pictures: what is behind the glass, and what it reflects.
import pathlib
import sys

import numpy as np

import esra


def read_pgm(path):
    """A grey picture of 8 bits as numbers in 0..1, in linear light."""
    kind, size, _, pixels = path.read_bytes().split(b"\n", 3)
    assert kind == b"P5"
    width, height = map(int, size.split())
    codes = np.frombuffer(pixels, np.uint8).reshape(height, width) / 255
    return np.where(codes <= .04045, codes / 12.92, ((codes + .055) / 1.055)**2.4)


here = pathlib.Path(__file__).parent.parent
scene = esra.synth(read_pgm(here / "behind.pgm"), read_pgm(here / "reflected.pgm"), photos=3, width=192, height=144, shift_px=8)

# %% Separate the photos, and look at what was found.
result = esra.separate(scene.photos, motion="homography")
print(result)
for warning in result.warnings:
    print("warning:", warning)
print("how far the layers moved apart, px:", *(f"{facts.apart_px:.1f}" for facts in result.facts))

# %% How much was gained? A photo differs from the layer in exposure besides: that is compared after one gain.
before = esra.compare(scene.photos[0], scene.transmitted)
after = esra.compare(result.transmitted, scene.transmitted)
print(f"PSNR of the photo {before.psnr_exposure:.2f} dB, of the layer {after.psnr_exposure:.2f} dB")
assert after.psnr_exposure > before.psnr_exposure + 1, "nothing was gained"

# %% A figure, where there is matplotlib.
try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("there is no matplotlib, and so no figure")
else:
    pictures = {"a photo": scene.photos[0], "transmitted": result.transmitted, "reflected": result.reflected[0],
                "confidence": result.confidence}
    figure, axes = plt.subplots(1, len(pictures), figsize=(12, 3))
    for axis, (title, picture) in zip(axes, pictures.items()):
        shown = picture if title == "confidence" else np.clip(picture, 0, 1)**(1 / 2.2)
        axis.imshow(shown, cmap="gray", vmin=0, vmax=1)
        axis.set_title(title)
        axis.axis("off")
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figure.savefig(folder / "layers.png")
    print("drawn:", folder / "layers.png")
