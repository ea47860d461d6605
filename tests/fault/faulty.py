"""What the fault tests share: every command that writes, run with calls that fail on demand (shim.c)."""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from cli import ESRA, SOURCE, UNTRUSTED, CliTest  # noqa: E402
from finished import made_layers, save_finished  # noqa: E402
from pictures import png_bytes, scene, to_8_bit  # noqa: E402

# Thousands of files are written and synced: in memory, where there is a folder for that.
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"

FULL = bool(os.environ.get("ESRA_TEST_ALL"))  # every case there is, not a sample of them

TWICE = ["a.png", "a.png"]  # the same photo twice comes back as it was: every output is written, and little computed


def layers(kind, photos=2):
    names = ["transmitted", *(f"reflected-{n + 1}" for n in range(photos)), "confidence"]
    return [f"out/{name}.{kind}" for name in names] + ["out/result.json", "out/report.html"]


def made(kind):
    return ["synth", "-t", "a.png", "-r", "p1.png", "-o", "out", "-n", "2", "--size", "16x12", "--shift", "1", "--format", kind]


def made_files(kind, depth=False):
    layers = ["truth-transmitted", "truth-reflected"]
    depths = [f"{name}-inverse-depth.npy" for name in layers] if depth else []
    return [f"out/{name}" for name in (f"photo-1.{kind}", f"photo-2.{kind}", *(f"{name}-1.png" for name in layers), *depths,
                                       "truth.json")]


# name: arguments, exit code of a good run, what it writes
# One thread writes one file after the other: so each has bytes of its own to fail at.
COMMANDS = {
    **{f"separate to {kind}": (["separate", *TWICE, "-o", "out", "--format", kind, "-q", "--threads", "1"], 11, layers(kind))
       for kind in ("png", "jpg", "tif", "npy")},
    "separate": (["separate", "p1.png", "p2.png", "p3.png", "-o", "out", "-q", "--max-iterations", "2"], None,
                 layers("png", 3)),
    "align": (["align", *TWICE, "-o", "t.json", "-q"], 0, ["t.json"]),
    "solve": (["solve", "--mixtures", "I.npy", "--gradients", "E.npy", "--mixing", "0.8,0.9", "-o", "L.npy", "-q",
               "--duals", "U.npy", "--max-iterations", "2", "--gap", "0"], 0, ["L.npy", "U.npy"]),
    "synth": (made("png"), 0, made_files("png")),
    "synth to jpg": (made("jpg"), 0, made_files("jpg")),
    "synth with depth": ([*made("tif"), "--depth"], 0, made_files("tif", depth=True)),
    "separate by transforms": (["separate", *TWICE, "-o", "out", "--transforms", "T.json", "--gradients", "G.npy", "--layers",
                                "transmitted", "--no-report", "-q", "--max-iterations", "1", "--threads", "1"], None,
                               ["out/transmitted.png", "out/confidence.png", "out/result.json"]),
    "compare": (["compare", "a.png", "b.png", "--json"], 0, []),
    "info": (["info", "a.png"], 0, []),
    "info as JSON": (["info", "--plan", "--json", "a.png", "b.png"], 0, []),
    "compare of other formats": (["compare", "grey-16-metadata.tif", "grey.jpg"], 0, []),
    **({"compare, untrusted": (["compare", "grey-16-metadata.tif", "grey.jpg", *UNTRUSTED], 0, [])} if UNTRUSTED else {}),
    "batch --status": (["batch", "jobs.jsonl", "-o", "finished", "--status"], 0, []),
    "batch --status as JSON": (["batch", "jobs.jsonl", "-o", "finished", "--status", "--json"], 0, []),
    "bench": (["bench", "kernels"], 0, []),
    "help": (["help", "--format", "man"], 0, []),
}

# Every kind of output once; the whole separation adds nothing to that but time.
WRITERS = [name for name, (_, _, outputs) in COMMANDS.items() if outputs and name != "separate"]


def without_times(name, data):
    """Two runs differ in the seconds and the memory that they tell, and in nothing else."""
    if name.endswith("result.json"):
        told = json.loads(data)
        for key in "seconds", "threads", "memory":
            told.pop(key, None)
        return json.dumps(told).encode()
    return re.sub(rb"<td>seconds</td><td>[^<]*", b"", data) if name.endswith(".html") else data


class FaultTest(CliTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(1)
        for name, height in ("a", 16), ("b", 16), ("c", 12):
            self.save(name, rng.integers(0, 256, (height, 20, 3), np.uint8))
        for n, photo in enumerate(scene(photos=3, height=40, width=48, seed=11)[0]):
            self.save(f"p{n + 1}", to_8_bit(photo))
        for name in "jpeg/grey.jpg", "tiff/grey-16-metadata.tif":
            shutil.copy(SOURCE / "tests/fuzz/corpus" / name, self.path)
        motion = {"transmitted": np.eye(3).tolist(), "reflected": [[1, 0, 2], [0, 1, 1], [0, 0, 1]]}
        (self.path / "T.json").write_text(json.dumps({"schema": "esra-transforms-1", "reference": 1, "width": 20,
                                                      "height": 16, "photos": [motion, motion]}))
        job = {"photos": TWICE, "output": "scene"}
        (self.path / "jobs.jsonl").write_text(json.dumps(job) + "\n")
        self.save_done(job)
        np.save(self.path / "G.npy", np.zeros((3, 2, 16, 20, 3), np.float32))
        np.save(self.path / "I.npy", rng.random((2, 9, 11), np.float32))
        np.save(self.path / "E.npy", rng.random((3, 2, 9, 11), np.float32) * 0.2)

    def save_done(self, job):
        """What a share that has done the job leaves, as far as --status looks at it."""
        (self.path / "finished" / job["output"]).mkdir(parents=True)
        (self.path / "finished" / job["output"] / "result.json").write_text("{}")
        found = [(self.path / name).stat() for name in job["photos"]]
        inputs = [[is_.st_size, is_.st_mtime_ns // 10**9, is_.st_mtime_ns % 10**9] for is_ in found]
        line = {"output": job["output"], "exit": 0, "seconds": 1.5, "message": "", "job": job, "inputs": inputs}
        (self.path / "finished" / "journal-1of1-here-1.jsonl").write_text(json.dumps(line) + "\n")

    def save(self, name, pixels):
        (self.path / f"{name}.png").write_bytes(png_bytes(pixels))

    def run_faulty(self, arguments, fault="", **options):
        done = self.run_esra(*arguments, env={**os.environ, "ESRA_FAULT": fault}, **options)
        self.assertNotEqual(done.returncode, 99, done.stderr)
        return done

    def calls(self, arguments, fault=""):
        """How often each call was made by a good run; its exit code."""
        tell = pathlib.Path(f"{self.folder.name}.tell")
        done = self.run_esra(*arguments, env={**os.environ, "ESRA_FAULT": fault, "ESRA_FAULT_TELL": str(tell)})
        counts = {name: int(count) for name, count in (line.split() for line in tell.read_text().splitlines())}
        tell.unlink()
        self.assertIn(done.returncode, (0, 10, 11), done.stderr)
        return counts, done.returncode

    def clear(self, outputs):
        for name in outputs:
            (self.path / name).unlink(missing_ok=True)
        if (self.path / "out").exists():
            (self.path / "out").rmdir()  # fails where there are strays

    def old_files(self, outputs):
        for name in outputs:
            (self.path / name).parent.mkdir(exist_ok=True)
            (self.path / name).write_bytes(b"old")

    def files(self):
        return {str(p.relative_to(self.path)): p.read_bytes() for p in self.path.rglob("*") if p.is_file()}

    def results(self, outputs):
        return {name: without_times(name, (self.path / name).read_bytes()) for name in outputs}

    def tries(self, name, fault):
        """The command with this fault, first where there is no earlier output and then where there is: whether there was,
        all files before, and the run."""
        arguments, _, outputs = COMMANDS[name]
        for old in False, True:
            if old:
                self.old_files(outputs)
            before = self.files()
            yield old, before, self.run_faulty(arguments, fault)
        self.clear(outputs)

    def fails(self, code, name, fault, message=None):
        """A run with this fault: the exit code, one line, and every file as it was, whether or not there was one."""
        for old, before, done in self.tries(name, fault):
            what = (name, fault, old, done.stderr)
            self.assertEqual(done.returncode, code, what)
            self.assertEqual(done.stderr.count(b"\n"), 1, what)
            if message:
                self.assertRegex(done.stderr.decode(), message, what)
            self.assertEqual(self.files(), before, what)


class SwapTest(FaultTest):
    """esra swap writes over what it reads: a table of outputs does not fit it. A folder before, and after."""
    ARGUMENTS = ["swap", "out", "-q"]

    def setUp(self):
        super().setUp()
        save_finished(self.path, *made_layers())
        self.found = self.files()
        self.assertEqual(self.run_faulty(self.ARGUMENTS).returncode, 0)
        self.exchanged = self.files()

    def put(self, state):
        shutil.rmtree(self.path / "out")
        for name, data in state.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_bytes(data)

    def ways(self):
        """From one state to the other, as a name, files before and files after."""
        for name, before, after in ("there", self.found, self.exchanged), ("back", self.exchanged, self.found):
            self.put(before)
            yield name, before, after
