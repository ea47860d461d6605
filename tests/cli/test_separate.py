"""esra separate and esra align: what they make, and what each option changes."""
import json
import os
import subprocess
import unittest

import numpy as np

from cli import ESRA, PATIENCE_S, SHARED
from pictures import png_pixels, psnr, scene, texture, to_8_bit
from separating import HEIGHT, NAMES, OUTPUTS, PHOTOS, TRUTH, WIDTH, SeparateTest


class Surfaces(SeparateTest):
    def test_two_surfaces_where_one_does_not_tell_the_reflection(self):
        """A made scene with depth whose reflection is so strong that one depth a pixel follows both layers: 12.3 dB above
        the photo by two surfaces, .2 below it by one."""
        pictures = [SHARED / "photos" / name for name in ("coffee.png", "astronaut.png")]
        if not pictures[0].exists():
            self.skipTest(f"{pictures[0]} is not here")
        self.expect(0, "synth", "-t", pictures[0], "-r", pictures[1], "-o", "scene", "--size", "320x240", "--depth", "--seed", "2")
        names = [f"scene/photo-{n}.png" for n in range(1, 6)]
        self.expect(0, *self.separate("--motion", "depth", "--reference", "1", "--no-report", photos=names))
        told = self.result()["evidence"]
        self.assertLess(told["nearer"]["energy"] * 1.75, told["farther"]["energy"])
        self.assertEqual(told["delivered"]["prediction_error"], told["nearer"]["prediction_error"])
        truth, photo = (png_pixels(self.path / "scene" / name) / 255 for name in ("truth-transmitted-1.png", "photo-1.png"))
        self.assertGreater(psnr(self.transmitted() / 255, truth), psnr(photo, truth) + 10)


class Results(SeparateTest):
    def test_layers_and_result(self):
        done = self.expect(0, *self.separate("--json"))
        self.assertEqual(sorted(p.name for p in (self.path / "out").iterdir()), OUTPUTS)
        told = self.result()
        self.assertEqual(json.loads(done.stdout), told)
        self.assertEqual(list(told), ["schema", "version", "method", "motion", "light", "reference", "width", "height", "photos", "warnings",
                                      "lambda", "strength", "solve", "joint", "prediction", "threads", "seconds", "asked", "scale", "exchange_probability", "taken_off", "evidence",
                                      "output", "memory"])
        self.assertEqual(told["output"], {"format": "png", "quality": 95, "layers": "all", "brightness": 2})
        self.assertEqual((told["schema"], told["method"], told["reference"]), ("esra-separate-2", "joint", 2))
        self.assertEqual((told["width"], told["height"], told["strength"], told["warnings"]), (WIDTH, HEIGHT, 1, []))
        self.assertEqual(told["solve"]["status"], "optimal")
        self.assertEqual(list(told["seconds"]), ["align", "joint", "solve", "total"])
        self.assertGreaterEqual(told["seconds"]["total"], told["seconds"]["align"])
        self.assertEqual([photo["file"] for photo in told["photos"]], NAMES)
        self.assertEqual((told["asked"]["motion"], told["asked"]["effort"], told["scale"]), ("auto", "normal", 1))
        self.assertEqual(told["evidence"]["delivered"]["trusted"], told["joint"]["trusted"])
        self.assertEqual(told["evidence"]["delivered"]["prediction_error"], told["prediction"]["error"])
        for photo in told["photos"]:
            self.assertTrue(photo["aligned"])
            self.assertAlmostEqual(photo["evidence"]["gain"], photo["mixing"])
            self.assertEqual(photo["light"], "assumed sRGB")
            self.assertEqual(np.shape(photo["transmitted"]), (3, 3))
            self.assertEqual(np.shape(photo["reflected"]), (3, 3))
        np.testing.assert_array_equal(told["photos"][1]["transmitted"], np.eye(3))
        # The scene moves by (2.3, -1.4) px from the second photo to the third.
        self.assertLess(np.abs(np.array(told["photos"][2]["transmitted"])[:2, 2] - (2.3, -1.4)).max(), 0.5)

        transmitted = self.transmitted()
        self.assertEqual((transmitted.shape, transmitted.dtype), ((HEIGHT, WIDTH, 3), np.uint8))
        self.assertGreater(psnr(transmitted / 255, TRUTH), psnr(PHOTOS[1], TRUTH) + 1)
        for name in OUTPUTS[1:4]:
            self.assertEqual(png_pixels(self.path / "out" / name).shape, (HEIGHT, WIDTH, 3))
        self.assertEqual(png_pixels(self.path / "out" / "confidence.png").shape, (HEIGHT, WIDTH))

    def test_strength(self):
        self.expect(0, *self.separate())
        whole = self.transmitted().astype(float)
        self.expect(0, *self.separate("--strength", "1"))
        np.testing.assert_array_equal(self.transmitted(), whole)
        self.expect(0, *self.separate("--strength", "0"))
        np.testing.assert_array_equal(self.transmitted(), to_8_bit(PHOTOS[1]))
        self.expect(0, *self.separate("--strength", "0.5"))
        low, high = np.minimum(whole, 255 * PHOTOS[1]) - 1, np.maximum(whole, 255 * PHOTOS[1]) + 1
        self.assertTrue(np.all((self.transmitted() >= low) & (self.transmitted() <= high)))

    def test_layers(self):
        for layers, names in ("transmitted", OUTPUTS[:1] + OUTPUTS[4:]), ("reflected", OUTPUTS[:6]), ("all", OUTPUTS):
            self.expect(0, *self.separate("--layers", layers, output=layers))
            self.assertEqual(sorted(p.name for p in (self.path / layers).iterdir()), names)

    def test_no_report(self):
        done = self.expect(0, *self.separate("--no-report"))
        self.assertFalse((self.path / "out" / "report.html").exists())
        self.assertNotIn(b"report.html", done.stderr)

    def test_formats(self):
        for name, start in ("npy", b"\x93NUMPY"), ("tif", b"II*\0"), ("jpg", b"\xff\xd8\xff"):
            self.expect(0, *self.separate("--format", name))
            for stem in "transmitted", "reflected-1", "reflected-3", "confidence":
                self.assertTrue((self.path / "out" / f"{stem}.{name}").read_bytes().startswith(start), (stem, name))
        self.assertEqual(np.load(self.path / "out" / "transmitted.npy").shape, (HEIGHT, WIDTH, 3))

    def likeness(self, picture, truth):
        """How far one follows the other, along the edges and away from the border."""
        edges = [np.diff(p[8:-8, 8:-8].mean(axis=2).astype(float), axis=1).ravel() for p in (picture, truth)]
        return np.corrcoef(*edges)[0, 1]

    def test_swap_exchanges_the_layers(self):
        """However the reflection's motion was found, and whoever found it."""
        self.expect(0, *self.separate())
        self.expect(0, "align", *NAMES, "-o", "found.json")
        self.expect(0, "align", *NAMES, "-o", "swapped.json", "--swap")
        layers = self.transmitted(), png_pixels(self.path / "out" / "reflected-2.png")
        for extra in ["--swap"], ["--swap", "--transforms", "found.json"], ["--transforms", "swapped.json"]:
            self.expect(0, *self.separate(*extra, output="other"))
            other = self.transmitted("other")
            self.assertGreater(self.likeness(other, layers[1]), .8, extra)
            self.assertLess(self.likeness(other, layers[0]), .4, extra)
            found, swapped = self.result()["photos"], self.result("other")["photos"]
            for a, b in zip(found, swapped):
                np.testing.assert_allclose(a["transmitted"], b["reflected"], rtol=.01, atol=.7)
                np.testing.assert_allclose(a["reflected"], b["transmitted"], rtol=.01, atol=.7)

    def test_jpeg_quality(self):
        sizes = []
        for quality in "40", "95":
            self.expect(0, *self.separate("--format", "jpg", "--quality", quality, "--strength", "0"))
            sizes.append((self.path / "out" / "transmitted.jpg").stat().st_size)
        self.assertLess(sizes[0], sizes[1])
        for wrong in "0", "101", "x":
            self.complains(64, f"esra separate: --quality takes a number from 1 to 100, not '{wrong}'",
                           *self.separate("--quality", wrong))

    def test_a_gap_that_is_not_reached_is_told(self):
        done = self.expect(10, *self.separate("--gap", "1e-12", "--max-iterations", "3", output="rough"))
        self.assertIn(b"the gap asked for, 1e-12, was not reached: allow more --max-iterations", done.stderr)

    def test_motions_and_light(self):
        for extra in ["--motion", "affine"], ["--motion", "translation"], ["--light", "stored"]:
            done = self.run_esra(*self.separate(*extra, "--no-report"))
            self.assertIn(done.returncode, (0, 11), done.stderr)
            self.assertEqual(self.result()["photos"][0]["light"] == "assumed sRGB", "--light" not in extra)

    def test_reference(self):
        self.expect(0, *self.separate("--reference", "1"))
        self.assertEqual(self.result()["reference"], 1)
        self.expect(0, *self.separate("--reference", "3", "--strength", "0"))
        np.testing.assert_array_equal(self.transmitted(), to_8_bit(PHOTOS[2]))

    def test_two_photos_take_the_first_for_reference(self):
        done = self.run_esra(*self.separate(photos=NAMES[:2]))
        self.assertIn(done.returncode, (0, 11), done.stderr)
        self.assertEqual(self.result()["reference"], 1)

    def results_of(self, *extra):
        """Everything that a run says and draws but for times and memory."""
        self.expect(0, *self.separate("--no-report", *extra))
        numbers = {key: value for key, value in self.result().items() if key not in ("seconds", "threads", "memory")}
        return numbers, [(self.path / "out" / name).read_bytes() for name in OUTPUTS if name.endswith(".png")]

    def give_the_same_bits(self, *way):
        first = self.results_of(*way)
        # 0 is plain C; each further bit allows another set of instructions, where the processor has it.
        for extra in [["--threads", n] for n in "238"] + [["--cpu-mask", n] for n in ("0", "1", "2", "3", "4", "7", "8", "15")]:
            self.assertEqual(self.results_of(*way, *extra), first, extra)
        self.assertEqual(first[0]["method"], "joint")
        print("1, 2, 3 and 8 threads and 8 sets of instructions: the same bits")
        return first[0]

    def test_threads_and_instruction_sets_give_the_same_bits(self):
        self.assertEqual(self.give_the_same_bits()["motion"], "homography")

    def test_so_they_do_by_depth(self):
        for name, seed in ("behind.png", 1), ("mirrored.png", 2):
            self.save(name, to_8_bit(texture(np.random.default_rng(seed), 120, 150)))
        self.expect(0, "synth", "-t", "behind.png", "-r", "mirrored.png", "-n", "3", "--depth", "--shift", "6", "--size",
                    "96x72", "-o", "deep")
        for n, name in enumerate(NAMES):
            os.replace(self.path / "deep" / f"photo-{n + 1}.png", self.path / name)
        self.assertEqual(self.give_the_same_bits("--motion", "depth")["motion"], "depth")

    def test_aligned_by_transforms(self):
        self.expect(0, "align", *NAMES, "-o", "t.json", stdout="")
        told = json.loads((self.path / "t.json").read_text())
        self.assertEqual((told["schema"], told["reference"], len(told["photos"])), ("esra-transforms-1", 2, 3))
        self.expect(0, *self.separate("--transforms", "t.json"))
        self.assertEqual(self.result()["method"], "joint")
        for given, used in zip(told["photos"], self.result()["photos"]):
            np.testing.assert_allclose(used["transmitted"], given["transmitted"], atol=1e-6)
            np.testing.assert_allclose(used["reflected"], given["reflected"], atol=1e-6)
        by_transforms = psnr(self.transmitted() / 255, TRUTH)
        self.expect(0, *self.separate("--motion", "homography"))
        self.assertGreater(by_transforms, psnr(self.transmitted() / 255, TRUTH) - 1)
        done = self.expect(0, "align", *NAMES, "-o", "-", "-q", stderr="")
        self.assertEqual(json.loads(done.stdout)["photos"], told["photos"])
        piped = self.run_esra(*self.separate("-q", "--transforms", "-"), input=done.stdout)
        self.assertEqual(piped.returncode, 0, piped.stderr)

    def test_what_does_not_fit_stays_left_out(self):
        self.save("strange.png", to_8_bit(np.random.default_rng(9).random(PHOTOS[1].shape)))
        photos = [*NAMES, "strange.png"]
        self.expect(0, "align", *photos, "-r", "2", "-o", "t.json")
        told = json.loads((self.path / "t.json").read_text())
        self.assertEqual([photo["aligned"] for photo in told["photos"]], [True, True, True, False])
        self.assertNotIn(None, [photo["reflected"] for photo in told["photos"][:3]])
        self.expect(0, *self.separate("-r", "2", photos=photos))
        self.assertEqual(self.result()["method"], "joint")
        self.expect(0, *self.separate("-r", "2", "--transforms", "t.json", photos=photos))
        self.assertEqual([photo["aligned"] for photo in self.result()["photos"]], [True, True, True, False])
        self.assertGreater(psnr(self.transmitted() / 255, TRUTH), psnr(PHOTOS[1], TRUTH) + 1)
        self.expect(11, "align", "p2.png", "strange.png", "-o", "t.json")

    def test_gradients_given(self):
        gradients = np.zeros((4, 2, HEIGHT, WIDTH, 3), np.float32)
        gradients[0, 0, :-1] = np.diff(TRUTH, axis=0)
        gradients[0, 1, :, :-1] = np.diff(TRUTH, axis=1)
        np.save(self.path / "E.npy", gradients)
        done = self.run_esra(*self.separate("--gradients", "E.npy", "--mixing", "1,1,1", "--light", "stored"))
        self.assertIn(done.returncode, (0, 10), done.stderr)
        self.assertEqual(self.result()["method"], "given")

    def test_gradients_of_large_photos(self):
        """Motions are found on smaller ones, which the gradients do not fit."""
        band = to_8_bit(texture(np.random.default_rng(4), 700, 920))
        for n, name in enumerate(NAMES[:2]):
            self.save(name, band[3 * n:680 + 3 * n, 2 * n:900 + 2 * n])
        np.save(self.path / "E.npy", np.zeros((3, 2, 680, 900, 3), np.float32))
        self.expect(10, *self.separate("-q", "--no-report", "--gradients", "E.npy", "--max-iterations", "2", photos=NAMES[:2]))
        self.assertEqual(self.result()["method"], "given")

    def test_lists_and_standard_input(self):
        self.expect(0, *self.separate("--no-report"))
        reference = (self.path / "out" / "transmitted.png").read_bytes()
        (self.path / "list.txt").write_bytes(b"p1.png\r\np2.png\n\np3.png")
        self.expect(0, *self.separate("--no-report", photos=["@list.txt"], output="out2"))
        self.assertEqual((self.path / "out2" / "transmitted.png").read_bytes(), reference)
        done = self.run_esra(*self.separate("--no-report", photos=["p1.png", "-", "p3.png"], output="out3"),
                             input=(self.path / "p2.png").read_bytes())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.path / "out3" / "transmitted.png").read_bytes(), reference)

    def test_quiet_says_nothing(self):
        self.expect(0, *self.separate("--quiet"), stdout="", stderr="")
        self.expect(11, *self.separate("--quiet", photos=["p1.png", "p1.png"]), stdout="", stderr="")

    def test_any_name_can_be_told(self):
        name = b"caf\xe9 <b>&\"'\n.png"
        os.rename(self.path / "p2.png", os.path.join(os.fsencode(self.path), name))
        done = self.run_esra(*self.separate(photos=["p1.png", os.fsdecode(name), "p3.png"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([len(photo["transmitted"]) for photo in self.result()["photos"]], [3, 3, 3])
        self.assertEqual(self.result()["photos"][1]["file"], "caf\ufffd <b>&\"'\n.png")
        self.assertNotIn(b"<b>&", (self.path / "out" / "report.html").read_bytes())

    def run_esra(self, *arguments, **options):
        """Names that are not UTF-8 pass as they are."""
        options.setdefault("capture_output", True)
        return subprocess.run([ESRA, *map(os.fsencode, map(str, arguments))], cwd=self.path, timeout=PATIENCE_S, **options)


if __name__ == "__main__":
    unittest.main(verbosity=2)
