"""What the tests of esra separate share: three photos of a known scene, running it, and looking at what came out."""
import json

import numpy as np

from cli import CliTest
from pictures import png_bytes, png_chunks, png_pixels, scene, to_8_bit

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
