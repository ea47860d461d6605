"""esra swap: layers that are known change places, and come back."""
import json
import shutil
import unittest

import numpy as np

from cli import UNTRUSTED, CliTest
from finished import HEIGHT, REFERENCE, WIDTH, made_layers, save_finished
from pictures import from_srgb, icc_profile, png_bytes, png_pixels, png_profile, psnr, to_8_bit, to_srgb
from separating import NAMES, PHOTOS, SeparateTest

PICTURES = ["transmitted.png", "reflected-1.png", "reflected-2.png", "reflected-3.png"]


class SwapTest(CliTest):
    def files(self, folder="out"):
        root = self.path / folder
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    def light(self, name):
        return from_srgb(png_pixels(self.path / "out" / name) / 255)

    def result(self):
        return json.loads((self.path / "out" / "result.json").read_text())

    def swap(self, *words, code=0):
        return self.expect(code, "swap", "out", *words, stdout="")

    def near(self, name, expected, codes=1.5):
        """As near as 8 bits can tell."""
        found = png_pixels(self.path / "out" / name).astype(float)
        np.testing.assert_allclose(found, 255 * to_srgb(expected), atol=codes, err_msg=name)


class Layers(SwapTest):
    def setUp(self):
        super().setUp()
        self.scene, self.reflected = made_layers()

    def test_layers_change_places(self):
        save_finished(self.path, self.scene, self.reflected)
        done = self.swap()
        self.assertEqual(done.stderr.decode(), "out: the layers are exchanged; the same command undoes it\n")
        self.near("transmitted.png", self.reflected[REFERENCE - 1])
        self.near("reflected-2.png", 2 * self.scene)
        for n in 1, 3:  # the rest of a photo: rounded twice
            self.near(f"reflected-{n}.png", 2 * self.scene, codes=12)
            self.assertGreater(psnr(png_pixels(self.path / "out" / f"reflected-{n}.png") / 255, to_srgb(2 * self.scene)), 35)

    def test_and_back(self):
        for report in True, False:
            save_finished(self.path, self.scene, self.reflected, report=report)
            before = self.files()
            self.swap("-q")
            after = self.files()
            kept = {name for name in before if name != "confidence.png"}
            self.assertEqual(set(after), set(before) | {f"as-found/{name}" for name in kept})
            for name in kept:
                self.assertEqual(after[f"as-found/{name}"], before[name])
                self.assertNotEqual(after[name], before[name])
            done = self.swap()
            self.assertEqual(done.stderr.decode(), "out: the layers are as they were found\n")
            self.assertEqual(self.files(), before)
            self.assertFalse((self.path / "out" / "as-found").exists())
            shutil.rmtree(self.path / "out")

    def test_without_the_files_kept(self):
        """The same layers, as well as the pictures hold them."""
        save_finished(self.path, self.scene, self.reflected)
        self.swap()
        shutil.rmtree(self.path / "out" / "as-found")
        self.swap()
        self.assertNotIn("exchanged", self.result())
        self.near("transmitted.png", self.scene)
        self.near("reflected-2.png", 2 * self.reflected[REFERENCE - 1], codes=2.5)

    def test_result_and_report(self):
        save_finished(self.path, self.scene, self.reflected)
        old = self.result()
        self.swap()
        new = self.result()
        self.assertIs(new["exchanged"], True)
        self.assertEqual([w["id"] for w in new["warnings"]], ["clipped"])
        for a, b in zip(old["photos"], new["photos"]):
            for x, y in ("mixing", "reflection_gain"), ("explained", "explained_reflected"), ("transmitted", "reflected"):
                self.assertEqual((a[x], a[y]), (b[y], b[x]))
        self.assertEqual(new["exchange_probability"], .375)
        for key in set(old) - {"photos", "warnings", "exchange_probability"}:
            self.assertEqual(old[key], new[key])
        page = (self.path / "out" / "report.html").read_text()
        self.assertIn("exchanged by 'esra swap'", page)
        self.assertEqual(page.count("data:image/jpeg;base64,"), 2 + 3 + 2)
        self.assertNotRegex(page, r"\bnan\b")

    def test_what_was_cut_off_at_white(self):
        """Twice R was white: the photo less T says how much it was."""
        scene, reflected = made_layers(bright=.49)
        scene, reflected = .5 * scene, reflected + .25
        save_finished(self.path, scene, reflected)
        self.assertGreater((png_pixels(self.path / "out" / "reflected-2.png") == 255).mean(), .3)
        self.swap()
        self.near("transmitted.png", reflected[REFERENCE - 1], codes=3)

    def test_strength(self):
        save_finished(self.path, self.scene, self.reflected, strength=.5)
        self.swap()
        self.near("transmitted.png", self.reflected[REFERENCE - 1] + .5 * self.scene)
        self.near("reflected-2.png", 2 * self.scene, codes=7)

    def test_layers_that_add_up_in_roots(self):
        photos = [(np.sqrt(self.scene) + np.sqrt(r)) ** 2 for r in .3 * self.reflected]
        save_finished(self.path, self.scene, .3 * self.reflected, light="root")
        for n, photo in enumerate(photos):
            (self.path / f"p{n + 1}.png").write_bytes(png_bytes(to_8_bit(to_srgb(photo))))
        self.swap()
        clear = photos[0] < 1
        found, expected = self.light("reflected-1.png")[clear], (2 * self.scene)[clear]
        self.assertLess(np.abs(found - expected.clip(0, 1)).max(), .08)

    def test_photos_left_out_and_out_of_view(self):
        save_finished(self.path, self.scene, self.reflected)
        told = self.result()
        told["photos"][0]["aligned"] = False
        told["photos"][2]["transmitted"] = [[1, 0, 4], [0, 1, 0], [0, 0, 1]]
        (self.path / "out" / "result.json").write_text(json.dumps(told))
        self.swap()
        self.assertEqual(self.light("reflected-1.png").max(), 0)
        self.assertEqual(self.light("reflected-3.png")[:, :4].max(), 0)
        self.assertGreater(self.light("reflected-3.png")[:, 4:].min(), 0)

    def test_photos_that_are_elsewhere(self):
        save_finished(self.path, self.scene, self.reflected)
        (self.path / "there").mkdir()
        for name in NAMES:
            (self.path / name).rename(self.path / "there" / name)
        self.complains(66, "esra swap: cannot read p1.png: No such file or directory; name the photos, in their order, after "
                           "the folder", "swap", "out")
        self.swap(*(f"there/{name}" for name in NAMES), *UNTRUSTED)
        self.near("transmitted.png", self.reflected[REFERENCE - 1])

    def test_a_run_that_was_broken_off(self):
        """Files kept whole, some exchanged, result.json not yet: the next run takes the files kept."""
        save_finished(self.path, self.scene, self.reflected)
        before = self.files()
        self.swap()
        good = self.files()
        (self.path / "out" / "result.json").write_bytes(before["result.json"])
        (self.path / "out" / "reflected-1.png").write_bytes(before["reflected-1.png"])
        self.swap()
        self.assertEqual(self.files(), good)

    def test_files_kept_of_another_separation(self):
        save_finished(self.path, self.scene, self.reflected)
        self.swap()
        kept = self.path / "kept"
        (self.path / "out" / "as-found").rename(kept)
        shutil.rmtree(self.path / "out")
        save_finished(self.path, self.reflected[0], np.stack([self.scene] * 3), threads=2)
        before = self.files()
        kept.rename(self.path / "out" / "as-found")
        self.swap()
        self.near("transmitted.png", self.scene)
        self.swap()
        self.assertEqual(self.files(), before)


class Folders(SwapTest):
    def setUp(self):
        super().setUp()
        save_finished(self.path, *made_layers())

    def rewrite(self, **changes):
        (self.path / "out" / "result.json").write_text(json.dumps({**self.result(), **changes}))

    def refuses(self, code, line, *words):
        self.complains(code, "esra swap: " + line, "swap", *words)

    def test_no_result(self):
        self.refuses(64, "which folder? See 'esra help swap'")
        self.refuses(66, "cannot read nothing/result.json: No such file or directory", "nothing")
        (self.path / "out" / "result.json").write_text("{")
        told = self.run_esra("swap", "out").stderr.decode()
        self.assertRegex(told, r"^esra swap: out/result\.json is not JSON \(line 1: .*\)\n$")
        wrong = "; give the folder that this esra's 'esra separate' wrote"
        (self.path / "out" / "result.json").write_text("[1]")
        self.refuses(65, f'out/result.json does not say "schema": "esra-separate-2"{wrong}', "out")

    def test_damaged_results(self):
        whole = self.result()
        wrong = "; give the folder that this esra's 'esra separate' wrote"
        for changes, line in [
                ({"schema": "esra-separate-3"}, f'does not say "schema": "esra-separate-2"{wrong}'),
                ({"method": "magic"}, f"names no method or motion that is known{wrong}"),
                ({"output": {}}, f"does not say how its pictures were written{wrong}"),
                ({"photos": []}, f"lists no photos{wrong}"),
                ({"photos": [{}, {}]}, f"has a photo without its name or gains{wrong}"),
                ({"reference": 4}, f"names a reference or a size that cannot be{wrong}"),
                ({"width": 1e30}, f"names a reference or a size that cannot be{wrong}")]:
            self.rewrite(**{**whole, **changes})
            self.refuses(65, f"out/result.json {line}", "out")

    def test_nothing_to_exchange(self):
        whole = self.result()
        for changes, line in [
                ({"method": "none"}, "the layers could not be told apart, and the photo was left as it was"),
                ({"output": {**whole["output"], "layers": "transmitted"}},
                 "only one layer was written; separate again with --layers all"),
                ({"strength": 0}, "with a strength of 0 the photo was left as it was; separate again with more")]:
            self.rewrite(**{**whole, **changes})
            self.refuses(65, f"out/result.json: {line}", "out")

    def test_missing_and_other_pictures(self):
        other = png_bytes(np.zeros((HEIGHT, WIDTH + 1, 3), np.uint8))
        for name in PICTURES:
            before = (self.path / "out" / name).read_bytes()
            (self.path / "out" / name).unlink()
            self.refuses(66, f"cannot read out/{name}: No such file or directory", "out")
            (self.path / "out" / name).write_bytes(other)
            self.refuses(65, f"out/{name} is not the layer that 'esra separate' wrote: its size is another", "out")
            (self.path / "out" / name).write_bytes(before)
        self.refuses(65, "out was made of 3 photos of 16 x 12: these are others", "out", "p1.png", "p2.png")

    def test_photos_are_spared(self):
        """A photo that is one of the files to be written."""
        self.rewrite(photos=[{**photo, "file": "out/reflected-1.png"} for photo in self.result()["photos"]])
        self.refuses(73, "out/reflected-1.png is one of the inputs, and would be written over: choose another name or "
                         "folder", "out")


class Separated(SeparateTest):
    def test_what_separate_wrote(self):
        """Of photos with profiles, as JPEG, which is not exact, and NPY, which has no profile: there and back."""
        for name, photo in zip(NAMES, PHOTOS):
            self.save(name, to_8_bit(photo), png_profile(icc_profile(2.2)))
        for kind in "jpg", "npy":
            self.expect(0, *self.separate("--format", kind, "--reference", 2, "--max-iterations", 20, "--gap", "0"))
            before = {p.name: p.read_bytes() for p in (self.path / "out").iterdir()}
            self.expect(0, "swap", "out")
            self.assertIs(self.result()["exchanged"], True)
            self.assertTrue((self.path / "out" / f"transmitted.{kind}").stat().st_size)
            self.expect(0, "swap", "out")
            self.assertEqual({p.name: p.read_bytes() for p in (self.path / "out").iterdir()}, before)
            shutil.rmtree(self.path / "out")


if __name__ == "__main__":
    unittest.main(verbosity=2)
