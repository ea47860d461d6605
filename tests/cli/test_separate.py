"""esra separate and esra align: their promises to whoever calls them from a shell."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import unittest
import zlib

import numpy as np

from cli import ESRA, CliTest
from pictures import (icc_profile, png_bytes, png_chunks, png_exif, png_pixels, png_profile, psnr, scene, texture,
                      to_8_bit, to_16_bit)

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# The least that every stage has work with: a hundred separations are made of it.
HEIGHT, WIDTH = 64, 84
PHOTOS, TRUTH = scene(height=HEIGHT, width=WIDTH)
NAMES = ["p1.png", "p2.png", "p3.png"]
OUTPUTS = ["confidence.png", "reflected-1.png", "reflected-2.png", "reflected-3.png", "report.html", "result.json",
           "transmitted.png"]


class SeparateTest(CliTest):
    def setUp(self):
        super().setUp()
        for name, photo in zip(NAMES, PHOTOS):
            self.save(name, to_8_bit(photo))

    def save(self, name, pixels, extra=b""):
        (self.path / name).write_bytes(png_bytes(pixels, extra))

    def chunk(self, name, kind):
        """That chunk of an output, or None."""
        return dict(png_chunks(self.path / "out" / name)).get(kind)

    def separate(self, *extra, photos=NAMES, output="out"):
        return ["separate", *photos, "-o", output, "--threads", "1", *extra]

    def result(self, output="out"):
        return json.loads((self.path / output / "result.json").read_text())

    def warned(self, output="out"):
        return {warning["id"] for warning in self.result(output)["warnings"]}

    def transmitted(self, output="out"):
        return png_pixels(self.path / output / "transmitted.png")

    def earlier(self):
        """Outputs of an earlier run, which a failure must not touch."""
        (self.path / "out").mkdir(exist_ok=True)
        for name in OUTPUTS:
            (self.path / "out" / name).write_text("earlier")

    def refuses(self, code, line, *arguments, **options):
        """Fails with this line, whether or not there is an earlier output, and leaves no folder where there was none."""
        self.complains(code, "esra separate: " + line, *arguments, **options)
        self.assertFalse((self.path / "out").exists(), "a failure must not leave a folder behind")
        self.earlier()
        self.complains(code, "esra separate: " + line, *arguments, **options)
        for name in OUTPUTS:
            (self.path / "out" / name).unlink()
        (self.path / "out").rmdir()

    def gives_back(self, photo, *extra, photos=NAMES):
        """Exit code 11: the photo as it was, and every output there. Returns what was warned of."""
        done = self.expect(11, *self.separate(*extra, photos=photos))
        self.assertIn(b"the layers could not be told apart: out/transmitted.png is the photo as it was\n", done.stderr)
        self.assertEqual(self.result()["method"], "none")
        np.testing.assert_array_equal(self.transmitted(), photo)
        return self.warned()


class Results(SeparateTest):
    def test_layers_and_result(self):
        done = self.expect(0, *self.separate("--json"))
        self.assertEqual(sorted(p.name for p in (self.path / "out").iterdir()), OUTPUTS)
        told = self.result()
        self.assertEqual(json.loads(done.stdout), told)
        self.assertEqual(list(told), ["schema", "version", "method", "motion", "light", "reference", "width", "height", "photos", "warnings",
                                      "lambda", "strength", "solve", "joint", "prediction", "threads", "seconds", "memory"])
        self.assertEqual((told["schema"], told["method"], told["reference"]), ("esra-separate-1", "joint", 2))
        self.assertEqual((told["width"], told["height"], told["strength"], told["warnings"]), (WIDTH, HEIGHT, 1, []))
        self.assertEqual(told["solve"]["status"], "optimal")
        self.assertEqual(list(told["seconds"]), ["align", "joint", "solve", "total"])
        self.assertGreaterEqual(told["seconds"]["total"], told["seconds"]["align"])
        self.assertEqual([photo["file"] for photo in told["photos"]], NAMES)
        for photo in told["photos"]:
            self.assertTrue(photo["aligned"])
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

    def test_swap(self):
        done = self.run_esra(*self.separate("--swap"))
        self.assertIn(done.returncode, (0, 10, 11), done.stderr)
        self.assertEqual(self.transmitted().shape, (HEIGHT, WIDTH, 3))

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
        for extra in [["--threads", n] for n in "238"] + [["--cpu-mask", n] for n in ("0", "1", "3", "7", "8", "15")]:
            self.assertEqual(self.results_of(*way, *extra), first, extra)
        self.assertEqual(first[0]["method"], "joint")
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
        self.assertGreater(psnr(self.transmitted() / 255, TRUTH), psnr(PHOTOS[1], TRUTH))
        done = self.expect(0, "align", *NAMES, "-o", "-", "-q", stderr="")
        self.assertEqual(json.loads(done.stdout)["photos"], told["photos"])

    def test_gradients_given(self):
        gradients = np.zeros((4, 2, HEIGHT, WIDTH, 3), np.float32)
        gradients[0, 0, :-1] = np.diff(TRUTH, axis=0)
        gradients[0, 1, :, :-1] = np.diff(TRUTH, axis=1)
        np.save(self.path / "E.npy", gradients)
        done = self.run_esra(*self.separate("--gradients", "E.npy", "--mixing", "1,1,1", "--light", "stored"))
        self.assertIn(done.returncode, (0, 10), done.stderr)
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
        return subprocess.run([ESRA, *map(os.fsencode, map(str, arguments))], cwd=self.path, timeout=120, **options)


class Report(SeparateTest):
    def test_report_stands_alone(self):
        self.expect(0, *self.separate("--gap", "0.001"))
        page = (self.path / "out" / "report.html").read_text()
        self.assertNotRegex(page, r"https?://")
        self.assertNotRegex(page, r"<link|@import|url\(")
        sources = re.findall(r"\bsrc=\"([^\"]{0,30})", page)
        self.assertEqual(len(sources), 2 + 3 + 2)
        self.assertTrue(all(source.startswith("data:image/jpeg;base64,") for source in sources), sources)
        for part in 'type="range" id="slider"', f'<svg viewBox="-10 -10 {WIDTH + 20} {HEIGHT + 20}" id="alignment"', 'id="convergence"':
            self.assertIn(part, page)
        self.assertNotRegex(page, r"\b(nan|inf)\b")

    @unittest.skipUnless(BROWSER, "there is no Chromium to open the report in")
    def test_slider_moves_the_picture(self):
        """A script moves it as a hand would; the browser then says which picture is seen in four places."""
        self.expect(0, *self.separate())
        move = """<script>addEventListener('load', () => {
            const slider = document.getElementById('slider'), seen = [];
            const box = document.querySelector('.compare').getBoundingClientRect();
            for (const value of [0, 30, 60, 100]) {
                slider.value = value;
                slider.dispatchEvent(new Event('input'));
                seen.push([.1, .45, .7, .9].map(at => document.elementsFromPoint(box.left + at * box.width,
                    box.top + box.height / 2).find(e => e.tagName == 'IMG').className).join(' '));
            }
            document.body.dataset.seen = seen.join(', ');
        });</script>"""
        page = (self.path / "out" / "report.html").read_text()
        (self.path / "moved.html").write_text(page.replace("</body>", move + "</body>"))
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,800",
                               f"--user-data-dir={self.path}/profile", "--virtual-time-budget=5000", "--dump-dom",
                               (self.path / "moved.html").as_uri()], capture_output=True, text=True, timeout=120)
        self.assertIn('data-seen="after after after after, before after after after, before before after after, '
                      'before before before before"', done.stdout, done.stderr)

    def test_report_of_a_failure_says_why(self):
        self.expect(11, *self.separate(photos=["p1.png", "p1.png"]))
        page = (self.path / "out" / "report.html").read_text()
        self.assertIn('<div class="warning" id="same-photo">', page)
        self.assertIn("The layers could not be told apart", page)


class HardScenes(SeparateTest):
    def test_the_same_photo_twice(self):
        for names in ["p1.png", "p1.png"], ["p1.png"] * 3:
            self.assertIn("same-photo", self.gives_back(to_8_bit(PHOTOS[0]), photos=names))

    def test_unrelated_photos(self):
        for n in range(3):
            self.save(f"u{n}.png", np.random.default_rng(n).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8))
        warned = self.gives_back(png_pixels(self.path / "u1.png"), photos=["u0.png", "u1.png", "u2.png"])
        self.assertIn("not-aligned", warned)

    def test_flat_photos(self):
        for level in 0, 255, 128:
            self.save("a.png", np.full((HEIGHT, WIDTH, 3), level, np.uint8))
            self.save("b.png", np.full((HEIGHT, WIDTH, 3), level, np.uint8))
            warned = self.gives_back(np.full((HEIGHT, WIDTH, 3), level), photos=["a.png", "b.png"])
            self.assertEqual("clipped" in warned, level == 255, warned)

    def test_one_black_among_good_ones(self):
        self.save("p1.png", np.zeros((HEIGHT, WIDTH, 3), np.uint8))
        done = self.run_esra(*self.separate())
        self.assertIn(done.returncode, (0, 10, 11), done.stderr)
        self.assertIn("not-aligned", self.warned())

    def test_tiny_photos(self):
        rng = np.random.default_rng(1)
        for shape in (1, 1, 3), (60, 1, 3), (1, 60, 3), (2, 2, 3), (7, 5, 3), (1, 1):
            with self.subTest(shape):
                for name in NAMES:
                    self.save(name, rng.integers(0, 256, shape, np.uint8))
                photo = png_pixels(self.path / "p2.png")
                self.gives_back(photo)
                self.assertEqual(png_pixels(self.path / "out" / "reflected-3.png").shape, shape)
                self.assertEqual(len(self.result()["photos"]), 3)

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
        light = np.where(PHOTOS[1] <= .04045, PHOTOS[1] / 12.92, ((PHOTOS[1] + .055) / 1.055) ** 2.4)
        self.save("p2.png", to_16_bit(light ** (1 / 1.8)), png_profile(profile))
        self.expect(0, *self.separate())
        self.assertEqual([photo["light"] for photo in self.result()["photos"]], ["assumed sRGB", "profile", "assumed sRGB"])
        self.assertEqual(zlib.decompress(self.chunk("transmitted.png", b"iCCP").split(b"\0\0", 1)[1]), profile)
        self.assertIsNone(self.chunk("reflected-1.png", b"iCCP"))
        answer = np.clip((self.transmitted() / 65535) ** 1.8, 0, 1)
        answer = np.where(answer <= .0031308, answer * 12.92, 1.055 * answer ** (1 / 2.4) - .055)
        self.assertGreater(psnr(answer, TRUTH), psnr(PHOTOS[1], TRUTH) + 1)

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
            self.assertIn(done.returncode, (0, 11), done.stderr)

    def test_many_photos(self):
        for name in NAMES:
            self.save(name, to_8_bit(PHOTOS[0][:24, :32]))
        done = self.run_esra(*self.separate("-q", "--no-report", photos=["p1.png"] * 64))
        self.assertEqual(done.returncode, 11, done.stderr)
        self.assertEqual(len(self.result()["photos"]), 64)


class Mistakes(SeparateTest):
    def test_usage(self):
        see = "; see 'esra help separate'"
        for line, arguments in [
            ("--output FOLDER is missing" + see, ["separate", *NAMES]),
            ("--wrong: unknown option" + see, self.separate("--wrong")),
            ("--motion takes one of auto|homography|affine|translation|depth, not 'wild'", self.separate("--motion", "wild")),
            ("--light takes one of auto|linear|stored, not 'dim'", self.separate("--light", "dim")),
            ("--strength takes a number from 0 to 1, not '2'", self.separate("--strength", "2")),
            ("--strength takes a number from 0 to 1, not 'nan'", self.separate("--strength", "nan")),
            ("--strength takes a number from 0 to 1, not ''", self.separate("--strength", "")),
            ("--reflection-gain takes a number from 0 to 1000, not '-1'", self.separate("--reflection-gain", "-1")),
            ("--layers takes one of all|transmitted|reflected, not 'some'", self.separate("--layers", "some")),
            ("--format takes one of png|jpg|tif|npy, not 'bmp'", self.separate("--format", "bmp")),
            ("--format takes one of png|jpg|tif|npy, not '../x'", self.separate("--format", "../x")),
            ("--progress takes one of auto|json|none, not 'loud'", self.separate("--progress", "loud")),
            ("only one input can come from standard input", self.separate(photos=["-", "-"])),
        ]:
            with self.subTest(line):
                self.refuses(64, line, *arguments)

    def test_too_few(self):
        for photos, number in (["p1.png"], "one"), ([], "none"):
            self.refuses(65, f"two photos are needed at least, and there is {number}: take them from slightly different "
                         "places", *self.separate(photos=photos))

    def test_values_out_of_range(self):
        for line, extra in [
            ("--reference takes a number from 1 to 3, not '0'", ["--reference", "0"]),
            ("--reference takes a number from 1 to 3, not '4'", ["--reference", "4"]),
            ("--reference takes a number from 1 to 3, not '99999999999999999999'", ["--reference", "99999999999999999999"]),
            ("--reference takes a number from 1 to 3, not 'two'", ["--reference", "two"]),
            ("--mixing has 2 coefficient(s) for 3 photos: give one each", ["--mixing", "1,1"]),
            ("--mixing has 4 coefficient(s) for 3 photos: give one each", ["--mixing", "1,1,1,1"]),
            ("--mixing '1,x,1' is not a list of positive numbers such as 1,0.95", ["--mixing", "1,x,1"]),
            ("--mixing '1,0,1' is not a list of positive numbers such as 1,0.95", ["--mixing", "1,0,1"]),
            ("--mixing '1,nan,1' is not a list of positive numbers such as 1,0.95", ["--mixing", "1,nan,1"]),
            ("photo 1 has 1e+30 times the reference's mixing coefficient: that must be over 0, and 1000 at most",
             ["--mixing", "1,1e-30,1"]),
            ("photo 1 has inf times the reference's mixing coefficient: that must be over 0, and 1000 at most",
             ["--mixing", "1,1e-310,1"]),
            ("lambda is -1: it must lie in [0, 1000000]", ["--lambda", "-1"]),
            ("threads is 2147483647: it must lie in [0, 256]", ["--threads", "99999999999"]),
        ]:
            with self.subTest(line):
                self.refuses(65, line, *self.separate(*extra))

    def test_sizes(self):
        self.save("p3.png", to_8_bit(PHOTOS[2][:, :-1]))
        self.refuses(65, f"p1.png is {WIDTH} x {HEIGHT} and p3.png is {WIDTH - 1} x {HEIGHT}: photos of one size are needed, from one camera held "
                     "one way", *self.separate())

    def test_files_that_are_no_photos(self):
        (self.path / "folder").mkdir()
        (self.path / "text.jpg").write_text("not a photo\n")
        (self.path / "empty.png").write_bytes(b"")
        for code, name, word in [(66, "gone.png", "No such file"), (66, "folder", "it is a folder"), (65, "text.jpg", ""),
                                 (65, "empty.png", ""), (66, "@gone.txt", "No such file"), (66, "@folder", "it is a folder")]:
            with self.subTest(name):
                self.earlier()
                done = self.expect(code, *self.separate(photos=["p1.png", name]), stdout="")
                self.assertIn(name.strip("@"), done.stderr.decode())
                self.assertIn(word, done.stderr.decode())
                self.assertEqual(done.stderr.count(b"\n"), 1)
                self.assertEqual((self.path / "out" / "transmitted.png").read_text(), "earlier")

    def test_truncated(self):
        self.expect(0, *self.separate("--format", "jpg", output="made"))
        (self.path / "p2.jpg").write_bytes((self.path / "made" / "transmitted.jpg").read_bytes())
        for name in "p2.png", "p2.jpg":
            whole = (self.path / name).read_bytes()
            (self.path / name).write_bytes(whole[:len(whole) * 2 // 3])
            self.earlier()
            done = self.expect(65, *self.separate(photos=["p1.png", name, "p3.png"]), stdout="")
            self.assertIn(name.encode(), done.stderr)
            self.assertEqual((self.path / "out" / "result.json").read_text(), "earlier")
            done = self.run_esra(*self.separate("--tolerate-truncated", photos=["p1.png", name, "p3.png"]))
            self.assertIn(done.returncode, (0, 10, 11), done.stderr)
            self.assertEqual(self.transmitted().shape, (HEIGHT, WIDTH, 3))

    def test_number_of_photos(self):
        self.save("p1.png", np.zeros((1, 1), np.uint8))
        (self.path / "list.txt").write_text("p1.png\n" * 257)
        self.refuses(75, "more than 256 photos are named; name fewer, or lift the limits with --no-limits",
                     *self.separate(photos=["@list.txt"]))
        self.expect(11, *self.separate("--no-limits", "--no-report", "--layers", "transmitted", photos=["@list.txt"]))

    def test_gradients(self):
        np.save(self.path / "E.npy", np.zeros((4, 2, HEIGHT, WIDTH), np.float32))
        self.refuses(65, f"gradients E.npy must have shape (4, 2, {HEIGHT}, {WIDTH}, 3) for these photos",
                     *self.separate("--gradients", "E.npy"))
        bad = np.zeros((4, 2, HEIGHT, WIDTH, 3), np.float32)
        bad[1, 0, 5, 6, 0] = np.nan
        np.save(self.path / "E.npy", bad)
        done = self.run_esra(*self.separate("--gradients", "E.npy"))
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertFalse((self.path / "out").exists())


class Transforms(SeparateTest):
    def setUp(self):
        super().setUp()
        identity = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        self.good = {"schema": "esra-transforms-1", "reference": 2, "width": WIDTH, "height": HEIGHT,
                     "photos": [{"transmitted": identity} for _ in NAMES]}

    def give(self, text):
        (self.path / "t.json").write_text(text if isinstance(text, str) else json.dumps(text))
        return self.separate("--transforms", "t.json")

    def test_refused(self):
        hint = "; 'esra align' shows what such a file looks like"
        no_map = "t.json has a photo without a 3x3 transform 'transmitted' that can be undone" + hint
        photos = lambda matrix: {"photos": [{"transmitted": matrix}] + self.good["photos"][1:]}
        for line, change in [
            ("t.json does not say \"schema\": \"esra-transforms-1\"", {"schema": "esra-separate-1"}),
            ("t.json does not say \"schema\": \"esra-transforms-1\"", {"schema": 1}),
            ("t.json is for photos of another size", {"width": WIDTH + 1}),
            ("t.json is for another number of photos", {"photos": self.good["photos"][:2]}),
            ("t.json is for another number of photos", {"photos": {"0": 1}}),
            ("t.json names a reference that is not among its photos", {"reference": 4}),
            ("t.json names a reference that is not among its photos", {"reference": "2"}),
        ]:
            with self.subTest(change):
                self.refuses(65, line + hint, *self.give({**self.good, **change}))
        for matrix in ([[1, 0, 0], [0, 0, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 1, 0]],
                       [1, 0, 0, 0, 1, 0, 0, 0, 1], [["1", 0, 0], [0, 1, 0], [0, 0, 1]], [[1e300, 0, 0], [0, 1e300, 0], [0, 0, 1]],
                       None, {}, [[1, 0, 0, 9], [0, 1, 0], [0, 0, 1]]):
            with self.subTest(matrix):
                self.refuses(65, no_map, *self.give({**self.good, **photos(matrix)}))

    def test_not_json(self):
        for text in "", "{", "[" * 100000, "[]x", "\0", '{"a": NaN}', '{"schema": 1, "schema": 2}':
            with self.subTest(text[:20]):
                done = self.expect(65, *self.give(text), stdout="")
                self.assertRegex(done.stderr.decode(), r"^esra separate: t\.json is not JSON \(line \d+: [^\n]+\)\n$")
                self.assertFalse((self.path / "out").exists())
        self.complains(65, "esra separate: t.json does not say \"schema\": \"esra-transforms-1\"; 'esra align' shows what "
                       "such a file looks like", *self.give("[]"))
        self.complains(65, "esra separate: t.json is not a file of transforms: it has no size, or over 1 MB",
                       *self.give(" " * ((1 << 20) + 1)))

    def test_missing(self):
        self.refuses(66, "cannot read t.json: No such file or directory", *self.separate("--transforms", "t.json"))

    def test_another_reference(self):
        self.refuses(65, "--reference 1 does not fit t.json, whose reference is photo 2", *self.give(self.good),
                     "--reference", "1")

    def test_maps_that_lead_nowhere(self):
        for matrix in ([[1, 0, 1e9], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 0], [0.1, -0.1, 1]],
                       [[-1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1e-3, 0, 0], [0, 1, 0], [0, 0, 1]]):
            with self.subTest(matrix):
                for photo in self.good["photos"][0], self.good["photos"][2]:
                    photo["transmitted"] = photo["reflected"] = matrix
                done = self.run_esra(*self.give(self.good))
                self.assertIn(done.returncode, (0, 10, 11), done.stderr)
                self.assertEqual(self.transmitted().shape, (HEIGHT, WIDTH, 3))


class Outputs(SeparateTest):
    def test_folders_that_cannot_be_written(self):
        self.complains(73, "esra separate: cannot make the folder no/where: No such file or directory",
                       *self.separate(output="no/where"))
        self.complains(73, "esra separate: cannot write into p1.png: it is not a folder", *self.separate(output="p1.png"))
        self.complains(73, "esra separate: cannot make the folder p1.png/x: Not a directory",
                       *self.separate(output="p1.png/x"))

    def test_a_folder_without_permission(self):
        # Root may write anywhere: the program then runs as nobody.
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        self.path.chmod(0o755)
        self.earlier()
        (self.path / "out" / "result.json").chmod(0o444)
        (self.path / "out").chmod(0o555)
        self.addCleanup((self.path / "out").chmod, 0o755)
        try:
            self.complains(73, "esra separate: cannot write out/result.json: Permission denied", *self.separate(), **nobody)
        except PermissionError as reason:
            self.skipTest(f"nobody may not run the program here: {reason}")

    def test_no_photo_is_written_over(self):
        told = "esra separate: ./{} is one of the photos, and would be written over: choose another folder"
        self.save("transmitted.png", to_8_bit(PHOTOS[0]))
        self.complains(73, told.format("transmitted.png"), *self.separate(photos=["transmitted.png", "p2.png"], output="."))
        os.link(self.path / "p3.png", self.path / "reflected-2.png")
        self.complains(73, told.format("reflected-2.png"), *self.separate(output="."))

    def test_an_output_that_is_a_folder(self):
        (self.path / "out" / "report.html").mkdir(parents=True)
        self.complains(73, "esra separate: cannot write out/report.html: Is a directory", *self.separate("-q"))

    def test_a_full_disk_keeps_earlier_outputs(self):
        self.earlier()
        for most in 200, 20000:
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            before = {p: p.read_bytes() for p in self.path.rglob("*") if p.is_file()}
            done = self.expect(74, *self.separate("-q"), preexec_fn=limit)
            self.assertRegex(done.stderr.decode(), r"^esra separate: writing out/[a-z0-9.-]+ broke off: File too large\n$")
            self.assertEqual({p: p.read_bytes() for p in self.path.rglob("*") if p.is_file()}, before)

    def test_standard_output_that_is_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "wb") as full:
            done = self.run_esra(*self.separate("-q", "--json"), capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def interrupt(self, number, stage, command):
        """Sends a signal as soon as a stage is told to have begun; returns the exit code and the last line told."""
        process = subprocess.Popen([ESRA, *command, "--progress=json"], cwd=self.path, stderr=subprocess.PIPE)
        for line in process.stderr:
            if json.loads(line)["stage"] == stage:
                break
        process.send_signal(number)
        rest = process.communicate(timeout=100)[1].splitlines()
        return process.returncode, rest[-1].decode()

    def test_interrupted(self):
        self.earlier()
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143):
            for stage in "align", "separate", "solve":
                with self.subTest(f"{stage} {code}"):
                    done = self.interrupt(number, stage, self.separate("--gap", "1e-9", "--max-iterations", "100000"))
                    self.assertEqual(done, (code, "esra separate: interrupted; nothing was written"))
                    for name in OUTPUTS:
                        self.assertEqual((self.path / "out" / name).read_text(), "earlier")
        done = self.interrupt(signal.SIGINT, "align", ["align", *NAMES, "-o", "t.json"])
        self.assertEqual(done, (130, "esra align: interrupted; nothing was written"))
        self.assertFalse((self.path / "t.json").exists())

    def test_interrupted_but_kept(self):
        for stage in "align", "separate", "solve":
            with self.subTest(stage):
                slow = "--gap", "1e-9", "--max-iterations", "100000", "--keep-partial"
                code, _ = self.interrupt(signal.SIGINT, stage, self.separate(*slow))
                self.assertEqual(code, 130)
                self.assertEqual(self.transmitted().shape, (HEIGHT, WIDTH, 3))
                # A solve that was asked before its first iterate has nothing to show either.
                found = self.result()["method"], self.result()["solve"]["status"]
                self.assertIn(found, [("none", "none")] + [("joint", "stopped")] * (stage == "solve"))


if __name__ == "__main__":
    unittest.main()
