"""esra separate with options, files and transforms that are wrong: one line each, and nothing changed."""
import json
import unittest

import numpy as np

from cli import SOURCE, UNTRUSTED
from pictures import to_8_bit
from separating import HEIGHT, NAMES, PHOTOS, WIDTH, SeparateTest


class Mistakes(SeparateTest):
    def test_usage(self):
        see = "; see 'esra help separate'"
        for line, arguments in [
            ("--output FOLDER is missing" + see, ["separate", *NAMES]),
            ("--wrong: unknown option" + see, self.separate("--wrong")),
            ("--motion takes one of homography|affine|translation|depth|auto, not 'wild'", self.separate("--motion", "wild")),
            ("--light takes one of auto|linear|stored, not 'dim'", self.separate("--light", "dim")),
            ("--lambda takes a number from 0 to 1000000, not '-1'", self.separate("--lambda", "-1")),
            ("--threads takes a number from 0 to 256, not '99999999999'", self.separate("--threads", "99999999999")),
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

    def test_long_names_leave_room_for_the_reason(self):
        folder = "/".join(["d" * 200] * 6)
        gone, long = folder + "/gone.png", folder + "/long.png"
        self.refuses(66, f"cannot read {gone}: No such file or directory", *self.separate(photos=[gone, "p1.png"]))
        (self.path / folder).mkdir(parents=True)
        self.save(long, to_8_bit(PHOTOS[2][:, :-1]))
        self.save(long + "2", to_8_bit(PHOTOS[2]))
        self.refuses(65, f"{long} is {WIDTH - 1} x {HEIGHT} and {long}2 is {WIDTH} x {HEIGHT}: photos of one size are needed, "
                     "from one camera held one way", *self.separate(photos=[long, long + "2"]))
        (self.path / long).write_bytes(b"")
        for extra in [], UNTRUSTED:
            self.refuses(65, f"{long} is empty; get a fresh copy", *self.separate(*extra, photos=[long, "p1.png"]))

    def test_cut_files_of_every_format(self):
        """Ten cuts each, by the command: exit 65, one line, no output. tests/io/hostile.c cuts at every byte."""
        corpus = SOURCE / "tests/fuzz/corpus"
        np.save(self.path / "good.npy", np.full((5, 7, 3), .5, np.float32))
        for good in (corpus / "png/rgb-metadata.png", corpus / "jpeg/rgb-metadata.jpg", corpus / "tiff/rgb-metadata.tif",
                     self.path / "good.npy"):
            data = good.read_bytes()
            # A PNG's last chunk may be missing: all its pixels are there.
            end = len(data) - (12 if good.suffix == ".png" else 0)
            for n in range(10):
                cut = self.path / f"cut{good.suffix}"
                cut.write_bytes(data[:n * (end - 1) // 9])
                done = self.run_esra(*self.separate("-q", photos=[good, cut]))
                self.assertEqual((done.returncode, done.stdout), (65, b""), (good.name, n, done.stderr))
                self.assertRegex(done.stderr.decode(), "^esra separate: [^\n]*cut[^\n]*\n$")
                self.assertFalse((self.path / "out").exists())
        print("40 cut files: exit 65, no output")

    def test_too_few(self):
        for photos, number in (["p1.png"], "one"), ([], "none"):
            self.refuses(65, f"two photos are needed at least, and there is {number}: take them from slightly different "
                         "places", *self.separate(photos=photos))

    def test_a_pattern_that_fits_no_file(self):
        self.refuses(66, "cannot read shop-*.jpg: No such file or directory", *self.separate(photos=["shop-*.jpg"]))

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
            ("photo 1 has 1e+30 times the reference's mixing coefficient: that must lie in [0.001, 1000]",
             ["--mixing", "1,1e-30,1"]),
            ("photo 1 has inf times the reference's mixing coefficient: that must lie in [0.001, 1000]",
             ["--mixing", "1,1e-310,1"]),
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
            self.assertTrue(done.stderr.endswith(b"; get a fresh copy, or take what is there with --tolerate-truncated\n"))
            self.assertEqual((self.path / "out" / "result.json").read_text(), "earlier")
            done = self.run_esra(*self.separate("--tolerate-truncated", photos=["p1.png", name, "p3.png"]))
            self.assertIn(done.returncode, (0, 10, 11), done.stderr)
            self.assertEqual(self.transmitted().shape, (HEIGHT, WIDTH, 3))
            self.assertEqual([photo["incomplete"] for photo in self.result()["photos"]], [False, True, False])
            self.assertIn(f"warning: {name} is damaged: what could not be decoded is black.\n".encode(), done.stderr)

    def test_advice_can_be_followed(self):
        """--tolerate-truncated is not named by commands that do not have it, nor where it was given."""
        whole = (self.path / "p2.png").read_bytes()
        (self.path / "p2.png").write_bytes(whole[:len(whole) * 2 // 3])
        (self.path / "head.png").write_bytes(whole[:20])
        for command in (["compare", "p1.png", "p2.png"], ["synth", "-t", "p1.png", "-r", "p2.png", "-o", "out"]):
            self.complains(65, f"esra {command[0]}: p2.png is truncated; get a fresh copy", *command)
        self.complains(65, "esra info: head.png is truncated; get a fresh copy", "info", "head.png")
        self.refuses(65, "head.png is truncated; get a fresh copy",
                     *self.separate("--tolerate-truncated", photos=["p1.png", "head.png"]))

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

    def test_numbers_need_not_be_integers(self):
        """Programs that know but one kind of number write 96.0."""
        whole = {"width": float(WIDTH), "height": float(HEIGHT), "reference": 2.0}
        hint = "; 'esra align' shows what such a file looks like"
        for line, change in [("t.json is for photos of another size", {"width": WIDTH + .5}),
                             ("t.json names a reference that is not among its photos", {"reference": 1.5}),
                             ("t.json names a reference that is not among its photos", {"reference": 0.0})]:
            with self.subTest(change):
                self.refuses(65, line + hint, *self.give({**self.good, **change}))
        done = self.run_esra(*self.give({**self.good, **whole}))
        self.assertIn(done.returncode, (0, 10, 11), done.stderr)

    def test_not_json(self):
        for text in "", "{", "[" * 100000, "[]x", "\0", '{"a": NaN}', '{"schema": 1, "schema": 2}':
            with self.subTest(text[:20]):
                done = self.expect(65, *self.give(text), stdout="")
                self.assertRegex(done.stderr.decode(), r"^esra separate: t\.json is not JSON \(line \d+: [^\n]+\)\n$")
                self.assertFalse((self.path / "out").exists())
        self.complains(65, "esra separate: t.json does not say \"schema\": \"esra-transforms-1\"; 'esra align' shows what "
                       "such a file looks like", *self.give("[]"))
        self.complains(75, "esra separate: t.json is over 1 MiB; that is no file of transforms",
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
