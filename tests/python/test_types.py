"""Keywords, help and hints: all that the tables say is there, and mypy agrees with the hints."""
import inspect
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import esra
from scenes import SOURCE

PACKAGE = pathlib.Path(esra.__file__).parent

RIGHT = """
import esra
import numpy as np
photo: np.ndarray[int, np.dtype[np.uint8]] = np.zeros((9, 9), np.uint8)
found = esra.separate([photo, photo], lam=.02, motion="auto", swap=True, progress=lambda info: info.gap < .1)
gap: float = found.info.gap
ids: list[str] = [warning.id for warning in found.warnings]
solution = esra.solve(photo, photo, [1.0], start=esra.solve(photo, photo, [1.0]))
shape: tuple[int, ...] = found.reflected[0].shape
"""
WRONG = {
    'esra.separate([], strength="much")': "arg-type",
    'esra.separate([]).transmited': "attr-defined",
    'esra.settings(5)': "arg-type",
    'esra.solve([], [], [], start=5)': "arg-type",
}


class Tables(unittest.TestCase):
    def test_every_row_of_the_tables_is_a_keyword_with_help(self):
        for function, tables in (("separate", ("settings", "photos")), ("align", ("settings", "photos")), ("solve", ("settings", )),
                                 ("synth", ("synth", ))):
            text = "".join((SOURCE / "include" / "esra" / f"{table}.def").read_text() for table in tables)
            names = [name.replace("lambda", "lam") for name in
                     re.findall(r"^ESRA_(?:REAL|COUNT|TOGGLE|CHOICE|ONE_OF|SEED)\((\w+)", text, re.M)]
            self.assertGreater(len(names), 10)
            called = getattr(esra, function)
            self.assertEqual(set(names), set(esra.settings(function)))
            self.assertLessEqual(set(names), set(inspect.signature(called).parameters))
            for name in names:
                self.assertRegex(called.__doc__, rf"\n    {name}: ")

    def test_defaults_are_those_of_the_call(self):
        self.assertEqual((esra.settings("solve")["lam"].default, esra.settings()["lam"].default), (.02, .003))
        self.assertEqual(inspect.signature(esra.solve).parameters["engine"].default, "fast")
        self.assertEqual(esra.settings("synth")["bits"].choices, ("0", "8", "16"))
        self.assertIs(esra.settings()["swap"].default, False)

    def test_warnings_and_evidence(self):
        text = (SOURCE / "include" / "esra" / "warnings.def").read_text()
        self.assertEqual(re.findall(r'^ESRA_WARNING\(\w+, \d+, "([^"]+)"', text, re.M), [row.id for row in esra.WARNINGS])
        text = (SOURCE / "src" / "pipeline" / "evidence.def").read_text()
        for name in re.findall(r"^(?:SERIES|PHOTO)_EVIDENCE\((\w+)", text, re.M):
            self.assertTrue(esra.EVIDENCE[name])
        for name in re.findall(r"^WAY_EVIDENCE\((\w+)", text, re.M):
            self.assertTrue(esra.EVIDENCE[f"flat.{name}"])

    def test_version(self):
        text = (SOURCE / "include" / "esra" / "version.h").read_text()
        self.assertEqual(".".join(re.findall(r"#define ESRA_VERSION_\w+ (\d+)", text)), esra.__version__)


class Hints(unittest.TestCase):
    def mypy(self, *arguments):
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", self.cache.name, *arguments],
                              capture_output=True, text=True, env={"MYPYPATH": str(PACKAGE.parent)})

    def setUp(self):
        self.cache = tempfile.TemporaryDirectory()
        self.addCleanup(self.cache.cleanup)
        if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True, env={}).returncode != 0:
            self.skipTest("there is no mypy")

    def test_the_package(self):
        self.assertTrue((PACKAGE / "py.typed").is_file())
        done = self.mypy(str(PACKAGE))
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_program_that_uses_it(self):
        done = self.mypy("-c", RIGHT)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.mypy("-c", "import esra\n" + "\n".join(WRONG))
        for number, (line, code) in enumerate(WRONG.items()):
            self.assertRegex(done.stdout, rf"<string>:{number + 2}: error: .*\[{code}\]", line)


if __name__ == "__main__":
    unittest.main()
