"""esra synth: scenes of known truth."""
import json
import signal
import subprocess
import time
import unittest

import numpy as np

from cli import ESRA, SHARED, CliTest
from pictures import (DISPLAY_P3, SRGB, converted, from_srgb, icc_profile, png_bytes, png_pixels, png_profile, to_16_bit)

KEYS = ["schema", "seed", "width", "height", "reference", "transmitted_homographies", "reflected_homographies", "mixing",
        "reflection_gain", "transmission", "reflection", "noise", "blur"]
SMALL = ["--size", "96x72", "--shift", "4", "-n", "3"]


def picture(seed, shape=(90, 120, 3)):
    """Blots of a few pixels, in stored values."""
    noise = np.random.default_rng(seed).random((shape[0] // 6, shape[1] // 6, *shape[2:]))
    return np.kron(noise, np.ones((6, 6, *[1] * (len(shape) - 2)))).astype(np.float32)


class SynthTest(CliTest):
    def setUp(self):
        super().setUp()
        np.save(self.path / "T.npy", picture(1))
        np.save(self.path / "R.npy", picture(2))

    def synth(self, *extra, out="scene", t="T.npy", r="R.npy"):
        return ["synth", "-t", t, "-r", r, "-o", out, *SMALL, *extra]

    def files(self, folder="scene"):
        return {p.name: p.read_bytes() for p in (self.path / folder).iterdir()}


class Scenes(SynthTest):
    def test_files_and_truth(self):
        self.expect(0, *self.synth("--seed", "7"), stdout="", stderr="")
        self.assertEqual(sorted(self.files()), ["photo-1.png", "photo-2.png", "photo-3.png", "truth-reflected-1.png",
                                                "truth-transmitted-1.png", "truth.json"])
        truth = json.loads((self.path / "scene/truth.json").read_text())
        self.assertEqual(list(truth), KEYS)
        self.assertEqual((truth["schema"], truth["seed"], truth["reference"]), ("esra-synth-1", 7, 1))
        self.assertEqual((truth["width"], truth["height"]), (96, 72))
        for key in "transmitted_homographies", "reflected_homographies":
            maps = np.array(truth[key])
            self.assertEqual(maps.shape, (3, 3, 3))
            self.assertTrue((maps[0] == np.eye(3)).all())
        self.assertEqual((truth["mixing"][0], len(truth["mixing"]), len(truth["reflection_gain"])), (1, 3, 3))

    def test_the_keys_are_those_of_the_shared_scenes(self):
        shared = SHARED / "synth" / "s000" / "truth.json"
        if not shared.exists():
            self.skipTest(f"{shared} is not here")
        self.assertEqual(set(KEYS) - set(json.loads(shared.read_text())), {"schema", "seed"})

    def test_pictures_in_other_colour_spaces(self):
        """The scene is stored as sRGB: a picture in Display P3 makes the photos that the same colours in sRGB make."""
        stored = .2 + .6 * picture(1)
        wide = converted(from_srgb(stored), SRGB, DISPLAY_P3) ** (1 / 2.2)
        (self.path / "T.png").write_bytes(png_bytes(to_16_bit(stored)))
        (self.path / "P3.png").write_bytes(png_bytes(to_16_bit(wide), png_profile(icc_profile(2.2, primaries=DISPLAY_P3))))
        self.expect(0, *self.synth("--noise", "0", t="T.png"))
        self.expect(0, *self.synth("--noise", "0", t="P3.png", out="wide"))
        for name in "photo-3.png", "truth-transmitted-1.png":
            pair = [png_pixels(self.path / folder / name).astype(int) for folder in ("scene", "wide")]
            self.assertLessEqual(np.abs(pair[0] - pair[1]).max(), 1, name)

    def test_a_seed_makes_the_same_files(self):
        self.expect(0, *self.synth("--threads", "1"))
        self.expect(0, *self.synth("--threads", "3", out="again"))
        self.expect(0, *self.synth("--seed", "2", out="other"))
        self.assertEqual(self.files(), self.files("again"))
        self.assertNotEqual(self.files(), self.files("other"))

    def test_no_glass_is_the_scene_itself(self):
        self.expect(0, *self.synth("--reflection", "0", "--noise", "0", "--bits", "16"))
        done = self.expect(0, "compare", "scene/photo-1.png", "scene/truth-transmitted-1.png")
        self.assertIn(b"psnr inf", done.stdout)

    def test_bits(self):
        for bits in 8, 16:
            self.expect(0, *self.synth("--bits", bits))
            self.assertEqual((self.path / "scene/photo-2.png").read_bytes()[24], bits)  # IHDR's depth

    def test_formats(self):
        self.expect(0, *self.synth("--format", "jpg", "--quality", "90"))
        self.assertTrue((self.path / "scene/photo-3.jpg").read_bytes().startswith(b"\xff\xd8\xff"))
        self.assertIn("truth-transmitted-1.png", self.files())

    def test_grey_pictures(self):
        np.save(self.path / "T.npy", picture(3, (90, 120)))
        self.expect(0, *self.synth())
        np.save(self.path / "R.npy", picture(4, (90, 120)))
        self.expect(0, *self.synth())
        self.assertEqual((self.path / "scene/photo-2.png").read_bytes()[25], 0)  # IHDR's colour: grey

    def test_separate_takes_what_synth_makes(self):
        self.expect(0, *self.synth("-n", "2"))
        done = self.run_esra("align", "scene/photo-1.png", "scene/photo-2.png", "-o", "t.json")
        self.assertIn(done.returncode, (0, 11), done.stderr)


class Mistakes(SynthTest):
    def test_words(self):
        for line, extra in [
            ("--noise takes a number, not 'x'", ["--noise", "x"]),
            ("--photos takes a whole number, not '2.5'", ["--photos", "2.5"]),
            ("--photos takes a number from 1 to 1000, not '0'", ["--photos", "0"]),
            ("--seed takes a whole number from 0 up, not '-1'", ["--seed", "-1"]),
            ("--seed takes a whole number from 0 up, not '99999999999999999999'", ["--seed", "99999999999999999999"]),
            ("--size takes a width and a height such as 640x480, not '640'", ["--size", "640"]),
            ("--size takes a width and a height such as 640x480, not '1000000x9'", ["--size", "1000000x9"]),
            ("--size takes a width and a height such as 640x480, not '-9x9'", ["--size", "-9x9"]),
            ("--bits takes one of 0|8|16, not '12'", ["--bits", "12"]),
            ("--bits takes 8 or 16: files hold rounded values", ["--bits", "0"]),
            ("--blur takes a number from 0 to 4, not '5'", ["--blur", "5"]),
            ("--noise takes a number from 0 to 1, not 'nan'", ["--noise", "nan"]),
            ("--transmission takes a number from 0 to 1, not '-1'", ["--transmission", "-1"]),
            ("--quality takes a number from 1 to 100, not '101'", ["--quality", "101"]),
        ]:
            with self.subTest(line):
                self.complains(64, "esra synth: " + line, *self.synth(*extra))

    def test_ranges(self):
        for line, extra in [
            ("shift_px is 100: with photos of this size it must lie in [0, 36]", ["--shift", "100"]),
            ("focal_px is 9: with photos of this size it must lie in [19.2, 1e+07]", ["--depth", "--focal", "9"]),
        ]:
            with self.subTest(line):
                self.complains(65, "esra synth: " + line, *self.synth(*extra))
                self.assertFalse((self.path / "scene").exists(), "a failure leaves no folder")

    def test_unknown_format(self):
        for name in "bmp", "../png", "npy", "PNG", "":
            self.complains(64, f"esra synth: --format takes one of png|jpg|tif, not '{name}'", *self.synth("--format", name))
            self.assertFalse((self.path / "scene").exists())

    def test_interrupted(self):
        process = subprocess.Popen([ESRA, *self.synth("--size", "1000x750", "--shift", "10")], cwd=self.path,
                                   stderr=subprocess.PIPE)
        while process.poll() is None and not (self.path / "scene").exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        told = process.communicate(timeout=60)[1]
        self.assertEqual((process.returncode, told), (143, b"esra synth: interrupted; nothing was written\n"))
        self.assertFalse((self.path / "scene").exists())

    def test_depth(self):
        self.expect(0, *self.synth("--depth", "--size", "64x48", "--shift", "4"))
        truth = json.loads((self.path / "scene" / "truth.json").read_text())
        self.assertNotIn("transmitted_homographies", truth)
        self.assertEqual((len(truth["cameras"]), truth["focal_px"]), (3, 1.2 * 64))
        self.assertEqual(truth["cameras"][0]["rotation"], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        for layer, low, high in ("transmitted", .55, 1), ("reflected", .15, .5):
            inverse = np.load(self.path / "scene" / f"truth-{layer}-inverse-depth.npy")
            self.assertEqual((inverse.shape, inverse.dtype), ((48, 64), np.float32))
            self.assertTrue(low <= inverse.min() < inverse.max() <= np.float32(high))

    def test_depth_from_a_picture(self):
        np.save(self.path / "flat.npy", np.full((10, 10), .5, np.float32))
        self.expect(0, *self.synth("--reflected-depth", "flat.npy", "--size", "64x48", "--shift", "4"))
        inverse = np.load(self.path / "scene" / "truth-reflected-inverse-depth.npy")
        np.testing.assert_allclose(inverse, .325, atol=1e-6)
        self.complains(66, "esra synth: cannot read no.png: No such file or directory",
                       *self.synth("--transmitted-depth", "no.png"))
        self.complains(64, "esra synth: --focal takes a number, not 'long'", *self.synth("--depth", "--focal", "long"))

    def test_inputs(self):
        self.complains(64, "esra synth: --reflected FILE is missing; see 'esra help synth'", "synth", "-t", "T.npy", "-o", "s")
        self.complains(66, "esra synth: cannot read no.png: No such file or directory", *self.synth(t="no.png"))

    def test_outputs(self):
        (self.path / "file").write_text("old")
        self.complains(73, "esra synth: cannot write into file: it is not a folder", *self.synth(out="file"))
        self.complains(73, "esra synth: cannot make the folder no/scene: No such file or directory",
                       *self.synth(out="no/scene"))

    def test_a_full_disk_keeps_the_old_scene(self):
        limit = lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_FSIZE, (200, 200))
        self.expect(0, *self.synth())
        self.complains(74, "esra synth: writing scene/photo-1.png broke off: File too large", *self.synth("--seed", "2"),
                       preexec_fn=limit)


if __name__ == "__main__":
    unittest.main(verbosity=2)
