"""Disks that fill, devices that fail, memory that runs out, threads that are refused: the right exit code, one line, and
every file either as it was or whole. Counts are printed; ESRA_TEST_ALL=1 tries every case instead of a sample."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest
import unittest.mock

import numpy as np

from faulty import COMMANDS, ESRA, FULL, WRITERS, FaultTest, SwapTest, without_times
from cli import SOURCE, UNTRUSTED  # these stand in a folder that faulty.py makes known
from pictures import icc_inks, icc_profile, jpeg_with_profile, png_bytes, png_profile, tiff_bytes


def sample(count, most):
    """So many of 1..count, the first and the last among them."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1 + round(n * (count - 1) / (most - 1)) for n in range(most)})


def points(count, most):
    """1..count, or a sample of them."""
    return sample(count, count if FULL else most)


class DiskFull(FaultTest):
    def bytes_by_kind(self, name):
        """Kinds of files that a command writes, and which of the bytes that it writes are theirs."""
        counts, _ = self.calls(COMMANDS[name][0])
        outputs = COMMANDS[name][2]
        kinds = {}
        for output in outputs:
            begin, end = (counts[f"{edge}:{output}"] for edge in ("begin", "end"))
            self.assertLess(begin, end)
            kinds.setdefault(pathlib.Path(output).suffix, []).extend(range(begin, end))
        self.assertEqual(sum(map(len, kinds.values())), counts["disk"], "every byte is some file's")
        self.clear(outputs)
        last = counts["disk"] - 50  # times that are told make the whole some digits longer or shorter
        return {kind: [min(n, last) for n in places] for kind, places in kinds.items()}

    def test_at_twenty_points(self):
        """Of every kind of file of every command, the first byte and the last among them; and some where the file system has
        no nameless files."""
        tried = set()
        for name in WRITERS:
            for kind, places in self.bytes_by_kind(name).items():
                if (COMMANDS[name][0][0], kind) in tried:
                    continue
                tried.add((COMMANDS[name][0][0], kind))
                for n in range(20):
                    self.fails(74, name, f"disk:{places[n * (len(places) - 1) // 19]}", "broke off: No space left on device")
                for n in range(3):
                    self.fails(74, name, f"tmpfile:1+:EOPNOTSUPP,disk:{places[n * (len(places) - 1) // 2]}",
                               "broke off: No space left on device")
                print(f"{name}: disk full at 20 points of {len(places)} bytes in {kind} files, at 3 with named temporaries: "
                      "exit 74, old files whole")
        self.assertEqual(len(tried), 13)

    def test_while_files_are_written_side_by_side(self):
        """Whichever file meets the end of the disk, and however many do: one line, and nothing of any."""
        arguments, code, outputs = COMMANDS["separate to png"]
        counts, _ = self.calls(arguments)
        self.clear(outputs)
        beside = [*arguments[:-1], "4"]  # threads
        with unittest.mock.patch.dict(COMMANDS, {"side by side": (beside, code, outputs)}):
            for n in range(20):
                self.fails(74, "side by side", f"disk:{n * (counts['disk'] - 50) // 19}", "broke off: No space left on device")
        print("separate to png in four threads: disk full at 20 points, exit 74, old files whole")

    def test_at_the_nth_write(self):
        for name in WRITERS:
            counts, _ = self.calls(COMMANDS[name][0])
            self.clear(COMMANDS[name][2])
            tried = points(counts["write"], 6)
            for n in tried:
                self.fails(74, name, f"write:{n}+:ENOSPC", "broke off: No space left on device")
            print(f"{name}: {len(tried)} of {counts['write']} writes refused, exit 74, old files whole")

    def mount_small(self, options):
        """A tmpfs at out/."""
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", self.path / "out"], capture_output=True)
        if mounted.returncode:
            self.skipTest(f"mounting is not allowed here: {mounted.stderr.decode().strip()}")

    def test_small_tmpfs(self):
        for name in "separate to npy", "separate to png", "synth with depth":
            self.fill_tmpfs(name)

    def fill_tmpfs(self, name):
        """Old files and some pages more."""
        arguments, _, outputs = COMMANDS[name]
        code = self.run_faulty(arguments).returncode
        need = sum(-(-(self.path / name).stat().st_size // 4096) for name in outputs)
        self.clear(outputs)
        (self.path / "out").mkdir()
        whole = 0
        for pages in range(20):
            size = (len(outputs) + 1 + pages * need // 12) * 4096
            self.mount_small(f"size={size}")
            try:
                self.old_files(outputs)
                before = self.files()
                done = self.run_faulty(arguments)
                if done.returncode == code:
                    whole += 1
                    self.assertEqual(sorted(self.files()), sorted(before), "no strays")
                else:
                    self.assertEqual(done.returncode, 74, done.stderr)
                    self.assertEqual(self.files(), before)
            finally:
                subprocess.run(["umount", self.path / "out"], check=True)
        self.assertTrue(0 < whole < 20)
        (self.path / "out").rmdir()
        print(f"{name}: tmpfs of 20 sizes: {whole} runs had room, {20 - whole} ended with exit 74, old files whole")

    def test_no_room_for_names(self):
        """Bytes there are, but no more files may be made: the disk is full all the same."""
        arguments, code, outputs = COMMANDS["separate to png"]
        (self.path / "out").mkdir()
        ended = []
        for inodes in range(2, 2 * len(outputs) + 3):
            self.mount_small(f"nr_inodes={inodes}")
            try:
                done = self.run_faulty(arguments)
                ended.append(done.returncode)
                if done.returncode != code:
                    self.assertRegex(done.stderr.decode(), "^esra separate: [^\n]*: No space left on device\n$")
                    self.assertEqual([name for name in self.files() if name.startswith("out/")], [])
            finally:
                subprocess.run(["umount", self.path / "out"], check=True)
        self.assertEqual(set(ended), {74, code})
        print(f"tmpfs with room for few names: {ended.count(74)} runs ended with exit 74, {ended.count(code)} had room")


class Devices(FaultTest):
    def test_short_and_interrupted_calls_lose_nothing(self):
        for name in WRITERS:
            arguments, _, outputs = COMMANDS[name]
            _, code = self.calls(arguments)
            good = self.results(outputs)
            for fault in "write:1+:short,read:1+:short", "write:2*:EINTR,read:2*:EINTR,sync:2*:EINTR", "tmpfile:1+:EOPNOTSUPP":
                self.clear(outputs)
                done = self.run_faulty(arguments, fault)
                self.assertEqual(done.returncode, code, (name, fault, done.stderr))
                self.assertEqual(self.results(outputs), good, fault)
            self.clear(outputs)
        print(f"{len(WRITERS)} commands with short and interrupted calls, and without nameless files: the same bytes")

    def test_a_new_folder_is_on_disk_too(self):
        """File and folder are synced for every output, and once where that folder is made the one that it is in."""
        for name in "separate to png", "synth":
            arguments, _, outputs = COMMANDS[name]
            made, there = self.calls(arguments)[0]["sync"], self.calls(arguments)[0]["sync"]
            self.assertEqual((made, there), (2 * len(outputs) + 1, 2 * len(outputs)), name)
            self.clear(outputs)

    def test_failing_devices(self):
        tried = 0
        for name in WRITERS:
            outputs = COMMANDS[name][2]
            counts, _ = self.calls(COMMANDS[name][0])
            new = self.results(outputs)
            self.clear(outputs)
            for call in "write", "link":
                for n in points(counts[call], 3):
                    self.fails_somewhere(name, f"{call}:{n}:EIO", new)
                    tried += 1
            for n in {1, len(outputs)}:
                # File and folder in turn, after the folder's own where it is made: that one may fail.
                self.fails_somewhere(name, f"sync:{2 * n - 1}:EIO,sync:{2 * n}:EIO", new)
                self.fails_somewhere(name, f"tmpfile:1+:EOPNOTSUPP,rename:{n}:EIO", new)
                tried += 2
        print(f"{tried} failing writes, links, syncs and renames: exit 74, every file old or new, no strays")

    def fails_somewhere(self, name, fault, new):
        """Files put in place before the fault stay; all others are as they were."""
        for old, before, done in self.tries(name, fault):
            self.assertEqual(done.returncode, 74, (name, fault, old, done.stderr))
            after = self.files()
            for path, data in after.items():
                self.assertTrue(data == before.get(path) or without_times(path, data) == new.get(path),
                                (name, fault, path, "is neither as it was nor as a good run has it"))
            self.assertTrue(set(before) <= set(after))

    def test_failing_reads(self):
        for name, (arguments, _, outputs) in COMMANDS.items():
            counts, _ = self.calls(arguments)
            self.clear(outputs)
            tried = points(counts["read"], 4)
            for n in tried:
                self.fails(74, name, f"read:{n}:EIO", "(reading|decoding) .* broke off: Input/output error")
            print(f"{name}: {len(tried)} of {counts['read']} reads failing, exit 74, nothing written")

    def test_failing_reads_of_a_directory(self):
        """Wherever the bytes stand that cannot be read, the device is at fault and not the file; nothing is left out."""
        pixels = np.random.default_rng(1).integers(0, 256, (300, 400), np.uint8)
        (self.path / "t.tif").write_bytes(tiff_bytes(pixels, icc_profile(2.2, colour=False)))
        self.assertIn("profile without a name, EXIF", self.run_faulty(["info", "t.tif"]).stdout.decode())
        for arguments in ["info", "t.tif"], ["compare", "t.tif", "t.tif"]:
            counts, _ = self.calls(arguments)
            self.assertGreater(counts["read"], 4)
            for n in range(1, counts["read"] + 1):
                done = self.run_faulty(arguments, f"read:{n}:EIO")
                self.assertEqual((done.returncode, done.stdout), (74, b""), (arguments, n, done.stderr))
                self.assertRegex(done.stderr.decode(), "reading t.tif broke off: Input/output error\n$")
            print(f"{arguments[0]} of a TIFF: {counts['read']} failing reads, exit 74")

    def test_closed_pipes(self):
        for arguments in [["align", "a.png", "a.png", "-o", "-", "-q"], COMMANDS["compare"][0], COMMANDS["help"][0],
                          [*COMMANDS["separate to png"][0], "--json"]]:
            read, write = os.pipe()
            os.close(read)
            done = self.run_faulty(arguments, capture_output=False, stdout=write, stderr=subprocess.PIPE)
            os.close(write)
            self.assertEqual(done.returncode, 74, (arguments, done.stderr))
            self.assertRegex(done.stderr.decode(), "^esra [a-z]+: [^\n]*\n$")
        print("4 commands into a closed pipe: exit 74")

    def test_read_only_folders(self):
        # Root may write anywhere: the program then runs as nobody.
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        counts = tempfile.TemporaryDirectory()  # of a coverage build, which nobody may not keep where root does
        self.addCleanup(counts.cleanup)
        os.chmod(counts.name, 0o777)
        environment = {**os.environ, "GCOV_PREFIX": counts.name}
        for name in WRITERS:
            arguments, _, outputs = COMMANDS[name]
            self.old_files(outputs)
            before = self.files()
            folder = (self.path / outputs[0]).parent
            for path in self.path, folder:
                path.chmod(0o555)
            try:
                done = subprocess.run([ESRA, *arguments], cwd=self.path, capture_output=True, env=environment, **nobody)
            except PermissionError as reason:
                self.skipTest(f"nobody may not run the program here: {reason}")
            finally:
                for path in self.path, folder:
                    path.chmod(0o755)
            self.assertEqual(done.returncode, 73, (name, done.stderr))
            self.assertRegex(done.stderr.decode(), "^esra [a-z]+: cannot write .*: Permission denied\n$")
            self.assertEqual(self.files(), before)
            self.clear(outputs)
        print(f"{len(WRITERS)} commands into folders that are read-only: exit 73, old files whole")

    def test_linked_outputs_stay_links(self):
        for name in WRITERS:
            arguments, _, outputs = COMMANDS[name]
            code = self.run_faulty(arguments).returncode
            good = self.results(outputs)
            self.clear(outputs)
            (self.path / "kept").mkdir()
            for output in outputs:
                target = self.path / "kept" / pathlib.Path(output).name
                target.write_bytes(b"old")
                (self.path / output).parent.mkdir(exist_ok=True)
                (self.path / output).symlink_to(target)
            self.assertEqual(self.run_faulty(arguments, "disk:99").returncode, 74)
            self.assertEqual({path.read_bytes() for path in (self.path / "kept").iterdir()}, {b"old"})
            self.assertEqual(self.run_faulty(arguments).returncode, code)
            for output in outputs:
                self.assertTrue((self.path / output).is_symlink())
            self.assertEqual(self.results(outputs), good)
            for output in outputs:
                (self.path / "kept" / pathlib.Path(output).name).unlink()
            self.clear(outputs)
            (self.path / "kept").rmdir()
        print(f"{len(WRITERS)} commands through links: with the disk full the old files behind them whole, else the new ones")


class Memory(FaultTest):
    def test_every_allocation(self):
        """Each is refused in a child forked there (shim.c), so that all of them take little more than one run. Nothing is
        forked in a jail: those are refused below."""
        for name, (arguments, _, outputs) in COMMANDS.items():
            if UNTRUSTED and UNTRUSTED[0] in arguments:
                continue
            _, good = self.calls(arguments)
            whole = self.results(outputs)
            counts, _ = self.calls(arguments, "thread:1+:EAGAIN,alloc:each:ENOMEM")
            refused = counts.pop("exit75")
            spared = counts.pop(f"exit{good}", 0)  # the run could do without: no folder to sync
            self.assertEqual([key for key in counts if key.startswith("exit")], [], (name, counts))
            self.assertEqual(refused + spared, 2 * counts["alloc"], name)
            self.assertEqual(self.results(outputs), whole, name)
            self.clear(outputs)  # fails where there are strays
            print(f"{name}: {counts['alloc']} allocations refused, once and from then on: {refused} times exit 75, "
                  f"{spared} were done without")

    def test_no_colours_are_lost(self):
        """What a profile says is told whole, or not at all: children write to the same standard output as their parent."""
        pixels = np.zeros((16, 20, 3), np.uint8)
        (self.path / "rgb.png").write_bytes(png_bytes(pixels, png_profile(icc_profile(2.2))))
        (self.path / "grey.png").write_bytes(png_bytes(pixels[:, :, 0], png_profile(icc_profile(1.8, colour=False))))
        for name in "rgb.png", "grey.png":
            good = self.run_faulty(["info", name]).stdout
            self.assertIn(b"profile without a name\n", good)
            counts, _ = self.calls(["info", name], "alloc:each:ENOMEM")
            refused, spared = counts["exit75"], counts.get("exit0", 0)
            self.assertEqual(refused + spared, 2 * counts["alloc"], counts)
            self.assertEqual(self.run_faulty(["info", name], "alloc:each:ENOMEM").stdout, good * (spared + 1))
            print(f"{name}: {counts['alloc']} allocations refused, once and from then on: {refused} times exit 75")

    def test_inks_are_not_called_unusable(self):
        """lcms2 2.14 would die of one refusal when it makes a transform of inks, and leak at others."""
        inks = (SOURCE / "tests/fuzz/corpus/jpeg/cmyk.jpg").read_bytes()
        (self.path / "inks.jpg").write_bytes(jpeg_with_profile(inks, icc_inks()))
        counts, _ = self.calls(["info", "inks.jpg"], "alloc:each:ENOMEM")
        self.assertEqual({key for key in counts if key.startswith("exit")}, {"exit75"}, counts)
        self.assertEqual(counts["exit75"], 2 * counts["alloc"])

    def test_some_allocations_and_threads(self):
        for name, (arguments, _, outputs) in COMMANDS.items():
            counts, good = self.calls(arguments)
            whole = self.results(outputs)
            self.clear(outputs)
            tried, spared = sample(counts["alloc"], 10), 0
            for n in tried:
                for when in "", "+":
                    before = self.files()
                    done = self.run_faulty(arguments, f"alloc:{n}{when}:ENOMEM")
                    what = (name, n, when, done.returncode, done.stderr.decode())
                    if done.returncode == good:
                        spared += 1  # the run could do without: fewer threads, no folder to sync
                        self.assertEqual(self.results(outputs), whole, what)
                        self.assertEqual(set(before) | set(outputs), set(self.files()), what)
                        self.clear(outputs)
                        continue
                    self.assertEqual(done.returncode, 75, what)
                    self.assertRegex(done.stderr.decode(), "^esra( [a-z]+)?: out of memory[^\n]*\n$", what)
                    self.assertEqual(self.files(), before, what)
            print(f"{name}: {len(tried)} of {counts['alloc']} allocations refused, once and from then on: "
                  f"exit 75, one line, nothing written; {spared} were done without")


class Batch(FaultTest):
    """Scenes are processes of their own: what befalls one is its line in the journal, and the next run does it again."""
    ARGUMENTS = ["batch", "jobs.jsonl", "-o", "out", "-q"]
    OUTPUTS = [f"out/scene/{name}" for name in ("transmitted.png", "reflected-1.png", "reflected-2.png", "confidence.png",
                                                "result.json", "report.html")]

    def journals(self):
        """From the oldest to the one that was written last."""
        return sorted(self.path.glob("out/journal*.jsonl"), key=lambda journal: journal.stat().st_mtime_ns)

    def run_batch(self, fault=""):
        """The exit code, those in the journals, and what is said; whatever happened, nothing is half-written."""
        done = self.run_faulty(self.ARGUMENTS, fault)
        lines = [line for journal in self.journals() for line in journal.read_text().splitlines()]
        whole = [json.loads(line) for line in lines if line.endswith("}")]
        self.assertLessEqual(len(lines) - len(whole), 1, lines)
        scene = {name for name in self.files() if name.startswith("out/scene/")}
        self.assertIn(scene, (set(), set(self.OUTPUTS)), fault)
        return done.returncode, [line["exit"] for line in whole if "exit" in line], done.stderr.decode()

    def recovers(self, good, fault):
        """A run with this fault, then one without, which makes up for it. Returns what the first said."""
        told = self.run_batch(fault)
        after = self.run_batch()
        self.assertEqual((after[0], after[1][-1], after[2]), (0, 11, ""), (fault, told))
        self.assertEqual(self.results(self.OUTPUTS), good, fault)
        shutil.rmtree(self.path / "out")
        return told

    def good(self):
        self.assertEqual(self.run_batch(), (0, [11], ""))
        good = self.results(self.OUTPUTS)
        shutil.rmtree(self.path / "out")
        return good

    def test_disk_full(self):
        good = self.good()
        counts, _ = self.calls(COMMANDS["separate to png"][0])
        self.clear(COMMANDS["separate to png"][2])
        last, torn = counts["disk"] - 50, 0
        line = len('{"output": "scene", "exit": 74, ')  # and more
        for room in *(n * last // 19 for n in range(20)), *(n * line // 19 for n in range(20)):
            code, exits, said = self.recovers(good, f"disk:{room}")
            self.assertIn("broke off: No space left on device", said)
            self.assertIn((code, exits), [(12, [74]), (74, [])])
            torn += code == 74
        self.assertTrue(20 <= torn < 40)
        print(f"batch: disk full at 40 points, {torn} of them in the journal: exit 12 or 74, made up for by the next run")

    def test_a_kill_amid_another_scene(self):
        """The files of a scene that is done are being replaced by another's: whenever that is killed, what the journal says is
        not done any more, and the next run makes it whole."""
        job = self.path / "jobs.jsonl"
        first, good = job.read_text(), self.good()
        for n in range(1, 8):
            self.assertEqual(self.run_batch()[0], 0)
            job.write_text(first.replace("a.png", "b.png"))
            self.assertEqual(self.run_faulty(self.ARGUMENTS, f"link:{n}:kill").returncode, 12 if n < 7 else 0)
            journal = self.journals()[-1]
            *text, begun, ended = journal.read_text().splitlines(keepends=True)
            self.assertTrue("begun" in json.loads(begun) and "exit" in json.loads(ended))
            job.write_text(first)
            # The batch itself killed: as if the end of the scene had never been told.
            journal.write_text("".join([*text, begun]))
            self.assertEqual(self.run_batch()[0], 0)
            self.assertEqual(self.results(self.OUTPUTS), good, n)
            shutil.rmtree(self.path / "out")
        print("batch: killed at 6 files of another scene, and after them: the first was done again")

    def test_failing_and_short_writes(self):
        good = self.good()
        for fault in "write:1:EIO", "write:1+:EIO", "sync:3:EIO,sync:4:EIO", "link:1:EIO", "read:1:EIO", "read:2:EIO":
            code, exits, said = self.recovers(good, fault)
            self.assertIn((code, exits), [(12, [74]), (74, []), (74, [11]), (74, [74])], (fault, said))
        for fault in "write:1+:short,read:1+:short", "write:2*:EINTR,read:2*:EINTR,sync:2*:EINTR", "tmpfile:1+:EOPNOTSUPP":
            self.assertEqual(self.recovers(good, fault), (0, [11], ""), fault)

    def test_every_allocation(self):
        good = self.good()
        alone, _ = self.calls(COMMANDS["separate to png"][0])
        self.clear(COMMANDS["separate to png"][2])
        own, _ = self.calls(self.ARGUMENTS)
        shutil.rmtree(self.path / "out")
        tried, ended, failed = points(own["alloc"] + alone["alloc"], 25), 0, 0
        for n in tried:
            for when in "", "+":
                code, exits, said = self.recovers(good, f"alloc:{n}{when}:ENOMEM")
                what = (n, when, code, exits, said)
                if code == 0:
                    self.assertEqual((exits, said), ([11], ""), what)
                    continue
                self.assertIn((code, exits), [(75, []), (75, [11]), (12, [75])], what)
                self.assertRegex(said, "^esra batch: [^\n]*out of memory[^\n]*\n"
                                       + ("esra batch: out of memory[^\n]*\n$" if said.count("\n") == 2 else "$"), what)
                ended, failed = ended + (code == 75), failed + (code == 12)
        self.assertTrue(ended and failed)
        print(f"batch: {len(tried)} of {own['alloc'] + alone['alloc']} allocations refused, once and from then on: {ended} times "
              f"exit 75, {failed} times the scene's, exit 12; made up for by the next run")


class Share(Batch):
    """The same where every run has a journal of its own."""
    ARGUMENTS = [*Batch.ARGUMENTS, "--shard", "1/1"]


class Signals(FaultTest):
    def interrupt(self, arguments, number, before):
        """A signal as soon as there are other files than before, where temporaries have names, or the work is told of."""
        process = subprocess.Popen([ESRA, *arguments], cwd=self.path, stderr=subprocess.PIPE,
                                   env={**os.environ, "ESRA_FAULT": "tmpfile:1+:EOPNOTSUPP"})
        if "--progress=json" in arguments:
            process.stderr.readline()
        while "--progress=json" not in arguments and self.files().keys() == before.keys():
            self.assertIsNone(process.poll())
        process.send_signal(number)
        said = process.communicate(timeout=100)[1]
        return process.returncode, said.splitlines()[-1].decode()

    def test_begun_outputs_are_taken_away(self):
        slow = ["--gap", "0", "--max-iterations", "1000000"]
        given = ["--transforms", "T.json", "--gradients", "G.npy"]
        large = ["synth", "-t", "a.png", "-r", "p1.png", "-o", "out", "-n", "12", "--size", "1600x1200", "--shift", "9"]
        for name, arguments in (("separate", ["separate", "a.png", "a.png", "-o", "out", *given, *slow, "--progress=json"]),
                                ("solve", [*COMMANDS["solve"][0], *slow]), ("synth", large)):
            for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143):
                for old in False, True:
                    outputs = COMMANDS[name][2]
                    if old:
                        self.old_files(outputs)
                    before = self.files()
                    self.assertEqual(self.interrupt(arguments, number, before), (code, f"esra {name}: interrupted; nothing was written"))
                    self.assertEqual(self.files(), before)
                    self.assertEqual((self.path / "out").exists(), old and name != "solve")
                    self.clear(outputs)
        print("3 commands interrupted at work, named temporaries begun: exit 130 and 143, old files whole, no strays")


class Threads(FaultTest):
    def test_refused_threads_change_no_bit(self):
        arguments, _, outputs = COMMANDS["separate"]
        results = set()
        # The first reads the third photo beside the second, the next three separate, and three more write.
        for fault, threads in ("", 4), ("thread:1+:EAGAIN", 1), ("thread:3+:EAGAIN", 2), ("thread:4:EAGAIN", 3), ("thread:5+:EAGAIN", 4):
            done = self.run_faulty([*arguments, "--threads", "4"], fault)
            self.assertIn(done.returncode, (0, 10), done.stderr)
            self.assertEqual(json.loads((self.path / "out/result.json").read_bytes())["threads"], threads, fault)
            results.add(tuple(self.results(outputs).values()))
            self.clear(outputs)
        self.assertEqual(len(results), 1)
        print("threads refused four ways, 1, 2 and 3 at work instead of 4: the same bytes")


class Swap(SwapTest):
    def test_disk_full(self):
        for way, before, after in self.ways():
            counts, _ = self.calls(self.ARGUMENTS)
            self.assertEqual(self.files(), after)
            self.put(before)
            faults = [f"disk:{n}" for n in sample(counts["disk"] - 1, 20)]
            faults += [f"write:{n}+:ENOSPC" for n in points(counts["write"], 6)]
            for fault in faults:
                done = self.run_faulty(self.ARGUMENTS, fault)
                self.assertEqual(done.returncode, 74, (way, fault, done.stderr))
                self.assertRegex(done.stderr.decode(), "^esra swap: [^\n]* broke off: No space left on device\n$")
                self.assertEqual(self.files(), before, (way, fault))
            print(f"swap, {way}: disk full at {len(faults)} points: exit 74, every file as it was")

    def test_failing_reads(self):
        for way, before, _ in self.ways():
            counts, _ = self.calls(self.ARGUMENTS)
            self.put(before)
            for n in points(counts["read"], 12):
                done = self.run_faulty(self.ARGUMENTS, f"read:{n}:EIO")
                self.assertEqual(done.returncode, 74, (way, n, done.stderr))
                self.assertEqual(self.files(), before, (way, n))

    def test_some_allocations(self):
        """Not in forked children, as above: those that do without would leave nothing for their parent to do."""
        for way, before, after in self.ways():
            counts, _ = self.calls(self.ARGUMENTS)
            tried = points(counts["alloc"], 60)
            ends = {"every file as it was": 0, "finished by the next run": 0, "done without": 0}
            for n in tried:
                self.put(before)
                done = self.run_faulty(self.ARGUMENTS, f"alloc:{n}:ENOMEM")
                ends[self.end(before, after, done)] += 1
            print(f"swap, {way}: {len(tried)} of {counts['alloc']} allocations refused: {ends}")

    def end(self, before, after, done):
        """How a run ended; one that failed amid files on their way into place says so."""
        if done.returncode == 0:
            self.assertEqual({name: self.files()[name] for name in after}, after)
            return "done without"
        self.assertEqual(done.returncode, 75, done.stderr)
        if self.files() == before:
            return "every file as it was"
        self.assertIn(b"; the same command again finishes what was begun\n", done.stderr)
        self.assertEqual(self.run_faulty(self.ARGUMENTS).returncode, 0)
        self.assertEqual(self.files(), after)
        return "finished by the next run"


if __name__ == "__main__":
    unittest.main(verbosity=2)
