"""SIGKILL at random moments and at every call that touches a file: each output is the whole old or the whole new one.
ESRA_TEST_ALL=1 kills 1,000 times instead of 100."""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from faulty import COMMANDS, ESRA, FULL, WRITERS, FaultTest, SwapTest, without_times

STRAY = re.compile(r"^(out/)?\.[A-Za-z0-9-]+\.[a-z]+\.esra-[0-9a-f]{8}-\d+-\d+$")


class Kills(FaultTest):
    def setUp(self):
        """Outputs of one photo stand there; those of another are to replace them."""
        super().setUp()
        self.new_arguments, _, self.outputs = COMMANDS["separate to png"]
        self.old_arguments = ["c.png" if word == "a.png" else word for word in self.new_arguments]
        self.new, self.old = self.make(self.new_arguments), self.make(self.old_arguments)
        self.assertTrue(all(self.new[name] != self.old[name] for name in self.outputs))

    def make(self, arguments):
        self.assertEqual(self.run_faulty(arguments).returncode, 11)
        return self.results(self.outputs)

    def check(self, what):
        """Returns how many outputs are new, and how many strays there are."""
        new = 0
        names = {name for name in self.files() if name.startswith("out/")}
        for name, data in self.results(self.outputs).items():
            self.assertIn(data, (self.new[name], self.old[name]), (what, name, "is neither the old nor the new file"))
            new += data == self.new[name]
        strays = names - set(self.outputs)
        self.assertTrue(all(STRAY.match(name) for name in strays), strays)
        return new, len(strays)

    def test_at_every_call(self):
        counts, _ = self.calls(self.new_arguments)
        seen, strays = set(), 0
        # All but the last calls fill nameless files: a sample of those is enough.
        last = counts["io"]
        calls = range(1, last + 1) if FULL else [*range(1, last - 60, 17), *range(last - 60, last + 1)]
        for n in calls:
            self.make(self.old_arguments)
            done = self.run_faulty(self.new_arguments, f"io:{n}:kill")
            self.assertEqual(done.returncode, -signal.SIGKILL)
            new, left = self.check(f"io:{n}")
            seen.add(new)
            strays += left
            self.assertLessEqual(left, 1)
        self.make(self.new_arguments)
        self.assertEqual(self.check("afterwards"), (len(self.outputs), 0), "the next run clears strays away")
        self.assertTrue({0, 1, len(self.outputs) - 1} <= seen)
        print(f"killed at {len(calls)} of {counts['io']} calls: every file old or new; {strays} times a name was left "
              "between link and rename, and cleared by the next run")

    def kill(self, name, after_s, good, old):
        """A run killed after so long, where there are old files or none: the exit code, how many outputs are new, and how
        many strays there are."""
        arguments, _, outputs = COMMANDS[name]
        if old:
            self.old_files(outputs)
        before = self.files()
        process = subprocess.Popen([ESRA, *arguments], cwd=self.path)
        time.sleep(after_s)
        process.kill()
        code, new, strays = process.wait(), 0, 0
        for path, data in self.files().items():
            if path not in before and path not in outputs:
                self.assertRegex(path, STRAY)
                strays += 1
            elif data != before.get(path):
                self.assertEqual(without_times(path, data), good[path], (name, path, "is neither the old nor the new file"))
                new += 1
        self.assertTrue(not old or set(outputs) <= set(self.files()), name)
        return code, new, strays

    def test_at_random_moments(self):
        """Every command that writes. Where there was no file a kill leaves no other name; where there was, one, that the next
        run clears away."""
        seed = int(os.environ.get("ESRA_TEST_SEED", "1"))
        chance = random.Random(seed)
        shutil.rmtree(self.path / "out")
        good, usual = {}, {}
        for name in WRITERS:
            arguments, _, outputs = COMMANDS[name]
            start = time.monotonic()
            code = self.run_faulty(arguments).returncode
            good[name], usual[name] = (code, self.results(outputs)), time.monotonic() - start
            self.clear(outputs)
        times = 1000 if FULL else 100
        killed = replaced = left = 0
        for n in range(times):
            name, old = WRITERS[n % len(WRITERS)], n // len(WRITERS) % 2
            outputs = COMMANDS[name][2]
            code, new, strays = self.kill(name, chance.uniform(0, 1.1 * usual[name]), good[name][1], old)
            what = f"{name}, round {n}, seed {seed}"
            self.assertIn(code, (-signal.SIGKILL, good[name][0]), what)
            self.assertEqual(new, len(outputs) if code >= 0 else new, what)
            self.assertLessEqual(strays, int(old and code < 0), what)
            if strays:
                self.run_faulty(COMMANDS[name][0])
            self.clear(outputs)
            self.assertEqual([path for path in self.files() if STRAY.match(path)], [], what)
            killed, replaced, left = killed + (code < 0), replaced + (code < 0 and new > 0), left + strays
        self.assertGreater(killed, times // 4)
        print(f"{times} kills at random (seed {seed}) over {len(WRITERS)} commands: {killed} hit, {replaced} of them amid files put "
              f"in place, all whole; {left} strays, all where old files were, none after the next run")

    def test_interrupted_at_every_call(self):
        """SIGINT while files are written: nothing is, exit 130; while they are put in place: all of them are."""
        counts, _ = self.calls(self.new_arguments)
        self.make(self.old_arguments)
        stopped = finished = 0
        for n in range(1, counts["io"] + 1, 1 if FULL else 9):
            done = self.run_faulty(self.new_arguments, f"io:{n}:interrupt")
            new, left = self.check(n)
            if done.returncode == 130:
                self.assertEqual((new, left, done.stderr), (0, 0, b"esra separate: interrupted; nothing was written\n"))
                stopped += 1
            else:
                self.assertEqual((done.returncode, new, left), (11, len(self.outputs), 0), done.stderr)
                finished += 1
                self.make(self.old_arguments)
        self.assertTrue(stopped and finished)
        print(f"interrupted at {stopped + finished} calls: {stopped} times nothing was written, {finished} times all was")

    def test_interrupted_and_failing_amid_files(self):
        """A signal stops no files on their way into place; where the device fails then, it is told that some are."""
        self.make(self.old_arguments)
        broken = r"interrupted, and writing out/\S+ broke off: Input/output error; some files are new, the others as they were"
        for n, told in (1, "interrupted; nothing was written"), (2, broken), (len(self.outputs), broken):
            done = self.run_faulty(self.new_arguments, f"sync:1:interrupt,link:{n}:EIO")
            self.assertEqual(done.returncode, 130, done.stderr)
            self.assertRegex(done.stderr.decode(), f"^esra separate: {told}\n$")
            self.assertEqual(self.check(n), (n - 1, 0))
            self.make(self.old_arguments)
        done = self.run_faulty(COMMANDS["synth"][0], "sync:1:interrupt,link:2:EIO")
        self.assertRegex(done.stderr.decode(), f"^esra synth: {broken}\n$")

    def test_without_nameless_files(self):
        """Where the file system has no O_TMPFILE, a kill leaves names; the next run clears them away."""
        writes = self.calls(self.new_arguments)[0]["write"]
        for n in 1, writes // 2, writes:
            self.make(self.old_arguments)
            done = self.run_faulty(self.new_arguments, f"tmpfile:1+:EOPNOTSUPP,write:{n}:kill")
            self.assertEqual(done.returncode, -signal.SIGKILL)
            new, left = self.check(n)
            self.assertEqual(new, 0)
            self.assertGreater(left, 0)
        self.make(self.new_arguments)
        self.assertEqual(self.check("afterwards"), (len(self.outputs), 0))

    def test_names_as_long_as_they_may_be(self):
        """The temporary's name has more to it than the file's, and is still found where a kill has left it."""
        for name in "x" * 250 + ".json", "\u00e9" * 125 + ".json", "\u00e9" * 49 + "x" * 152 + ".json":
            (self.path / "long").mkdir()
            arguments = ["align", "a.png", "a.png", "-o", f"long/{name}", "-q"]
            for fault in "", "rename:1:kill", "tmpfile:1+:EOPNOTSUPP,write:1:kill":
                self.assertEqual(self.run_faulty(arguments, fault).returncode, -signal.SIGKILL if fault else 0)
            self.assertEqual(len(list((self.path / "long").iterdir())), 3, "the file, and two temporaries")
            self.assertEqual(self.run_faulty(arguments).returncode, 0)
            self.assertEqual([p.name for p in (self.path / "long").iterdir()], [name])
            shutil.rmtree(self.path / "long")

    def test_others_names_are_left_alone(self):
        here = 2166136261  # as output_file.c hashes it
        for byte in socket.gethostname().encode():
            here = (here ^ byte) * 16777619 % 2**32
        living = f"out/.transmitted.png.esra-{here:08x}-{os.getpid()}-0"
        elsewhere = f"out/.transmitted.png.esra-{here ^ 1:08x}-999999999-0"
        others = [living, elsewhere, f"out/.transmitted.png.esra-{here:08x}-999999999-0.jpg", "out/.transmitted.png.esra-x",
                  "out/.transmitted.png"]
        dead = self.path / f"out/.transmitted.png.esra-{here:08x}-999999999-0"
        dead.write_text("a stray")
        for name in others:
            (self.path / name).write_text("another's")
        self.make(self.new_arguments)
        for name in others:
            self.assertEqual((self.path / name).read_text(), "another's")
        self.assertFalse(dead.exists(), "whose process is no more, and was here")


class Swap(SwapTest):
    def test_at_every_call(self):
        """Killed at any moment, the folder has lost nothing: the next run makes it whole, one way or the other, and the one
        after that goes the other way."""
        states, ended = [self.found, self.exchanged], []
        for way, before, _ in self.ways():
            last = self.calls(self.ARGUMENTS)[0]["io"]
            end = max(1, last - 60)
            for n in range(1, last + 1) if FULL else [*range(1, end, 17), *range(end, last + 1)]:
                self.put(before)
                self.assertEqual(self.run_faulty(self.ARGUMENTS, f"io:{n}:kill").returncode, -signal.SIGKILL)
                self.assertEqual(self.run_faulty(self.ARGUMENTS).returncode, 0, (way, n))
                self.assertIn(self.files(), states, (way, n))
                ended.append(states.index(self.files()))
                self.assertEqual(self.run_faulty(self.ARGUMENTS).returncode, 0, (way, n))
                self.assertEqual(self.files(), states[1 - ended[-1]], (way, n))
        print(f"swap killed at {len(ended)} calls: the next run ended {ended.count(1)} times exchanged, {ended.count(0)} times "
              "as found, all whole")


if __name__ == "__main__":
    unittest.main(verbosity=2)
