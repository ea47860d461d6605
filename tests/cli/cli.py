"""What the command-line tests share: running esra, in a folder of its own."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ESRA = os.environ["ESRA"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = SOURCE.parent / "shared"
VERIFY = SOURCE / "tests" / "verify" / "verify.py"

PATIENCE_S = 5400  # as long as ctest has: sanitizers make one run of seconds take a quarter of an hour

# Shells have what they run in the background ignore it, and so would every esra started here.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Where the build has no libseccomp, --untrusted is a mistake.
UNTRUSTED = ["--untrusted"] if subprocess.run([ESRA, "info", "--untrusted", "/dev/null"], capture_output=True).returncode != 64 \
    else []


class CliTest(unittest.TestCase):
    """Each test runs in an empty folder, and leaves it when done."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_esra(self, *arguments, timeout=PATIENCE_S, **options):
        options.setdefault("capture_output", True)
        if "user" in options:
            options["env"] = self.counts_elsewhere(options.get("env", os.environ))
        return subprocess.run([ESRA, *map(str, arguments)], cwd=self.path, timeout=timeout, **options)

    def counts_elsewhere(self, environment):
        """A build for coverage keeps its counts beside its objects, and complains on standard error where another user may not."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o777)
        return {**environment, "GCOV_PREFIX": folder.name}

    def expect(self, code, *arguments, stdout=None, stderr=None, **options):
        """Runs esra and compares exit code, standard output and standard error with what is expected."""
        done = self.run_esra(*arguments, **options)
        told = done.stderr.decode()
        self.assertEqual(done.returncode, code, told)
        if stdout is not None:
            self.assertEqual(done.stdout.decode(), stdout)
        if stderr is not None:
            self.assertEqual(told, stderr)
        return done

    def measure(self, *arguments, **options):
        """Exit code, standard error, and the most memory that it had, in KiB: as a small process counts it, since the number
        goes on across exec and would be ours."""
        count = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
                 "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)")
        done = subprocess.run([sys.executable, "-S", "-c", count, ESRA, *map(str, arguments)], cwd=self.path,
                              capture_output=True, text=True, timeout=PATIENCE_S, **options)
        return done.returncode, done.stderr, int(done.stdout)

    def save_sparse(self, name, shape):
        """An array of zeros that the file system need not store."""
        with open(self.path / name, "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
            file.truncate(file.tell() + 4 * int(np.prod(shape, dtype=np.int64)))

    def complains(self, code, stderr, *arguments, **options):
        """Runs esra, which must fail with this one line and write nothing new."""
        before = {p: p.read_bytes() for p in self.path.rglob("*") if p.is_file()}
        self.expect(code, *arguments, stdout="", stderr=stderr + "\n", **options)
        after = {p: p.read_bytes() for p in self.path.rglob("*") if p.is_file()}
        self.assertEqual(before, after, "a failure must leave every file as it was, and no new one")
