"""Where memory or threads cannot be had, every call raises, or does without: the module is built with tests/fault/shim.c,
which lets each single allocation fail in a process of its own, and all after it in another."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WORK = """
import sys
import numpy as np
import esra
sys.path.insert(0, {here!r})
from scenes import problem
photos = [np.ascontiguousarray(np.random.default_rng(n).random((12, 16), np.float32)) for n in range(2)]
codes = [(photo * 255).astype(np.uint8) for photo in photos]
known = dict(transforms=np.tile(np.eye(3), (2, 1, 1)), gradients=np.zeros((3, 2, 12, 16)), threads={threads})
try:
    {call}
except esra.OutOfMemory as error:
    assert "memory" in str(error), str(error)
    assert isinstance(error, MemoryError)
    sys.exit(75)
"""

CALLS = {
    "solve": "esra.solve(*problem(), threads={threads}, max_iterations=20)",
    "compare": "esra.compare(*photos)",
    "synth": "esra.synth(*photos, width=16, height=12, photos=2, shift_px=1, threads={threads})",
    "codes": "esra.separate(codes, max_iterations=2, **known)",
    "separate": "esra.separate(photos, max_iterations=2, **known)",
}


class Faults(unittest.TestCase):
    def run_with(self, fault, call, threads):
        with tempfile.TemporaryDirectory() as folder:
            told = pathlib.Path(folder) / "told"
            script = WORK.format(here=str(pathlib.Path(__file__).parent), call=CALLS[call].format(threads=threads), threads=threads)
            done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True,
                                  env={**os.environ, "ESRA_FAULT": fault, "ESRA_FAULT_TELL": str(told)})
            return done, dict(line.split() for line in told.read_text().splitlines()) if told.exists() else {}

    def test_every_allocation(self):
        for call in ("solve", "compare", "synth", "codes"):
            with self.subTest(call):
                done, told = self.run_with("alloc:each:ENOMEM", call, 1)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                ended = {name for name in told if name.startswith("exit")}
                self.assertLessEqual(ended, {"exit0", "exit75"}, "one ended otherwise")
                self.assertGreaterEqual(int(told["exit75"]), int(told["alloc"]), "each that fails alone, and with all after it")

    def test_no_threads(self):
        for call in ("solve", "synth", "separate"):
            done, _ = self.run_with("thread:1+:EAGAIN", call, 3)
            self.assertIn(done.returncode, (0, 75), done.stderr)


if __name__ == "__main__":
    unittest.main()
