"""Writes tiny photos of one scene, for the tests of the page: p1.png ... in 8 bits, w1.png ... in 16, t1.png ... taken in the
opposite order of their names, e1.png ... in 16 bits with EXIF and a profile, inks1.jpg and inks2.jpg in CMYK, and two of a
megapixel, large1.png and large2.png.

usage: photos.py FOLDER
"""
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from pictures import (DISPLAY_P3, WHITE, fixed, icc_bytes, icc_profile, jpeg_with_profile, png_bytes,  # noqa: E402
                      png_chunk, png_profile, scene, to_16_bit, to_8_bit)


def taken(second):
    """EXIF that says when: a directory with that of the photo, which has one date."""
    date = b"2024:05:17 14:03:%02d\0" % second
    return png_chunk(b"eXIf", struct.pack(">2sHI HHHII I HHHII I", b"MM", 42, 8, 1, 0x8769, 4, 1, 26, 0, 1, 0x9003, 2, 20, 44, 0)
                     + date)


def inks_profile():
    """Of CMYK in both directions, by tables of corners: each ink takes lightness and has a hue of its own."""
    def table(inputs, outputs, corners):
        straight = bytes(range(256))
        return (b"mft1" + bytes(4) + bytes([inputs, outputs, 2, 0]) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + inputs * straight
                + b"".join(bytes(corner) for corner in corners) + outputs * straight)
    def seen(c, m, y, k):
        light = (1 - .4 * c) * (1 - .5 * m) * (1 - .1 * y) * (1 - .9 * k)
        return [round(255 * light), round(128 + light * (70 * m - 35 * c)), round(128 + light * (80 * y - 45 * c))]
    forth = [seen(n >> 3, n >> 2 & 1, n >> 1 & 1, n & 1) for n in range(16)]
    back = [[0, 0, 0, 255 * (1 - (n >> 2))] for n in range(8)]
    return icc_bytes(b"prtr", b"CMYK", b"Lab ", {**WHITE, b"A2B0": table(4, 3, forth), b"B2A0": table(3, 4, back)})


folder = pathlib.Path(sys.argv[1])
for number, photo in enumerate(scene(height=64, width=84)[0], 1):
    (folder / f"p{number}.png").write_bytes(png_bytes(to_8_bit(photo)))
    (folder / f"w{number}.png").write_bytes(png_bytes(to_16_bit(photo)))
    (folder / f"t{number}.png").write_bytes(png_bytes(to_8_bit(photo), taken(59 - number)))
    (folder / f"e{number}.png").write_bytes(png_bytes(to_16_bit(photo), png_profile(icc_profile(2.2, primaries=DISPLAY_P3))
                                                      + taken(number)))
inks = pathlib.Path(__file__).resolve().parent.parent / "fuzz/corpus/jpeg/cmyk.jpg"
for number in (1, 2):
    (folder / f"inks{number}.jpg").write_bytes(jpeg_with_profile(inks.read_bytes(), inks_profile()))
    ramp = np.add.outer(np.arange(1000), number * np.arange(1000)) % 251
    (folder / f"large{number}.png").write_bytes(png_bytes(np.dstack([ramp] * 3).astype(np.uint8)))
