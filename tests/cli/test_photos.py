"""esra separate with photos that cannot be separated, or are of unusual or different kinds."""
import unittest
import zlib

import numpy as np

from pictures import (ADOBE_RGB, DISPLAY_P3, SRGB, converted, from_srgb, icc_profile, png_exif, png_pixels, png_profile, psnr,
                      texture, to_8_bit, to_16_bit, to_srgb)
from separating import HEIGHT, NAMES, PHOTOS, TRUTH, WIDTH, SeparateTest


# Adobe RGB's, which a profile can tell exactly.
GAMMA = 563 / 256


class HardScenes(SeparateTest):
    def test_the_same_photo_twice(self):
        for names in ["p1.png", "p1.png"], ["p1.png"] * 3:
            self.assertIn("same-photo", self.gives_back(to_8_bit(PHOTOS[0]), photos=names))

    def test_two_photos_that_leave_ghosts(self):
        """Fine texture everywhere: two photos leave to either layer what one of them has and the other takes back."""
        self.assertEqual(self.gives_back(to_8_bit(PHOTOS[0]), photos=NAMES[:2]), {"two-photos", "poor-fit"})

    def test_unrelated_photos(self):
        for n in range(3):
            self.save(f"u{n}.png", np.random.default_rng(n).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8))
        warned = self.gives_back(png_pixels(self.path / "u1.png"), photos=["u0.png", "u1.png", "u2.png"])
        self.assertIn("not-aligned", warned)
        self.assertNotIn("blank", warned)
        self.assertIn(b"as the reference. Left out: u0.png, u2.png. Take", self.expect(11, *self.separate(
            "--no-report", photos=["u0.png", "u1.png", "u2.png"])).stderr)

    def test_flat_photos(self):
        for level in 0, 255, 128:
            self.save("a.png", np.full((HEIGHT, WIDTH, 3), level, np.uint8))
            self.save("b.png", np.full((HEIGHT, WIDTH, 3), level, np.uint8))
            warned = self.gives_back(np.full((HEIGHT, WIDTH, 3), level), photos=["a.png", "b.png"])
            self.assertEqual("clipped" in warned, level == 255, warned)
            self.assertIn("blank", warned)

    def test_one_black_among_good_ones(self):
        self.save("p1.png", np.zeros((HEIGHT, WIDTH, 3), np.uint8))
        done = self.run_esra(*self.separate())
        self.assertIn(done.returncode, (0, 10, 11), done.stderr)
        self.assertTrue({"not-aligned", "blank"} <= self.warned())
        self.assertIn(b"Left out: p1.png.", done.stderr)

    def test_tiny_photos(self):
        rng = np.random.default_rng(1)
        for shape in (1, 1, 3), (60, 1, 3), (1, 60, 3), (2, 2, 3), (7, 5, 3), (1, 1):
            with self.subTest(shape):
                for name in NAMES:
                    self.save(name, rng.integers(0, 256, shape, np.uint8))
                photo = png_pixels(self.path / "p2.png")
                self.assertIn("blank", self.gives_back(photo))
                self.assertEqual(png_pixels(self.path / "out" / "reflected-3.png").shape, shape)
                self.assertEqual(len(self.result()["photos"]), 3)

    def test_narrow_photos(self):
        """Longer by far than wide: halving ends with the short side, and leaves the long one long."""
        band = to_8_bit(texture(np.random.default_rng(1), 5100, 80))
        for turn in False, True:
            for n, name in enumerate(NAMES):
                part = band[20 + 9 * n:5020 + 9 * n, 10 + 2 * n:41 + 2 * n]
                self.save(name, np.swapaxes(part, 0, 1) if turn else part)
            done = self.run_esra(*self.separate("-q", "--no-report"))
            self.assertIn(done.returncode, (0, 10, 11), done.stderr)

    def test_mixed_depth(self):
        self.save("p2.png", to_16_bit(PHOTOS[1]))
        self.expect(0, *self.separate())
        self.assertEqual(self.transmitted().dtype, np.uint16)
        self.assertEqual(png_pixels(self.path / "out" / "reflected-1.png").dtype, np.uint8)
        self.assertGreater(psnr(self.transmitted() / 65535, TRUTH), psnr(PHOTOS[1], TRUTH) + 1)
        self.expect(0, *self.separate("--format", "jpg"))

    def test_orientations(self):
        """A photo stored lying or mirrored is turned once, and not again by whoever opens the answer."""
        stored = {1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
                  5: lambda p: p.swapaxes(0, 1), 6: lambda p: p[:, ::-1].swapaxes(0, 1),
                  7: lambda p: p[::-1, ::-1].swapaxes(0, 1), 8: lambda p: p[::-1].swapaxes(0, 1)}
        self.expect(0, *self.separate("--no-report"))
        upright = self.transmitted()
        for orientations in (1, 2, 3), (4, 5, 6), (7, 8, 5):
            with self.subTest(orientations):
                for name, photo, orientation in zip(NAMES, PHOTOS, orientations):
                    self.save(name, to_8_bit(stored[orientation](photo)), png_exif(orientation))
                self.expect(0, *self.separate("--no-report"))
                np.testing.assert_array_equal(self.transmitted(), upright)
                exif = self.chunk("transmitted.png", b"eXIf")
                at = exif.index(b"\x01\x12" if exif.startswith(b"MM") else b"\x12\x01")
                self.assertEqual(int.from_bytes(exif[at + 8:at + 10], "big" if exif.startswith(b"MM") else "little"), 1)

    def test_mixed_profiles(self):
        """Photos 1 and 3 as sRGB, photo 2 with a profile of its own, in which the answer is drawn."""
        profile = icc_profile(1.8)
        self.save("p2.png", to_16_bit(from_srgb(PHOTOS[1]) ** (1 / 1.8)), png_profile(profile))
        self.expect(0, *self.separate())
        self.assertEqual([photo["light"] for photo in self.result()["photos"]], ["assumed sRGB", "profile", "assumed sRGB"])
        self.assertEqual(zlib.decompress(self.chunk("transmitted.png", b"iCCP").split(b"\0\0", 1)[1]), profile)
        self.assertIsNone(self.chunk("reflected-1.png", b"iCCP"))
        self.assertGreater(psnr(to_srgb((self.transmitted() / 65535) ** 1.8), TRUTH), psnr(PHOTOS[1], TRUTH) + 1)

    def save_in(self, space, number):
        """That photo as a camera would have stored it that keeps colours in this space."""
        code = np.clip(converted(from_srgb(PHOTOS[number]), SRGB, space), 0, 1) ** (1 / GAMMA)
        self.save(NAMES[number], to_16_bit(code), png_profile(icc_profile(GAMMA, primaries=space)))

    def test_mixed_primaries(self):
        """The same colours in three spaces are the same colours: the answer is that of photos all in sRGB, but for their
        rounding; and what photo 3 reflects is told in its own space."""
        for name, photo in zip(NAMES, PHOTOS):
            self.save(name, to_16_bit(photo))
        self.expect(0, *self.separate("--no-report"))
        plain, reflected = self.transmitted() / 65535, png_pixels(self.path / "out" / "reflected-3.png") / 65535
        self.save_in(DISPLAY_P3, 0)
        self.save_in(ADOBE_RGB, 2)
        for light in "auto", "linear":
            self.expect(0, *self.separate("--no-report", "--light", light))
            self.assertGreater(psnr(self.transmitted() / 65535, plain), 42)  # and 37 where only curves are undone
        self.assertEqual([photo["light"] for photo in self.result()["photos"]], ["profile", "assumed sRGB", "profile"])
        self.assertEqual([photo["colours_converted"] for photo in self.result()["photos"]], [True, False, True])
        adobe = (png_pixels(self.path / "out" / "reflected-3.png") / 65535) ** GAMMA
        self.assertGreater(psnr(to_srgb(converted(adobe, ADOBE_RGB, SRGB)), reflected), 40)

    def test_the_answer_is_in_the_references_space(self):
        """The reference alone in Display P3: the answer is that of photos all in it."""
        for number in range(3):
            self.save_in(DISPLAY_P3, number)
        self.expect(0, *self.separate("--no-report"))
        plain = self.transmitted() / 65535
        self.assertEqual([photo["colours_converted"] for photo in self.result()["photos"]], [False, False, False])
        for number in 0, 2:
            self.save(NAMES[number], to_16_bit(PHOTOS[number]))
        self.expect(0, *self.separate("--no-report"))
        self.assertGreater(psnr(self.transmitted() / 65535, plain), 42)
        self.assertEqual([photo["colours_converted"] for photo in self.result()["photos"]], [True, False, True])

    def test_a_profile_that_spans_no_space(self):
        """Red, green and blue at one place: curves without colours, and so sRGB in place of the profile."""
        profile = icc_profile(1.8, primaries=(SRGB[0],) * 3)
        self.save("p1.png", to_8_bit(PHOTOS[0]), png_profile(profile))
        self.expect(0, *self.separate("--no-report"))
        self.assertEqual(self.result()["photos"][0]["light"], "sRGB in place of the profile")

    def test_a_grey_profile_among_colours(self):
        """What is drawn from a grey photo is in colour: a profile for grey must not describe it."""
        colour = icc_profile(2.2)
        self.save("p1.png", to_8_bit(PHOTOS[0].mean(-1)), png_profile(icc_profile(1.8, colour=False)))
        self.save("p2.png", to_8_bit(PHOTOS[1]), png_profile(colour))
        done = self.run_esra(*self.separate())
        self.assertIn(done.returncode, (0, 11), done.stderr)
        for name in "transmitted.png", "reflected-1.png":
            self.assertEqual(zlib.decompress(self.chunk(name, b"iCCP").split(b"\0\0", 1)[1]), colour)
        self.assertEqual(png_pixels(self.path / "out" / "reflected-1.png").shape, (HEIGHT, WIDTH, 3))

    def test_grey_among_colours(self):
        self.save("p1.png", to_8_bit(PHOTOS[0].mean(-1)))
        done = self.run_esra(*self.separate())
        self.assertIn(done.returncode, (0, 11), done.stderr)
        self.assertEqual(self.transmitted().shape, (HEIGHT, WIDTH, 3))

    def test_grey(self):
        for name, photo in zip(NAMES, PHOTOS):
            self.save(name, to_8_bit(photo.mean(-1)))
        done = self.run_esra(*self.separate())
        self.assertIn(done.returncode, (0, 11), done.stderr)
        self.assertEqual(self.transmitted().shape, (HEIGHT, WIDTH))

    def test_arrays_for_photos(self):
        for i, photo in enumerate(PHOTOS):
            np.save(self.path / f"p{i}.npy", photo.astype(np.float32))
        for name in "png", "npy", "jpg":
            done = self.run_esra(*self.separate("--format", name, photos=["p0.npy", "p1.npy", "p2.npy"]))
            self.assertIn(done.returncode, (0, 10, 11), done.stderr)

    def test_the_same_photo_64_times(self):
        for name in NAMES:
            self.save(name, to_8_bit(PHOTOS[0][:24, :32]))
        done = self.run_esra(*self.separate("-q", "--no-report", photos=["p1.png"] * 64))
        self.assertEqual(done.returncode, 11, done.stderr)
        self.assertEqual(len(self.result()["photos"]), 64)

    def test_65_photos(self):
        """All different, and a scene each has its part in; more than can vote on depth."""
        for seed, name in (1, "behind.png"), (2, "mirrored.png"):
            self.save(name, to_8_bit(texture(np.random.default_rng(seed), 96, 128)))
        self.expect(0, "synth", "-t", "behind.png", "-r", "mirrored.png", "-n", "65", "--size", "48x36", "--shift", "2", "--seed",
                    "3", "-o", "scene")
        names = [f"scene/photo-{n}.png" for n in range(1, 66)]
        done = self.run_esra(*self.separate("-q", "--no-report", "--reference", "1", photos=names))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([photo["aligned"] for photo in self.result()["photos"]], [True] * 65)
        truth, photo = (png_pixels(self.path / "scene" / name) / 255 for name in ("truth-transmitted-1.png", "photo-1.png"))
        self.assertGreater(psnr(self.transmitted() / 255, truth), psnr(photo, truth) + 3)
        self.assertEqual(png_pixels(self.path / "out" / "reflected-65.png").shape, (36, 48, 3))
        self.expect(65, *self.separate("-q", "--motion", "depth", photos=names),
                    stderr="esra separate: depth is found from 64 photos at most, and there are 65: give fewer, or ask for "
                           "homographies\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
