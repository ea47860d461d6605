"""esra compare: the measures, and how they are printed."""
import json
import re
import subprocess
import sys
import unittest

import numpy as np

from cli import SHARED, CliTest
from pictures import png_bytes

SCORE = SHARED / "scenes" / "score.py"
STONE = SHARED / "scenes" / "stone"


class Compare(CliTest):
    def setUp(self):
        super().setUp()
        self.truth = np.random.default_rng(1).uniform(0.2, 0.8, (20, 30, 3)).astype(np.float32)
        np.save(self.path / "truth.npy", self.truth)

    def save(self, name, image):
        np.save(self.path / name, image.astype(np.float32))

    def test_equal_pictures(self):
        self.expect(0, "compare", "truth.npy", "truth.npy", stdout="psnr inf ssim 1.0000 ncc 1.0000\n", stderr="")
        told = json.loads(self.expect(0, "compare", "--json", "truth.npy", "truth.npy").stdout)
        self.assertEqual(list(told), ["schema", "psnr", "ssim", "ncc", "psnr_fit", "ssim_fit", "psnr_exposure", "ssim_exposure",
                                      "exposure"])
        self.assertEqual((told["schema"], told["psnr"]), ("esra-compare-1", None))

    def test_known_decibels(self):
        self.save("a.npy", self.truth + 0.1)
        told = self.expect(0, "compare", "a.npy", "truth.npy").stdout.decode()
        self.assertTrue(told.startswith("psnr 20.000 ssim 0."), told)
        self.assertTrue(told.endswith(" ncc 1.0000\n"), told)

    def test_fit_undoes_gain_and_offset(self):
        self.save("a.npy", 0.5 * self.truth + [0, 0.1, 0.2])
        told = json.loads(self.expect(0, "compare", "--json", "a.npy", "truth.npy").stdout)
        self.assertLess(told["psnr"], 20)
        self.assertGreater(told["psnr_fit"], 100)
        line = self.expect(0, "compare", "--fit", "a.npy", "truth.npy").stdout.decode()
        self.assertRegex(line, r"^psnr \S+ ssim \S+ ncc \S+ psnr_fit \S+ ssim_fit 1\.0000\n$")

    def test_one_exposure(self):
        self.save("a.npy", 0.5 * self.truth)
        line = self.expect(0, "compare", "--exposure", "a.npy", "truth.npy").stdout.decode()
        self.assertRegex(line, r"^psnr \S+ ssim \S+ ncc 1\.0000 psnr_exposure inf ssim_exposure 1\.0000 exposure 2\.0000\n$")
        cast = self.truth * [0.5, 1, 1]
        self.save("a.npy", cast)
        told = json.loads(self.expect(0, "compare", "--json", "a.npy", "truth.npy").stdout)
        gain = (cast * self.truth).sum() / (cast * cast).sum()
        self.assertAlmostEqual(told["exposure"], gain, delta=1e-6)
        error = ((gain * cast - self.truth) ** 2).mean()
        self.assertAlmostEqual(told["psnr_exposure"], -10 * np.log10(error), delta=1e-4)

    def made_pairs(self):
        """Odd sizes, down to the least that score.py's SSIM has a middle for; grey; 16 bit, whose values 8 bit can tell."""
        rng = np.random.default_rng(2)
        for number, shape in enumerate([(97, 61, 3), (64, 127, 3), (13, 11, 3), (45, 33)]):
            truth = np.cumsum(rng.integers(-9, 10, shape), axis=1).clip(-120, 120) + 128
            photo = (0.8 * truth + rng.normal(20, 6, shape)).clip(0, 255)
            for bits, scale, kind in (8, 1, np.uint8), (16, 257, np.uint16):
                if len(shape) == 2 and bits == 16:
                    continue  # the library that score.py reads with cuts these off at 255
                names = [self.path / f"{word}-{number}-{bits}.png" for word in ("photo", "truth")]
                for name, picture in zip(names, (photo, truth)):
                    name.write_bytes(png_bytes(picture.astype(np.uint8).astype(kind) * kind(scale)))
                yield names

    def test_the_same_numbers_as_score_py(self):
        if not STONE.exists():
            self.skipTest(f"{STONE} is not here")
        # score.py prints two to four decimals; its functions give them all.
        code = SCORE.read_text().replace(":.2f}", ":.9f}").replace(":.4f}", ":.9f}")
        for photo, truth in [(STONE / "photo-3.png", STONE / "truth-transmitted-3.png"),
                             (STONE / "photo-1.png", STONE / "truth-reflected-3.png"), *self.made_pairs()]:
            done = subprocess.run([sys.executable, "-c", code, photo, truth], capture_output=True, text=True)
            if "ModuleNotFoundError" in done.stderr:
                self.skipTest("score.py needs " + done.stderr.split()[-1])
            expected = {name: float(value) for name, value in re.findall(r"(\w+) ([-.\d]+)", done.stdout)}
            told = json.loads(self.expect(0, "compare", "--json", photo, truth).stdout)
            self.assertEqual(set(expected), {"psnr_fit", "ssim_fit", "ncc"})
            for name, value in expected.items():
                self.assertAlmostEqual(told[name], value, delta=0.0005, msg=f"{name} of {photo}")


class Mistakes(CliTest):
    def setUp(self):
        super().setUp()
        np.save(self.path / "a.npy", np.zeros((4, 6), np.float32))
        np.save(self.path / "b.npy", np.zeros((4, 7), np.float32))

    def test_different_sizes(self):
        self.complains(65, "esra compare: a.npy is 6 x 4 and b.npy is 7 x 4: only pictures of one size can be compared",
                       "compare", "a.npy", "b.npy")

    def test_not_two_pictures(self):
        for names in [], ["a.npy"]:
            self.complains(64, "esra compare: two pictures are needed, IMAGE and TRUTH; see 'esra help compare'",
                           "compare", *names)
        self.complains(64, "esra compare: unexpected word 'a.npy'; see 'esra help compare'", "compare", "a.npy", "b.npy",
                       "a.npy")
        self.complains(64, "esra compare: only one picture can come from standard input", "compare", "-", "-")

    def test_unreadable(self):
        self.complains(66, "esra compare: cannot read no.png: No such file or directory", "compare", "no.png", "a.npy")
        (self.path / "text.png").write_text("not a picture")
        self.assertEqual(self.run_esra("compare", "a.npy", "text.png").returncode, 65)


if __name__ == "__main__":
    unittest.main(verbosity=2)
