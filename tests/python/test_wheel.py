"""The wheel: whole, the same bytes twice, and of use where nothing else of esra is. With ESRA_TEST_ALL also as pip makes
and installs it, from a clone and from a source archive, without an index."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

import esra
from scenes import SOURCE

PACKAGES = pathlib.Path(esra.__file__).parents[1]
USE = ("import esra, numpy as np; found = esra.solve(np.ones((1, 4, 4)), np.zeros((2, 2, 4, 4)), [.5]); "
       "print(esra.__file__, found.info.outcome)")


class Wheel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def make(self, folder):
        (self.path / folder).mkdir()
        done = subprocess.run([sys.executable, "-B", SOURCE / "bindings/python/backend.py", PACKAGES, self.path / folder],
                              capture_output=True, text=True, check=True)
        return pathlib.Path(done.stdout.strip())

    def use(self, python, *words, **more):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([python, *words, "-c", USE], capture_output=True, text=True, cwd=self.path,
                              env={**environment, **more})
        self.assertEqual(done.returncode, 0, done.stderr)
        where, outcome = done.stdout.split()
        self.assertTrue(where.startswith(str(self.path)), where)
        self.assertEqual(outcome, "optimal")

    def test_it_is_whole_and_reproducible(self):
        wheel = self.make("one")
        self.assertEqual(wheel.read_bytes(), self.make("two").read_bytes())
        self.assertRegex(wheel.name, r"^esra-[\d.]+-cp311-abi3-\w+\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            record = next(name for name in names if name.endswith("/RECORD"))
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            self.assertEqual(names, [row[0] for row in rows])
            for name, digest, size in rows[:-1]:
                data = archive.read(name)
                told = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, size), (f"sha256={told}", str(len(data))))
        here = {f"esra/{path.name}" for path in (SOURCE / "bindings/python/esra").iterdir() if path.is_file()}
        self.assertEqual(here | {"esra/_esra.abi3.so"}, {name for name in names if name.startswith("esra/")})

    def test_it_can_be_used_alone(self):
        with zipfile.ZipFile(self.make("one")) as archive:
            archive.extractall(self.path / "site")
        self.use(sys.executable, "-B", PYTHONPATH=str(self.path / "site"))

    @unittest.skipUnless(os.environ.get("ESRA_TEST_ALL"), "a minute or two: ESRA_TEST_ALL")
    def test_pip(self):
        os.environ.pop("LD_PRELOAD", None)  # compilers need no sanitizer, and what is built here has none
        venv = self.path / "venv"
        done = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", venv], capture_output=True)
        if done.returncode != 0:
            self.skipTest("there is no venv")
        subprocess.run([venv / "bin/pip", "install", "-q", "--no-index", SOURCE], check=True, capture_output=True)
        self.use(venv / "bin/python")
        sys.path.insert(0, str(SOURCE / "bindings/python"))
        import backend
        archive = backend.build_sdist(self.path)
        subprocess.run([venv / "bin/pip", "install", "-q", "--no-index", "--force-reinstall", "--no-deps", self.path / archive],
                       check=True, capture_output=True)
        self.use(venv / "bin/python")


if __name__ == "__main__":
    unittest.main()
