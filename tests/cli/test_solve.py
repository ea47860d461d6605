"""esra solve: its promises to whoever calls it from a shell."""
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
import unittest

import numpy as np

from cli import ESRA, SHARED, VERIFY, CliTest

ACCURATE = ["--engine", "paper", "--gap", "1e-4", "--max-iterations", "200000", "--inner-tolerance", "1e-7",
            "--inner-iterations", "20000"]


def random_arrays(photos=2, shape=(9, 11), seed=1):
    rng = np.random.default_rng(seed)
    mixtures = rng.random((photos, *shape)).astype(np.float32)
    gradients = (0.1 * rng.standard_normal((photos + 1, 2, *shape))).astype(np.float32)
    return mixtures, gradients


class SolveTest(CliTest):
    def setUp(self):
        super().setUp()
        self.mixtures, self.gradients = random_arrays()
        np.save(self.path / "I.npy", self.mixtures)
        np.save(self.path / "E.npy", self.gradients)

    def solve(self, *extra, mixtures="I.npy", gradients="E.npy", mixing="0.8,0.9", output="L.npy"):
        return ["solve", "--mixtures", mixtures, "--gradients", gradients, "--mixing", mixing, "-o", output, *extra]

    def judge(self, claims, *extra, mixtures="I.npy", gradients="E.npy", mixing="0.8,0.9", lam="0.02", layers="L.npy",
              duals="U.npy"):
        """Has the independent program recompute F and D from the files."""
        (self.path / "claims.json").write_bytes(claims)
        return subprocess.run([sys.executable, VERIFY, "--mixtures", mixtures, "--gradients", gradients, "--mixing", mixing,
                               "--lambda", lam, "--layers", layers, "--duals", duals, "--claims", "claims.json", *extra],
                              cwd=self.path, capture_output=True)

    def verify(self, claims, *extra, **options):
        """Returns what it found, which must be what is claimed."""
        done = self.judge(claims, *extra, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def run_esra(self, *arguments, **options):
        """Whatever a test solves from files is solved once more, to the same layers, and that answer verified."""
        done = super().run_esra(*arguments, **options)
        words = list(map(str, arguments))
        if done.returncode in (0, 10) and "--mixtures" in words and "-" not in words:
            given = dict(zip(words, words[1:]))
            claims = super().run_esra(*words, "--json", "-o", "again.npy", "--duals", "again-u.npy").stdout
            if (self.path / given["-o"]).is_file():
                self.assertEqual((self.path / "again.npy").read_bytes(), (self.path / given["-o"]).read_bytes(), words)
            self.verify(claims, *(["--weights", given["--weights"]] if "--weights" in given else []),
                        mixtures=given["--mixtures"], gradients=given["--gradients"], mixing=given["--mixing"],
                        lam=given.get("--lambda", "0.02"), layers="again.npy", duals="again-u.npy")
            for name in "again.npy", "again-u.npy", "claims.json":
                (self.path / name).unlink()
        return done


class Results(SolveTest):
    def test_json_and_arrays(self):
        done = self.expect(0, *self.solve("--json", "--duals", "U.npy", *ACCURATE))
        told = json.loads(done.stdout)
        self.assertEqual(list(told), ["schema", "status", "objective", "bound", "gap", "iterations", "inner_iterations",
                                      "engine", "threads", "seconds"])
        self.assertEqual((told["schema"], told["status"], told["engine"]), ("esra-solve-1", "optimal", "paper"))
        layers = np.load(self.path / "L.npy")
        self.assertEqual((layers.shape, layers.dtype), ((3, 9, 11), np.float32))
        self.assertTrue(layers.min() >= 0 and layers.max() <= 1)
        self.verify(done.stdout)

    def test_weights(self):
        weights = np.random.default_rng(5).random(self.mixtures.shape) * (self.mixtures > 0.3)
        np.save(self.path / "W.npy", weights)
        done = self.expect(0, *self.solve("--json", "--duals", "U.npy", "--weights", "W.npy", *ACCURATE))
        self.verify(done.stdout, "--weights", "W.npy")

    def test_every_certificate_holds(self):
        """Both engines, one photo to three, grey and colour, with and without weights, stopped early or late."""
        for seed in range(16):
            rng = np.random.default_rng(seed)
            photos, engine = 1 + seed % 3, ("fast", "paper")[seed // 2 % 2]
            self.mixtures, self.gradients = random_arrays(photos, (8, 7, 3) if seed % 2 else (8, 7), seed)
            np.save(self.path / "I.npy", self.mixtures)
            np.save(self.path / "E.npy", self.gradients)
            np.save(self.path / "W.npy", rng.random((photos, 8, 7)) * (rng.random((photos, 8, 7)) > 0.2))
            weights = ["--weights", "W.npy"] if seed % 4 < 2 else []
            mixing, lam = ",".join(f"{a:.3f}" for a in rng.uniform(0.5, 1, photos)), str(rng.choice([0.001, 0.02, 0.3]))
            done = self.run_esra(*self.solve("--json", "--duals", "U.npy", "--engine", engine, "--lambda", lam, *weights,
                                             "--max-iterations", str(rng.integers(1, 60)), mixing=mixing))
            self.assertIn(done.returncode, (0, 10), done.stderr)
            self.verify(done.stdout, *weights, mixing=mixing, lam=lam)

    def test_false_claims_are_seen(self):
        """What the verifier is for: an objective, a bound or a gap that the arrays do not bear out, layers or duals that are
        not those."""
        done = self.expect(0, *self.solve("--json", "--duals", "U.npy", *ACCURATE))
        told = json.loads(done.stdout)
        self.verify(done.stdout)
        for key, factor in ("objective", 1.001), ("objective", 0.999), ("bound", 1.001), ("gap", 0.5):
            claims = json.dumps({**told, key: told[key] * factor}).encode()
            self.assertNotEqual(self.judge(claims).returncode, 0, (key, factor))
        for name, key in ("L.npy", "layers"), ("U.npy", "duals"):
            array = np.load(self.path / name)
            np.save(self.path / "other.npy", array[..., ::-1])
            self.assertNotEqual(self.judge(done.stdout, **{key: "other.npy"}).returncode, 0, name)

    def test_gap_not_reached_is_10_and_written(self):
        done = self.expect(10, *self.solve("--gap", "1e-9", "--max-iterations", "3", "--json", "--duals", "U.npy"))
        self.assertEqual(json.loads(done.stdout)["status"], "inaccurate")
        self.assertIn(b"allow more --max-iterations", done.stderr)
        self.verify(done.stdout)

    def test_no_gap_asked_for_is_0(self):
        self.expect(0, *self.solve("--gap", "0", "--max-iterations", "3"))

    def test_quiet_says_nothing(self):
        self.expect(0, *self.solve("--quiet", *ACCURATE), stdout="", stderr="")

    def test_layouts_and_types_give_the_same_layers(self):
        self.expect(0, *self.solve(*ACCURATE))
        reference = (self.path / "L.npy").read_bytes()
        for dtype in "<f4", ">f4", "<f8", ">f8":
            for order in "C", "F":
                np.save(self.path / "I2.npy", np.asarray(self.mixtures, dtype, order=order))
                np.save(self.path / "E2.npy", np.asarray(self.gradients, dtype, order=order))
                self.expect(0, *self.solve(*ACCURATE, mixtures="I2.npy", gradients="E2.npy", output="L2.npy"))
                self.assertEqual((self.path / "L2.npy").read_bytes(), reference, (dtype, order))

    def test_npy_versions(self):
        for version in (1, 0), (2, 0), (3, 0):
            with open(self.path / "I.npy", "wb") as file:
                np.lib.format.write_array(file, self.mixtures, version=version)
            self.expect(0, *self.solve("--gap", "0", "--max-iterations", "1"))

    def test_channels_are_solved_as_if_alone(self):
        mixtures, gradients = random_arrays(shape=(6, 7, 3), seed=2)
        np.save(self.path / "I.npy", mixtures)
        np.save(self.path / "E.npy", gradients)
        self.expect(0, *self.solve("--gap", "0", "--max-iterations", "5"))
        colour = np.load(self.path / "L.npy")
        self.assertEqual(colour.shape, (3, 6, 7, 3))
        for channel in range(3):
            np.save(self.path / "I.npy", mixtures[..., channel])
            np.save(self.path / "E.npy", gradients[..., channel])
            self.expect(0, *self.solve("--gap", "0", "--max-iterations", "5"))
            np.testing.assert_array_equal(np.load(self.path / "L.npy"), colour[..., channel])

    def test_threads_give_the_same_bits(self):
        results = set()
        for threads in 1, 2, 3, 8:
            self.expect(0, *self.solve("--threads", str(threads), "--gap", "0", "--max-iterations", "20"))
            results.add((self.path / "L.npy").read_bytes())
        self.assertEqual(len(results), 1)

    def test_standard_streams(self):
        self.expect(0, *self.solve(*ACCURATE))
        done = self.run_esra(*self.solve(*ACCURATE, mixtures="-", output="-"), input=(self.path / "I.npy").read_bytes())
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(np.load(io.BytesIO(done.stdout)), np.load(self.path / "L.npy"))

    def test_ignored_gradients_may_be_nan(self):
        self.expect(0, *self.solve("--gap", "0", "--max-iterations", "3"))
        reference = (self.path / "L.npy").read_bytes()
        self.gradients[:, 0, -1] = np.nan
        self.gradients[:, 1, :, -1] = np.nan
        np.save(self.path / "E.npy", self.gradients)
        self.expect(0, *self.solve("--gap", "0", "--max-iterations", "3"))
        self.assertEqual((self.path / "L.npy").read_bytes(), reference)

    def test_progress_lines(self):
        done = self.expect(0, *self.solve("--progress=json", *ACCURATE))
        lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith(b"{")]
        self.assertGreater(len(lines), 2)
        gaps = [line["gap"] for line in lines]
        self.assertEqual(gaps, sorted(gaps, reverse=True))

    def test_a_terminal_sees_a_bar(self):
        for no_color, has_colour in (None, True), ("1", False):
            environment = {**os.environ, "TERM": "xterm"}
            environment.pop("NO_COLOR", None)
            if no_color:
                environment["NO_COLOR"] = no_color
            try:
                master, slave = pty.openpty()
            except OSError as reason:
                self.skipTest(f"no terminal can be made here: {reason}")
            process = subprocess.Popen([ESRA, *self.solve(*ACCURATE)], cwd=self.path, stderr=slave,
                                       stdout=subprocess.DEVNULL, env=environment)
            os.close(slave)
            seen = b""
            try:
                while chunk := os.read(master, 4096):
                    seen += chunk
            except OSError:  # the terminal is gone once the program has ended
                pass
            os.close(master)
            self.assertEqual(process.wait(), 0)
            self.assertIn(b"solving [", seen)
            self.assertEqual(b"\033[32m" in seen, has_colour)


class Golden(SolveTest):
    def test_golden_problems(self):
        if not SHARED.is_dir():
            self.skipTest("../shared is not here")
        for folder in sorted((SHARED / "golden").iterdir()):
            with self.subTest(folder.name):
                truth = json.loads((folder / "problem.json").read_text())
                mixing, lam = ",".join(map(str, truth["mixing"])), str(truth["lambda"])
                for name, source in ("I.npy", "mixtures.npy"), ("E.npy", "gradients.npy"):
                    (self.path / name).write_bytes((folder / source).read_bytes())
                done = self.expect(0, *self.solve(*ACCURATE, "--lambda", lam, "--json", "--duals", "U.npy", mixing=mixing))
                found, told = self.verify(done.stdout, mixing=mixing, lam=lam), json.loads(done.stdout)
                error = found["objective"] / truth["optimum"] - 1
                self.assertLess(error, 1e-4)
                # The optimum itself is only known to 2e-6.
                self.assertLessEqual(error, told["gap"] + 2e-6)
                self.assertLessEqual(told["bound"], truth["optimum"] * (1 + 2e-6))


class Mistakes(SolveTest):
    def test_usage(self):
        see = "; see 'esra help solve'"
        for line, arguments in [
            ("esra: which command? Try 'esra help'", []),
            ("esra: there is no command 'dissolve'; 'esra help' lists them", ["dissolve"]),
            ("esra solve: --mixtures FILE is missing" + see, ["solve"]),
            ("esra solve: --mixing a_1,...,a_m is missing" + see,
             ["solve", "--mixtures", "I.npy", "--gradients", "E.npy", "-o", "L.npy"]),
            ("esra solve: --wrong: unknown option" + see, self.solve("--wrong")),
            ("esra solve: --lambda: missing argument" + see, self.solve("--lambda")),
            ("esra solve: --lambda takes a number, not 'much'", self.solve("--lambda", "much")),
            ("esra solve: --threads takes a whole number, not '1.5'", self.solve("--threads", "1.5")),
            ("esra solve: unexpected word 'extra'" + see, self.solve("extra")),
            ("esra solve: --progress takes one of auto|json|none, not 'loud'", self.solve("--progress", "loud")),
            ("esra solve: only one input can come from standard input", self.solve(mixtures="-", gradients="-")),
            ("esra solve: --output and --duals name one file; give them two", self.solve("--duals", "L.npy")),
            ("esra solve: only one of --output, --duals and --json can go to standard output",
             self.solve("--json", output="-")),
            ("esra help: there is no command 'dissolve'; 'esra help' lists them", ["help", "dissolve"]),
            ("esra help: --format takes one of text|man|bash|zsh|fish, not 'pdf'", ["help", "--format", "pdf"]),
        ]:
            with self.subTest(line):
                self.complains(64, line, *arguments)

    def test_settings_out_of_range(self):
        for line, arguments in [
            ("--lambda takes a number from 0 to 1000000, not '-1'", ["--lambda", "-1"]),
            ("--lambda takes a number from 0 to 1000000, not 'nan'", ["--lambda", "nan"]),
            ("--gap takes a number from 0 to 1, not '2'", ["--gap", "2"]),
            ("--inner-iterations takes a number from 1 to 1000000000, not '0'", ["--inner-iterations", "0"]),
            ("--threads takes a number from 0 to 256, not '99999999999'", ["--threads", "99999999999"]),
        ]:
            with self.subTest(line):
                self.complains(64, "esra solve: " + line, *self.solve(*arguments))

    def test_mixing_out_of_range(self):
        for line, arguments in [
            ("mixing coefficient 2 is -0.5: it must lie in [0, 1000]", ["--mixing", "0.5,-0.5"]),
            ("--mixing has 3 coefficient(s), but I.npy holds 2 photo(s): give one each", ["--mixing", "1,1,1"]),
            ("--mixing '1,x' is not a list of numbers such as 0.8,0.85", ["--mixing", "1,x"]),
        ]:
            with self.subTest(line):
                self.complains(65, "esra solve: " + line, *self.solve(*arguments))

    def test_shapes(self):
        np.save(self.path / "flat.npy", np.zeros((9, 11), np.float32))
        np.save(self.path / "short.npy", self.gradients[:2])
        np.save(self.path / "empty.npy", np.zeros((2, 0, 3), np.float32))
        np.save(self.path / "whole.npy", np.zeros((2, 9, 11), np.int32))
        for line, arguments in [
            ("mixtures flat.npy have shape (9, 11): (m,h,w) or (m,h,w,c) is needed", self.solve(mixtures="flat.npy")),
            ("gradients short.npy have shape (2, 2, 9, 11), but mixtures of shape (2, 9, 11) need (3, 2, 9, 11)",
             self.solve(gradients="short.npy")),
            ("weights flat.npy have shape (9, 11), but mixtures of shape (2, 9, 11) need (2, 9, 11)",
             self.solve("--weights", "flat.npy")),
            ("empty.npy is empty: dimension 2 of its shape is 0", self.solve(mixtures="empty.npy")),
            ("whole.npy holds samples of type <i4, not float32 or float64; convert with .astype('float32')",
             self.solve(mixtures="whole.npy")),
        ]:
            with self.subTest(line):
                self.complains(65, "esra solve: " + line, *arguments)

    def test_samples(self):
        for value, line in [
            (np.nan, "mixture 2 holds nan at row 3, column 4: replace what is not a finite number"),
            (-np.inf, "mixture 2 holds -inf at row 3, column 4: replace what is not a finite number"),
            (5e6, "mixture 2 holds 5e+06 at row 3, column 4: values must lie in [-1e+06, 1e+06]; rescale them"),
        ]:
            with self.subTest(line):
                self.mixtures[1, 3, 4] = value
                np.save(self.path / "I.npy", self.mixtures)
                self.complains(65, "esra solve: " + line, *self.solve())

    def test_no_such_input(self):
        (self.path / "sub").mkdir()
        self.complains(66, "esra solve: cannot read no.npy: No such file or directory", *self.solve(mixtures="no.npy"))
        self.complains(66, "esra solve: cannot read sub: it is a folder; name a file in it", *self.solve(mixtures="sub"))

    def test_no_such_output_folder(self):
        self.complains(73, "esra solve: cannot write no/L.npy: No such file or directory", *self.solve(output="no/L.npy"))
        (self.path / "sub").mkdir()
        self.complains(73, "esra solve: cannot write sub: Is a directory", *self.solve(output="sub"))
        self.complains(73, "esra solve: cannot write new/: Is a directory", *self.solve(output="new/"))
        self.complains(73, "esra solve: cannot write a file without a name", *self.solve(output=""))
        (self.path / "dangling").symlink_to("nowhere")
        self.complains(73, "esra solve: cannot write dangling: it is a link to a file that does not exist",
                       *self.solve(output="dangling"))

    def test_two_outputs_are_two_files(self):
        (self.path / "in").mkdir()
        (self.path / "same").symlink_to("in")
        os.link(self.path / "I.npy", self.path / "in" / "other.npy")
        (self.path / "in" / "link.npy").symlink_to("other.npy")
        for output, duals in [("L.npy", "./L.npy"), ("in/L.npy", "same/L.npy"), ("in/../L.npy", "L.npy"),
                              ("in/other.npy", "in/link.npy")]:
            with self.subTest(duals):
                self.complains(64, "esra solve: --output and --duals name one file; give them two",
                               *self.solve("--duals", duals, output=output))
        done = self.expect(0, *self.solve("--duals", "./-", "--gap", "0", "--max-iterations", "1", output="-"))
        self.assertEqual(np.load(io.BytesIO(done.stdout)).shape, (3, 9, 11), "standard output is no file called '-'")
        self.assertEqual(np.load(self.path / "-").shape, (3, 2, 9, 11))

    def test_no_input_is_written_over(self):
        np.save(self.path / "W.npy", np.ones((2, 9, 11), np.float32))
        told = "esra solve: {} is one of the inputs, and would be written over: choose another name or folder"
        weights = "--weights", "W.npy"
        for arguments, name in [(self.solve(output="I.npy"), "I.npy"), (self.solve("--duals", "./E.npy"), "./E.npy"),
                                (self.solve(*weights, output="W.npy"), "W.npy")]:
            with self.subTest(name):
                self.complains(73, told.format(name), *arguments)
        with open(self.path / "I.npy", "rb") as mixtures:
            self.complains(73, told.format("I.npy"), *self.solve(mixtures="-", output="I.npy"), stdin=mixtures)

    def test_control_characters_do_not_reach_the_terminal(self):
        self.complains(66, "esra solve: cannot read a?b?[31m: No such file or directory",
                       *self.solve(mixtures="a\nb\033[31m"))


class HostileArrays(SolveTest):
    def try_bytes(self, data, line):
        (self.path / "I.npy").write_bytes(data)
        self.complains(65, "esra solve: " + line, *self.solve())
        done = self.run_esra(*self.solve(mixtures="-"), input=data)
        self.assertEqual(done.returncode, 65, done.stderr)

    def header(self, text, version=b"\x01\x00", length=None):
        size = len(text) if length is None else length
        return b"\x93NUMPY" + version + size.to_bytes(2 if version == b"\x01\x00" else 4, "little") + text

    def test_every_truncation(self):
        whole = (self.path / "I.npy").read_bytes()
        for size in [*range(0, 140), len(whole) - 1]:
            (self.path / "I.npy").write_bytes(whole[:size])
            for stream in False, True:
                done = self.run_esra(*self.solve(mixtures="-" if stream else "I.npy"), input=whole[:size])
                self.assertEqual(done.returncode, 65, (size, stream, done.stderr))
                self.assertIn(b"truncated", done.stderr)
                self.assertFalse((self.path / "L.npy").exists())

    def test_too_long(self):
        whole = (self.path / "I.npy").read_bytes()
        (self.path / "I.npy").write_bytes(whole + b"x")
        self.complains(65, "esra solve: I.npy is too long: its header promises 792 byte(s) of samples, 793 are there; "
                       "make it again", *self.solve())

    def test_headers(self):
        foreign = "I.npy has a header that is not NumPy's; save it again with numpy.save"
        good = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 9, 11), }"
        for data, line in [
            (b"not an array at all", "I.npy is not a .npy file; save the array with numpy.save"),
            (self.header(good, b"\x09\x00", 0) + bytes(792),
             "I.npy is .npy version 9, and versions 1 to 3 are known; save it again"),
            (self.header(b"{}"), foreign),
            (self.header(b"{" * 200), foreign),
            (self.header(b"'" * 200), foreign),
            (self.header(good[:-1]), foreign),
            (self.header(good + b"{"), foreign),
            (self.header(good.replace(b"False", b"Maybe")), foreign),
            (self.header(good.replace(b"(2, 9, 11)", b"(-2, 9, 11)")), foreign),
            (self.header(good.replace(b"(2, 9, 11)", b"(2, 9, 11")), foreign),
            (self.header(good.replace(b"(2, 9, 11)", b"(2 9 11)")), foreign),
            (self.header(good.replace(b"(2, 9, 11)", b"(1, 1, 1, 1, 1, 1, 1, 1, 1)")), foreign),
            (self.header(good.replace(b"(2, 9, 11)", b"(99999999999999999999, 1, 1)")), foreign),
            (self.header(good.replace(b"'descr'", b"'fortran_order'")), foreign),
            (self.header(good.replace(b"(2, 9, 11)", b"(4294967296, 4294967296, 4294967296)")),
             "I.npy claims more samples than any machine can hold"),
            (self.header(good.replace(b"(2, 9, 11)", b"(2147483648, 2147483648, 1)")),
             "I.npy claims more samples than any machine can hold"),
            (self.header(b"", b"\x02\x00", 2**31), "I.npy claims a header of 2147483648 bytes, over the limit of 10000"),
        ]:
            with self.subTest(data[:80]):
                self.try_bytes(data, line)

    def test_a_claimed_terabyte_takes_no_memory(self):
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 500000, 500000), }"
        read, write = os.pipe()
        os.write(write, self.header(text) + bytes(100))
        os.close(write)
        code, _, peak = self.measure(*self.solve(mixtures="-"), stdin=read)
        os.close(read)
        self.assertEqual(code, 65)
        self.assertLess(peak, 64 * 1024)

    def test_arrays_that_do_not_fit_take_no_memory(self):
        self.save_sparse("sparse.npy", (100000000,))
        for arguments, line in [
            (self.solve(mixtures="sparse.npy"), "mixtures sparse.npy have shape (100000000,): (m,h,w) or (m,h,w,c) is needed"),
            (self.solve(gradients="sparse.npy"),
             "gradients sparse.npy have shape (100000000,), but mixtures of shape (2, 9, 11) need (3, 2, 9, 11)"),
            (self.solve("--weights", "sparse.npy"),
             "weights sparse.npy have shape (100000000,), but mixtures of shape (2, 9, 11) need (2, 9, 11)"),
        ]:
            code, told, peak = self.measure(*arguments)
            self.assertEqual((code, told), (65, f"esra solve: {line}\n"))
            self.assertLess(peak, 64 * 1024)


class Limits(SolveTest):
    def test_out_of_memory(self):
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1500000, 1500000), }"
        with open(self.path / "I.npy", "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
            try:
                file.truncate(10 + len(text) + 4 * 1500000 * 1500000)
            except OSError as reason:
                self.skipTest(f"no sparse file of 9 TB can be made here: {reason}")
        keep = "allocator_may_return_null=1"
        environment = {**os.environ, "ASAN_OPTIONS": keep, "TSAN_OPTIONS": keep}
        done = self.expect(75, *self.solve(mixing="1"), env=environment, stdout="")
        # A sanitizer has its own word first.
        self.assertEqual(done.stderr.decode().splitlines()[-1],
                         "esra solve: out of memory: free some, or solve a smaller problem")


class Outputs(SolveTest):
    def test_closed_standard_streams_do_not_leak_into_files(self):
        for redirection in "<&-", ">&-", "2>&-":
            line = " ".join([ESRA, *self.solve("--json", "--progress=json", "--gap", "0", "--max-iterations", "3")])
            subprocess.run(["sh", "-c", line + " " + redirection], cwd=self.path, capture_output=True)
            self.assertEqual(np.load(self.path / "L.npy").shape, (3, 9, 11), redirection)
            self.assertEqual((self.path / "L.npy").stat().st_size, 128 + 3 * 9 * 11 * 4, redirection)

    def test_special_files_are_written_as_they_stand(self):
        self.expect(0, *self.solve("-q", "--gap", "0", output="/dev/null"))
        done = subprocess.run(["sh", "-c", " ".join([ESRA, *self.solve("-q", "--gap", "0", output="/dev/stdout")]) + " | cat"],
                              cwd=self.path, capture_output=True)
        self.assertEqual(np.load(io.BytesIO(done.stdout)).shape, (3, 9, 11))

    def test_a_full_disk_keeps_the_old_file(self):
        limit = lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_FSIZE, (200, 200))
        (self.path / "L.npy").write_text("old")
        self.complains(74, "esra solve: writing L.npy broke off: File too large", *self.solve("-q"), preexec_fn=limit)

    def test_an_ignored_interrupt_stays_ignored(self):
        line = "trap '' INT; exec " + " ".join([ESRA, *self.solve("--gap", "0", "--max-iterations", "200", "--progress=json")])
        process = subprocess.Popen(["sh", "-c", line], cwd=self.path, stderr=subprocess.PIPE)
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_an_existing_file_keeps_its_mode_and_links(self):
        (self.path / "real.npy").write_text("old")
        (self.path / "real.npy").chmod(0o640)
        (self.path / "L.npy").symlink_to("real.npy")
        self.expect(0, *self.solve("--gap", "0"))
        self.assertTrue((self.path / "L.npy").is_symlink())
        self.assertEqual((self.path / "real.npy").stat().st_mode & 0o777, 0o640)
        self.assertEqual(np.load(self.path / "real.npy").shape, (3, 9, 11))
        self.assertEqual(sorted(p.name for p in self.path.iterdir()), ["E.npy", "I.npy", "L.npy", "real.npy"])

    def test_failures_keep_the_old_file(self):
        (self.path / "L.npy").write_text("old")
        self.complains(65, "esra solve: mixing coefficient 1 is -1: it must lie in [0, 1000]", *self.solve("--mixing", "-1,1"))
        self.assertEqual((self.path / "L.npy").read_text(), "old")

    def test_a_full_device(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        self.expect(74, *self.solve("-q", output="/dev/full"),
                    stderr="esra solve: writing /dev/full broke off: No space left on device\n")
        with open("/dev/full", "wb") as full:
            done = self.run_esra(*self.solve("-q", "--json"), capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 74, done.stderr)

    def test_a_closed_pipe(self):
        read, write = os.pipe()
        os.close(read)
        done = self.run_esra(*self.solve("-q", output="-"), capture_output=False, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        self.assertEqual(done.returncode, 74)
        self.assertEqual(done.stderr, b"esra solve: writing standard output broke off: Broken pipe\n")

    def interrupt(self, number, *extra):
        """Sends a signal to a run that would last for minutes; returns the finished process and what it said."""
        mixtures, gradients = random_arrays(shape=(300, 300))
        np.save(self.path / "I.npy", mixtures)
        np.save(self.path / "E.npy", gradients)
        slow = ["--gap", "0", "--max-iterations", "1000000", "--inner-tolerance", "0", "--inner-iterations", "100000000",
                "--engine", "paper"]
        process = subprocess.Popen([ESRA, *self.solve(*slow, "--progress=json", *extra)], cwd=self.path,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = process.stderr.readline()  # the run has begun
        process.send_signal(number)
        rest = process.communicate(timeout=60)[1]
        return process, first + rest

    def test_interrupted(self):
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143):
            process, told = self.interrupt(number)
            self.assertEqual(process.returncode, code)
            self.assertIn(b"esra solve: interrupted; nothing was written\n", told)
            self.assertFalse((self.path / "L.npy").exists())

    def write_to_nobody(self, *extra):
        """A run that waits for a reader who reads no more."""
        mixtures, gradients = random_arrays(shape=(300, 300))
        np.save(self.path / "I.npy", mixtures)
        np.save(self.path / "E.npy", gradients)
        process = subprocess.Popen([ESRA, *self.solve("--max-iterations", "1", "--gap", "0", "-q", *extra, output="-")],
                                   cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        os.read(process.stdout.fileno(), 1)
        return process

    def test_interrupted_while_it_writes(self):
        process = self.write_to_nobody()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 143)
        self.assertEqual(process.stderr.read(), b"esra solve: interrupted; nothing was written\n")

    def test_who_insists_is_heeded(self):
        """What is to be kept is written, however long that takes, but not against one who asks again."""
        process = self.write_to_nobody("--keep-partial")
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(1)
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)

    def test_interrupted_but_kept(self):
        process, _ = self.interrupt(signal.SIGINT, "--keep-partial", "--json")
        self.assertEqual(process.returncode, 130)
        self.assertEqual(np.load(self.path / "L.npy").shape, (3, 300, 300))


class Help(CliTest):
    def test_version(self):
        done = self.expect(0, "--version", stderr="")
        self.assertRegex(done.stdout.decode(), r"^esra \d+\.\d+\.\d+\n$")

    def test_help_is_the_same_however_asked(self):
        overview = self.expect(0, "help", stderr="").stdout
        self.assertEqual(self.expect(0, "--help").stdout, overview)
        self.assertIn(b"Exit codes:", overview)
        page = self.expect(0, "help", "solve", stderr="").stdout
        self.assertEqual(self.expect(0, "solve", "--help").stdout, page)
        for word in b"--mixtures", b"--lambda X", b"--keep-partial", b"(default 0.02)", b"\nSettings; the defaults suit most photos:\n":
            self.assertIn(word, page)
        for command in "separate", "batch", "bench":
            self.assertNotIn(b" \n", self.expect(0, "help", command).stdout, "no line ends in a blank")
        self.assertTrue(self.expect(0, "help", "bench").stdout.endswith(b"\n\nExamples:\n  esra bench kernels\n  esra bench "
                                                                        b"kernels --json\n"))

    def test_completions_are_accepted_by_their_shells(self):
        for shell in "bash", "zsh", "fish":
            script = self.expect(0, "help", "--format", shell, stderr="").stdout
            self.assertIn(b"inner-tolerance", script)
            (self.path / shell).write_bytes(script)
            try:
                done = subprocess.run([shell, "-n", self.path / shell], capture_output=True)
            except FileNotFoundError:
                continue
            self.assertEqual((done.returncode, done.stderr), (0, b""), shell)

    def test_bash_completion_completes(self):
        script = self.expect(0, "help", "--format", "bash").stdout.decode()
        for typed, offered in ("--inner-t", "--inner-tolerance"), ("-o", "-o"):
            ask = f'{script}\nCOMP_WORDS=(esra solve {typed}); COMP_CWORD=2; _esra; echo "${{COMPREPLY[@]}}"\n'
            done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True)
            self.assertEqual(done.stdout, offered + "\n")

    def test_man_page_names_every_option(self):
        page = self.expect(0, "help", "--format", "man", stderr="").stdout.replace(b"\\-", b"-")
        self.assertIn(b".TH ESRA 1", page)
        for word in b"--mixtures", b"--inner-tolerance", b"as published (default fast)", b"EXIT STATUS", b"NO_COLOR":
            self.assertIn(word, page)


if __name__ == "__main__":
    unittest.main(verbosity=2)
