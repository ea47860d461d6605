"""Writes tiny photos of one scene, for the tests of the page: p1.png ... in 8 bits, w1.png ... in 16.

usage: photos.py FOLDER
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from pictures import png_bytes, scene, to_8_bit  # noqa: E402

folder = pathlib.Path(sys.argv[1])
for number, photo in enumerate(scene(height=64, width=84)[0], 1):
    (folder / f"p{number}.png").write_bytes(png_bytes(to_8_bit(photo)))
    (folder / f"w{number}.png").write_bytes(png_bytes((photo.clip(0, 1) * 65535).round().astype("uint16")))
