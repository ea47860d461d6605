"""The package and the command line give the same answers, to the bit."""
import json
import os
import sys
import unittest

import numpy as np

import esra
from scenes import SMALL, picture, problem, scene

if "ESRA" not in os.environ:
    print("skipped: there is no command line")
    sys.exit(77)

from cli import CliTest
from pictures import png_bytes, png_pixels


def rounded(numbers):
    """As JSON has them, of twelve digits."""
    return [rounded(part) for part in numbers] if np.ndim(numbers) else float(f"{numbers:.12g}")


class SameBits(CliTest):
    def save_photos(self, photos):
        names = [f"p{n}.png" for n in range(len(photos))]
        for name, photo in zip(names, photos):
            (self.path / name).write_bytes(png_bytes(photo))
        return names

    def check_separation(self, found, gain=1):
        self.assertEqual(found.transmitted.tobytes(), png_pixels(self.path / "out/transmitted.png").tobytes())
        for n, layer in enumerate(found.reflected):
            self.assertEqual(layer.tobytes(), png_pixels(self.path / f"out/reflected-{n + 1}.png").tobytes())
        confidence = np.floor(np.clip(found.confidence, 0, 1) * np.float32(255) + np.float32(.5)).astype(np.uint8)
        self.assertEqual(confidence.tobytes(), png_pixels(self.path / "out/confidence.png").tobytes())
        told = json.loads((self.path / "out/result.json").read_text())
        self.assertEqual([warning["id"] for warning in told["warnings"]], [warning.id for warning in found.warnings])
        self.assertEqual(told["method"], found.method)
        self.assertEqual([photo["mixing"] for photo in told["photos"]], rounded(found.mixing))
        return told

    def separate(self, photos, *words, **options):
        names = self.save_photos(photos)
        done = self.run_esra("separate", *names, "-o", "out", "-q", "--reference", options.get("reference", 0) + 1,
                             "--reflection-gain", 1, "--no-report", *words)
        found = esra.separate(photos, **options)
        self.assertEqual(done.returncode, 11 if found.method == "none" else 0, done.stderr)
        return self.check_separation(found), found

    def test_grey(self):
        photos = scene().photos
        told, found = self.separate(photos, "--threads", 1, reference=1, threads=2)
        self.assertEqual(found.method, "joint")
        self.assertEqual(told["photos"][0]["transmitted"], rounded(found.motion.transmitted[0]))
        self.assertEqual(told["photos"][0]["reflected"], rounded(found.motion.reflected[0]))
        self.assertEqual(told["solve"]["gap"], rounded(found.info.gap))

    def test_colour_of_16_bits_and_a_part_of_the_reflection(self):
        photos = [photo.astype(np.uint16) * 257 + 3 for photo in scene(3, noise=0).photos]
        photos = [np.minimum(photo, 65532) for photo in photos]
        self.separate(photos, "--strength", .7, "--motion", "translation", strength=.7, motion="translation")

    def test_stored_and_swapped(self):
        self.separate(scene().photos, "--light", "stored", "--swap", "--motion", "translation", light="stored", swap=True,
                      motion="translation")

    def test_evidence_and_given_transforms(self):
        photos = scene().photos
        names = self.save_photos(photos)
        self.expect(0, "align", *names, "-o", "t.json", "-r", 1, "-q")
        found = esra.align(photos)
        told = json.loads((self.path / "t.json").read_text())
        self.assertEqual([photo["transmitted"] for photo in told["photos"]], rounded(found.motion.transmitted))
        given = tuple([photo[layer] for photo in told["photos"]] for layer in ("transmitted", "reflected"))
        self.assertEqual(given[1], rounded(found.motion.reflected))
        told, found = self.separate(photos, "--transforms", "t.json", "--motion", "homography", transforms=given,
                                    motion="homography")
        for name, number in found.evidence.items():
            way, _, last = name.rpartition(".")
            if np.ndim(number) == 0:
                theirs = (told["evidence"][way] if way else told["evidence"])[last]
                self.assertTrue(theirs == rounded(number) or (theirs is None and not np.isfinite(number)), name)

    def test_solve(self):
        mixtures, gradients, mixing = problem()
        np.save(self.path / "I.npy", mixtures)
        np.save(self.path / "E.npy", gradients)
        done = self.expect(0, "solve", "--mixtures", "I.npy", "--gradients", "E.npy", "--mixing",
                           ",".join(map(repr, map(float, mixing))), "--lambda", .01, "-o", "L.npy", "--duals", "U.npy", "--json")
        found = esra.solve(mixtures, gradients, mixing, lam=.01)
        told = json.loads(done.stdout)
        self.assertEqual(found.layers.tobytes(), np.load(self.path / "L.npy").tobytes())
        self.assertEqual(found.duals.tobytes(), np.load(self.path / "U.npy").tobytes())
        self.assertEqual((told["objective"], told["bound"], told["gap"]),
                         (found.info.objective, found.info.bound, found.info.gap))

    def test_synth_and_compare(self):
        pictures = [picture(n, channels=3) for n in (1, 2)]
        names = self.save_photos(pictures)
        for words, options in ((["--depth"], {"depth": True}), ([], {})):
            self.expect(0, "synth", "-t", names[0], "-r", names[1], "-o", f"s{len(words)}", "--photos", 2, "--size",
                        "84x64", "--shift", 6, *words)
            made = esra.synth(*pictures, **SMALL, **options)
            for n, photo in enumerate(made.photos):
                theirs = png_pixels(next((self.path / f"s{len(words)}").glob(f"*photo*{n + 1}.png")))
                self.assertEqual(photo.tobytes(), theirs.tobytes())
        files = self.save_photos(made.photos)
        told = json.loads(self.expect(0, "compare", *files, "--json").stdout)
        found = esra.compare(*made.photos)
        self.assertEqual({name: told[name] for name in vars(found)}, vars(found))


if __name__ == "__main__":
    unittest.main()
