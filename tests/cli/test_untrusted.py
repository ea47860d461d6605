"""--untrusted: the same answers from a decoder that can do nothing but decode."""
import json
import os
import resource
import subprocess
import unittest

import numpy as np

from cli import ESRA, UNTRUSTED, CliTest
from pictures import png_bytes, scene, to_8_bit

PHOTOS, _ = scene(photos=3, height=60, width=80)
NAMES = ["a.png", "b.png"]
THREE = [*NAMES, "c.png"]


class Unbuilt(CliTest):
    @unittest.skipIf(UNTRUSTED, "this build has libseccomp")
    def test_it_is_told(self):
        for command in "separate", "align", "compare", "synth", "info", "batch":
            words = {"synth": ["-t", "a", "-r", "b", "-o", "out"], "separate": ["a", "b", "-o", "out"],
                     "align": ["a", "b", "-o", "out"], "batch": ["a", "-o", "out"]}.get(command, ["a", "b"])
            self.complains(64, f"esra {command}: --untrusted: this esra was built without libseccomp; install libseccomp-dev "
                               "and build again", command, "--untrusted", *words)


@unittest.skipUnless(UNTRUSTED, "this build has no libseccomp")
class Untrusted(CliTest):
    def setUp(self):
        super().setUp()
        for name, photo in zip(THREE, PHOTOS):
            (self.path / name).write_bytes(png_bytes(to_8_bit(photo)))

    def test_separate(self):
        for output, extra in ("plain", []), ("apart", ["--untrusted"]):
            self.expect(0, "separate", *THREE, "-o", output, "-q", *extra)
        for name in "transmitted.png", "reflected-1.png", "reflected-2.png", "confidence.png":
            self.assertEqual((self.path / "plain" / name).read_bytes(), (self.path / "apart" / name).read_bytes())
        told = json.loads((self.path / "apart" / "result.json").read_text())
        self.assertEqual([photo["light"] for photo in told["photos"]], ["assumed sRGB"] * 3)

    def test_other_commands(self):
        for command in (["compare", *NAMES], ["align", *NAMES, "-o", "-"], ["info", *NAMES]):
            plain = self.expect(0, *command).stdout
            self.assertEqual(self.expect(0, *command, "--untrusted").stdout, plain)
        for output, extra in ("plain", []), ("apart", ["--untrusted"]):
            self.expect(0, "synth", "-t", "a.png", "-r", "b.png", "-n", "1", "--size", "40x30", "--shift", "2", "-o", output, *extra)
        self.assertEqual((self.path / "plain" / "photo-1.png").read_bytes(), (self.path / "apart" / "photo-1.png").read_bytes())

    def test_standard_input(self):
        plain = self.expect(0, "compare", *NAMES).stdout
        data = (self.path / "a.png").read_bytes()
        self.assertEqual(self.expect(0, "compare", "-", "b.png", "--untrusted", input=data).stdout, plain)
        with open(self.path / "a.png", "rb") as file:
            self.assertEqual(self.expect(0, "compare", "-", "b.png", "--untrusted", stdin=file).stdout, plain)

    def test_a_pipe_is_kept_once(self):
        """In a file in memory, and not in the program's own memory as well."""
        self.save_sparse("large.npy", (6000, 4000))
        with subprocess.Popen(["cat", self.path / "large.npy"], stdout=subprocess.PIPE) as cat:
            code, told, peak = self.measure("info", "-", "--untrusted", stdin=cat.stdout)
        self.assertEqual((code, told), (0, ""))
        self.assertLess(peak, 64 * 1024)

    def test_under_a_lower_limit_of_time(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        self.expect(0, "info", "a.png", "--untrusted", preexec_fn=limit, stderr="")

    def test_too_few_files_are_no_lack_of_seccomp(self):
        def few(most):
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.expect(75, "info", "a.png", "--untrusted", preexec_fn=few(7), stdout="",
                    stderr="esra info: cannot decode a.png apart: too few files may be open, or its limits cannot be set; "
                           "allow more (ulimit -n)\n")
        self.expect(0, "info", "a.png", "--untrusted", preexec_fn=few(12), stderr="")

    def test_errors_are_those_of_the_plain_mode(self):
        (self.path / "cut.png").write_bytes((self.path / "a.png").read_bytes()[:-200])
        (self.path / "größe.png").write_bytes((self.path / "cut.png").read_bytes())
        (self.path / "empty.png").write_bytes(b"")
        np.save(self.path / "nan.npy", np.full((60, 80), np.nan, np.float32))
        for name, code in ("cut.png", 65), ("größe.png", 65), ("empty.png", 65), ("nan.npy", 65), ("none.png", 66), (".", 66):
            plain = self.expect(code, "compare", name, "b.png", stdout="").stderr.decode()
            self.expect(code, "compare", name, "b.png", "--untrusted", stdout="", stderr=plain)

    def test_no_process_is_left(self):
        """The children are gone when esra is: none of them keeps its standard error open."""
        read, write = os.pipe()
        with open(self.path / "a.png", "rb") as file:
            done = subprocess.run([ESRA, "compare", "-", "b.png", "--untrusted"], cwd=self.path, stdin=file,
                                  stdout=subprocess.DEVNULL, stderr=write, pass_fds=[write], timeout=60)
        os.close(write)
        self.assertEqual((done.returncode, os.read(read, 100)), (0, b""))
        os.close(read)


if __name__ == "__main__":
    unittest.main(verbosity=2)
