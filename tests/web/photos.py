"""Writes tiny photos of one scene, for the tests of the page: p1.png ... in 8 bits, w1.png ... in 16, t1.png ... taken in the
opposite order of their names, and two of a megapixel, large1.png and large2.png.

usage: photos.py FOLDER
"""
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from pictures import png_bytes, png_chunk, scene, to_16_bit, to_8_bit  # noqa: E402


def taken(second):
    """EXIF that says when: a directory with that of the photo, which has one date."""
    date = b"2024:05:17 14:03:%02d\0" % second
    return png_chunk(b"eXIf", struct.pack(">2sHI HHHII I HHHII I", b"MM", 42, 8, 1, 0x8769, 4, 1, 26, 0, 1, 0x9003, 2, 20, 44, 0)
                     + date)


folder = pathlib.Path(sys.argv[1])
for number, photo in enumerate(scene(height=64, width=84)[0], 1):
    (folder / f"p{number}.png").write_bytes(png_bytes(to_8_bit(photo)))
    (folder / f"w{number}.png").write_bytes(png_bytes(to_16_bit(photo)))
    (folder / f"t{number}.png").write_bytes(png_bytes(to_8_bit(photo), taken(59 - number)))
for number in (1, 2):
    ramp = np.add.outer(np.arange(1000), number * np.arange(1000)) % 251
    (folder / f"large{number}.png").write_bytes(png_bytes(np.dstack([ramp] * 3).astype(np.uint8)))
