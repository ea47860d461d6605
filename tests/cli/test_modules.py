"""HEIC, AVIF and camera RAW: separated where their libraries are built in, explained where not."""
import os
import struct
import subprocess
import unittest

import numpy as np

from cli import ESRA
from pictures import from_srgb, psnr, to_8_bit, to_16_bit
from separating import PHOTOS, TRUTH, SeparateTest

ENCODER = os.environ.get("ESRA_ENCODE_HEIF")
WITHOUT = os.environ.get("ESRA_WITHOUT")


def readable(program):
    """The formats that this program reads, as it tells them itself."""
    done = subprocess.run([program, "info", __file__], capture_output=True, text=True)
    return done.stderr.split("(")[1].split(")")[0].split(", ")


def dng_bytes(light):
    """Linear sRGB light as a sensor under red, green and blue filters has it: one directory, as converters write it."""
    height, width = light.shape[:2]
    mosaic = light[..., 1].copy()
    mosaic[::2, ::2], mosaic[1::2, 1::2] = light[::2, ::2, 0], light[1::2, 1::2, 2]
    pixels = to_16_bit(np.clip(mosaic, 0, 1)).astype("<u2").tobytes()
    from_xyz = 32406, -15372, -4986, -9689, 18758, 415, 557, -2040, 10570
    entries = [
        (254, 4, struct.pack("<I", 0)), (256, 4, struct.pack("<I", width)), (257, 4, struct.pack("<I", height)),
        (258, 3, struct.pack("<H", 16)), (259, 3, struct.pack("<H", 1)), (262, 3, struct.pack("<H", 32803)),
        (271, 2, b"Test\0"), (272, 2, b"Test\0"), (273, 4, struct.pack("<I", 8)), (277, 3, struct.pack("<H", 1)),
        (278, 4, struct.pack("<I", height)), (279, 4, struct.pack("<I", len(pixels))), (284, 3, struct.pack("<H", 1)),
        (33421, 3, struct.pack("<2H", 2, 2)), (33422, 1, bytes((0, 1, 1, 2))), (50706, 1, bytes((1, 4, 0, 0))),
        (50707, 1, bytes((1, 1, 0, 0))), (50708, 2, b"Test Test\0"),
        (50721, 10, b"".join(struct.pack("<ii", n, 10000) for n in from_xyz)),
        (50728, 5, struct.pack("<6I", *(1, 1) * 3)), (50778, 3, struct.pack("<H", 21))]
    sizes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 10: 8}
    at = 8 + len(pixels)
    values = at + 2 + 12 * len(entries) + 4
    directory, behind = struct.pack("<H", len(entries)), b""
    for tag, kind, value in entries:
        inside = value.ljust(4, b"\0") if len(value) <= 4 else struct.pack("<I", values + len(behind))
        directory += struct.pack("<HHI", tag, kind, len(value) // sizes[kind]) + inside
        behind += value.ljust(len(value) + len(value) % 2, b"\0") if len(value) > 4 else b""
    return b"II*\0" + struct.pack("<I", at) + pixels + directory + bytes(4) + behind


class Modules(SeparateTest):
    def encode(self, name, photo):
        # Some encoders leak, which is not what is tested.
        done = subprocess.run([ENCODER, str(photo.shape[1]), str(photo.shape[0]), str(self.path / name)],
                              input=to_8_bit(photo).tobytes(), stderr=subprocess.PIPE,
                              env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        if done.returncode:
            self.skipTest(f"libheif has no encoder for {name}")

    def check_separated(self, photos, least):
        self.expect(0, *self.separate("--no-report", photos=photos))
        answer = self.transmitted()
        scale = np.iinfo(answer.dtype).max
        height, width = answer.shape[:2]
        self.assertGreater(psnr(answer / scale, TRUTH[:height, :width]), least)
        return answer

    @unittest.skipUnless(ENCODER, "built without libheif")
    def test_heic_and_avif(self):
        for extension in "heic", "avif":
            with self.subTest(extension):
                names = [f"p{n}.{extension}" for n in (1, 2, 3)]
                for name, photo in zip(names, PHOTOS):
                    self.encode(name, photo)
                self.check_separated(names, psnr(PHOTOS[1], TRUTH) + .5)

    @unittest.skipUnless(ENCODER, "built without libheif")
    def test_damaged_ones_are_not_read_in_part(self):
        for name in "p1.heic", "p1.avif":
            with self.subTest(name):
                self.encode(name, PHOTOS[0])
                (self.path / name).write_bytes((self.path / name).read_bytes()[:-200])
                done = self.expect(65, *self.separate(photos=[name, "p2.png"]))
                self.assertRegex(done.stderr.decode(), f"^esra separate: {name} is damaged .*; get a fresh copy\n$")

    def test_raw(self):
        if "camera RAW" not in readable(ESRA):
            self.skipTest("built without LibRaw")
        names = ["p1.dng", "p2.dng", "p3.dng"]
        for name, photo in zip(names, PHOTOS):
            (self.path / name).write_bytes(dng_bytes(from_srgb(photo)))
        answer = self.check_separated(names, psnr(PHOTOS[1], TRUTH) + .5)
        self.assertEqual(answer.dtype, np.uint16)

    def test_raw_is_refused_before_it_is_developed(self):
        if "camera RAW" not in readable(ESRA):
            self.skipTest("built without LibRaw")
        (self.path / "large.dng").write_bytes(dng_bytes(np.zeros((1500, 2000, 3))))
        with open(self.path / "large.dng", "rb") as stdin:
            code, told, peak = self.measure("separate", "-", "p1.png", "-o", "out", "--max-memory", "64M", stdin=stdin)
        self.assertEqual(code, 75)
        self.assertRegex(told, "^esra separate: 2 photos of 2000 x 1500 need ")
        self.assertLess(peak, 64 * 1024)

    @unittest.skipUnless(ENCODER, "built without libheif")
    def test_what_is_read_whole_has_bounds(self):
        with open(self.path / "large.heic", "wb") as file:
            file.write(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
            file.truncate(3 << 20)
        self.complains(75, "esra separate: large.heic has more than 2 MiB, all of which would be kept in memory; convert it to "
                           "TIFF, or allow more with --max-memory",
                       "separate", "large.heic", "p1.png", "-o", "out", "--max-memory", "2M")

    @unittest.skipUnless(WITHOUT, "no program without modules was built")
    def test_missing_modules_are_named(self):
        (self.path / "a.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
        (self.path / "a.avif").write_bytes(b"\0\0\0\x18ftypavif\0\0\0\0mif1avif")
        (self.path / "a.dng").write_bytes(dng_bytes(np.zeros((16, 16, 3))))
        for name, kind, library in [("a.heic", "HEIC", "libheif"), ("a.avif", "AVIF", "libheif"),
                                    ("a.dng", "camera RAW", "libraw")]:
            self.earlier()
            done = subprocess.run([WITHOUT, *self.separate(photos=["p1.png", name])], cwd=self.path, capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (65, b""), done.stderr)
            self.assertEqual(done.stderr.decode(), f"esra separate: {name} is {kind}, and this esra was built without {library}: "
                             f"install {library}-dev and build again, or convert to PNG\n")
            self.assertEqual((self.path / "out" / "transmitted.png").read_text(), "earlier")
        self.assertEqual(readable(WITHOUT), ["PNG", "JPEG", "TIFF", "NPY"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
