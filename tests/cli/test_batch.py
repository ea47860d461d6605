"""esra batch: many scenes, a journal, and what happens when it is stopped."""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from cli import ESRA, UNTRUSTED, CliTest
from pictures import png_bytes, scene, to_8_bit

SMALL, _ = scene(photos=3, height=24, width=30, seed=3)  # of so few pixels only some tell the layers apart: exit code 0, not 11
LARGE, _ = scene(photos=3, height=150, width=200)


class BatchTest(CliTest):
    def setUp(self):
        super().setUp()
        (self.path / "in").mkdir()
        for n, photo in enumerate(SMALL):
            (self.path / "in" / f"{n}.png").write_bytes(png_bytes(to_8_bit(photo)))

    def job(self, output, **extra):
        return {"photos": ["0.png", "1.png", "2.png"], "output": output, **extra}

    def write(self, *jobs):
        """in/jobs.jsonl: lines are objects, or texts as they are."""
        lines = [job if isinstance(job, str) else json.dumps(job) for job in jobs]
        (self.path / "in" / "jobs.jsonl").write_text("".join(line + "\n" for line in lines))

    def batch(self, code, *extra, **options):
        return self.expect(code, "batch", "in/jobs.jsonl", "-o", "out", *extra, **options)

    def journal(self):
        """The lines of scenes that have ended."""
        lines = [json.loads(line) for line in (self.path / "out" / "journal.jsonl").read_text().splitlines()]
        return [line for line in lines if "begun" not in line]

    def begun(self):
        """Outputs in the order in which they were done."""
        return [line["output"] for line in self.journal()]


class Work(BatchTest):
    def test_scenes_are_those_of_separate(self):
        self.write(self.job("a"), "", self.job("b", options={"lambda": 0.01, "layers": "transmitted", "no-report": True}))
        self.batch(0, "--jobs", "2", stdout="", stderr="2 of 2 scenes are done (0 were before), 0 failed\n")
        self.expect(0, "separate", "in/0.png", "in/1.png", "in/2.png", "-o", "plain", "-q")
        for name in "transmitted.png", "reflected-1.png", "confidence.png":
            self.assertEqual((self.path / "out" / "a" / name).read_bytes(), (self.path / "plain" / name).read_bytes())
        self.assertEqual(sorted(p.name for p in (self.path / "out" / "b").iterdir()),
                         ["confidence.png", "result.json", "transmitted.png"])
        self.assertEqual(json.loads((self.path / "out" / "b" / "result.json").read_text())["lambda"], 0.01)
        self.assertEqual(sorted(self.begun()), ["a", "b"])

    def test_one_bad_scene_does_not_stop_the_others(self):
        (self.path / "in" / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        self.write(self.job("a"), {"photos": ["0.png", "none.png"], "output": "b"},
                   {"photos": ["0.png", "bad.png"], "output": "c"}, self.job("d", options={"lambda": -1}), self.job("e"))
        done = self.batch(12, "-j3", "-q", *UNTRUSTED)
        self.assertEqual(len(done.stderr.splitlines()), 3)
        self.assertIn(b"esra batch: in/jobs.jsonl, line 2: b: cannot read in/none.png: No such file or directory\n", done.stderr)
        self.assertEqual({line["output"]: line["exit"] for line in self.journal()}, {"a": 0, "b": 66, "c": 65, "d": 64, "e": 0})

    def test_what_is_done_is_not_done_again(self):
        self.write(self.job("a"), self.job("b"))
        self.batch(0)
        self.batch(0, stderr="2 of 2 scenes are done (2 were before), 0 failed\n")
        self.assertEqual(self.begun(), ["a", "b"])
        self.write(self.job("a"), self.job("b", options={"lambda": 0.01}), self.job("c"))
        self.batch(0)
        self.assertEqual(self.begun(), ["a", "b", "b", "c"])
        (self.path / "out" / "a" / "result.json").unlink()
        self.batch(0)
        self.assertEqual(self.begun(), ["a", "b", "b", "c", "a"])
        photo = self.path / "in" / "0.png"
        photo.write_bytes(photo.read_bytes() + b"more")
        self.batch(0)
        self.assertEqual(self.begun()[5:], ["a", "b", "c"])

    def test_what_was_begun_anew_is_not_done(self):
        """Another job begins to replace the files of one that is done, and does not come to its end."""
        self.write(self.job("a"))
        self.batch(0)
        journal = self.path / "out" / "journal.jsonl"
        done = journal.read_bytes()
        self.write(self.job("a", options={"lambda": 0.01}))
        self.batch(0)
        added = journal.read_bytes()[len(done):].splitlines(keepends=True)
        begun = json.loads(added[0])
        self.assertEqual((begun["output"], begun["job"]["options"], json.loads(added[1])["exit"]), ("a", {"lambda": 0.01}, 0))
        journal.write_bytes(done + added[0])
        self.write(self.job("a"))
        self.batch(0, stderr="1 of 1 scenes are done (0 were before), 0 failed\n")
        self.assertNotEqual(json.loads((self.path / "out/a/result.json").read_text())["lambda"], 0.01)
        self.batch(0, stderr="1 of 1 scenes are done (1 were before), 0 failed\n")
        journal.write_bytes(journal.read_bytes() + b'{"output": "a", "begun": true}\n')  # as 0.1.0 had it
        self.batch(0, stderr="1 of 1 scenes are done (0 were before), 0 failed\n")

    def test_what_failed_is_tried_again(self):
        self.write({"photos": ["0.png", "1.png", "late.png"], "output": "a"})
        self.batch(12)
        (self.path / "in" / "late.png").write_bytes((self.path / "in" / "2.png").read_bytes())
        self.batch(0)
        self.assertEqual([line["exit"] for line in self.journal()], [66, 0])

    def test_a_torn_journal(self):
        self.write(self.job("a"), self.job("b"))
        self.batch(0)
        journal = self.path / "out" / "journal.jsonl"
        *first, second = journal.read_bytes().splitlines(keepends=True)
        told = "esra batch: out/journal.jsonl: 2 of {} lines are damaged, and count for nothing\n"
        journal.write_bytes(b"".join(first) + b"\0\xff no JSON\n[1]\n{}\n" + second[:40])
        self.batch(0, stderr=told.format(7) + "2 of 2 scenes are done (1 were before), 0 failed\n")
        self.batch(0, stderr=told.format(9) + "2 of 2 scenes are done (2 were before), 0 failed\n")

    def test_memory_is_shared(self):
        self.write(self.job("a"))
        self.batch(0, "--jobs", "2", "--max-memory", "200M")
        self.write(self.job("b"))
        done = self.batch(12, "--jobs", "20", "--max-memory", "200M")
        self.assertIn(b"line 1: b: 3 photos of 30 x 24 need", done.stderr)
        self.assertIn(b"and --max-memory is 10.0M", done.stderr)

    def test_files_of_options_are_seen_from_the_jobs(self):
        self.expect(0, "align", "in/0.png", "in/1.png", "in/2.png", "-r", "1", "-o", "in/t.json")
        self.write(self.job("a", options={"transforms": "t.json", "mixing": [1, 1, 1], "reference": 1}))
        self.batch(0)
        self.assertEqual(json.loads((self.path / "out" / "a" / "result.json").read_text())["reference"], 1)

    def test_a_folder_that_begins_like_an_option(self):
        for name in "-in", "@in":
            shutil.copytree(self.path / "in", self.path / name)
            (self.path / name / "jobs.jsonl").write_text(json.dumps(self.job(f"a{name}")) + "\n")
            self.expect(0, "batch", "-o", "out", "--", f"{name}/jobs.jsonl")

    def test_standard_input(self):
        line = json.dumps({"photos": ["in/0.png", "in/1.png", "in/2.png"], "output": "a"}).encode()
        self.expect(0, "batch", "-", "-o", "out", input=line)
        self.assertEqual(self.begun(), ["a"])

    def test_children_that_are_not_waited_for_by_custom(self):
        """Some start programs with SIGCHLD ignored: ends of children are then not told unless that is undone."""
        self.write(self.job("a"))
        ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.batch(0, preexec_fn=ignore, timeout=100, stderr="1 of 1 scenes are done (0 were before), 0 failed\n")

    def test_progress_as_json(self):
        self.write(self.job("a"), self.job("b"))
        done = self.batch(0, "--progress", "json", "-q")
        told = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertEqual([(t["event"], t["output"], t["exit"], t["over"], t["scenes"]) for t in told],
                         [("scene", "a", 0, 1, 2), ("scene", "b", 0, 2, 2)])


class Mistakes(BatchTest):
    def test_lines(self):
        good = self.job("good")
        for line, words in (
                ("{", "no JSON: "), ("[]", "no JSON object"), ('{"photos": 1, "photos": 1}', "no JSON: "),
                ({"photos": ["a", "b"]}, "output is no name of a folder"),
                ({"output": "x"}, "photos is no list of two or more names"),
                ({"output": "x", "photos": ["a"]}, "photos is no list of two or more names"),
                ({"output": "x", "photos": ["a", 1]}, "photo 2 is no name of a file"),
                (self.job("x", speed=1), "unknown key 'speed'; there are photos, output and options"),
                (self.job("good"), "output 'good' is that of line 1 too"),
                (self.job("x", options=[]), "options is no object"),
                (self.job("x", options={"output": "y"}), "there is no option 'output' for a scene"),
                (self.job("x", options={"no-limits": True}), "there is no option 'no-limits' for a scene"),
                (self.job("x", options={"faster": 1}), "there is no option 'faster' for a scene"),
                (self.job("x", options={"swap": "yes"}), "option 'swap' takes true or false"),
                (self.job("x", options={"lambda": "0.1"}), "option 'lambda' takes a number"),
                (self.job("x", options={"transforms": 1}), "option 'transforms' takes the name of a file"),
                (self.job("x", options={"mixing": ["1"]}), "option 'mixing' takes a text, a number or a list of numbers")):
            self.write(good, "", line)
            done = self.batch(65, stdout="")
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertIn(f"esra batch: in/jobs.jsonl, line 3: {words}", done.stderr.decode())
            self.assertFalse((self.path / "out").exists())

    def test_no_line_writes_elsewhere(self):
        for name in "../x", "/tmp/x", "a/b", ".", "..", ".hidden", "", "journal.jsonl", "journal-1of2-a-1.jsonl", "x" * 256, "a/../../x":
            self.write(self.job(name))
            self.batch(65, stdout="")
            self.assertFalse((self.path / "out").exists())

    def test_no_line_writes_over_what_another_reads(self):
        told = "esra batch: in/jobs.jsonl, line 2: in/{} is an input, and would be written over by line 1: choose another name or folder"
        (self.path / "out" / "a").mkdir(parents=True)
        (self.path / "out" / "a" / "transmitted.png").write_bytes((self.path / "in/0.png").read_bytes())
        (self.path / "out" / "b").mkdir()
        (self.path / "in" / "link.png").symlink_to("../out/a/transmitted.png")
        (self.path / "in" / "folder").symlink_to("../out/a")
        (self.path / "out" / "a" / "reflected-1.png").symlink_to("../../in/1.png")
        for name in "../out/a/transmitted.png", "link.png", "folder/transmitted.png", "1.png", "../out/a/reflected-3.png":
            with self.subTest(name):
                self.write({"photos": ["0.png", "2.png"], "output": "a"}, {"photos": [name, "0.png"], "output": "b"})
                self.complains(65, told.format(name), "batch", "in/jobs.jsonl", "-o", "out")
                for option in "transforms", "gradients":
                    self.write({"photos": ["0.png", "2.png"], "output": "a"},
                               {"photos": ["0.png", "2.png"], "output": "b", "options": {option: name}})
                    self.complains(65, told.format(name), "batch", "in/jobs.jsonl", "-o", "out")
        shutil.rmtree(self.path / "out")
        self.write({"photos": ["0.png", "2.png"], "output": "a"}, {"photos": ["../out/a/transmitted.png", "0.png"], "output": "b"})
        self.complains(73, "esra batch: cannot make the folder none/out: No such file or directory", "batch", "in/jobs.jsonl", "-o",
                       "none/out")
        self.complains(65, told.format("../out/a/transmitted.png"), "batch", "in/jobs.jsonl", "-o", "out")
        self.assertFalse((self.path / "out").exists(), "a failure leaves no folder")

    def test_photos_beside_the_outputs_of_other_lines(self):
        """No line writes files of such names."""
        (self.path / "out" / "a").mkdir(parents=True)
        (self.path / "out" / "a" / "photo.png").write_bytes((self.path / "in/0.png").read_bytes())
        self.write(self.job("a"), {"photos": ["../out/a/photo.png", "1.png", "2.png"], "output": "b"})
        self.batch(0)

    def test_no_line_writes_over_what_another_writes(self):
        told = ("esra batch: in/jobs.jsonl, line 2: its output has a file or folder in common with that of line 1, and one would be "
                "written over the other")
        self.write(self.job("a"), self.job("b"))
        (self.path / "out" / "a").mkdir(parents=True)
        (self.path / "out" / "b").symlink_to("a")
        self.complains(65, told, "batch", "in/jobs.jsonl", "-o", "out")
        (self.path / "out" / "b").unlink()
        (self.path / "out" / "b").mkdir()
        (self.path / "out" / "b" / "result.json").write_text("earlier")
        (self.path / "out" / "a" / "result.json").symlink_to("../b/result.json")
        self.complains(65, told, "batch", "in/jobs.jsonl", "-o", "out")
        (self.path / "out" / "a" / "result.json").unlink()
        os.link(self.path / "out" / "b" / "result.json", self.path / "out" / "a" / "result.json")
        self.batch(0)  # names of one file, as whoever saves room leaves: each is replaced by itself
        self.assertFalse(os.path.samefile(self.path / "out" / "a" / "result.json", self.path / "out" / "b" / "result.json"))

    def test_the_journal_is_written_over_no_input(self):
        told = "esra batch: {}/journal.jsonl is one of the inputs, and would be written over: choose another name or folder"
        self.write(self.job("a"))
        (self.path / "in" / "jobs.jsonl").rename(self.path / "in" / "journal.jsonl")
        self.complains(73, told.format("in"), "batch", "in/journal.jsonl", "-o", "in")
        with open(self.path / "in" / "journal.jsonl", "rb") as jobs:
            self.complains(73, told.format("in"), "batch", "-", "-o", "in", stdin=jobs)
        (self.path / "out").mkdir()
        (self.path / "out" / "journal.jsonl").symlink_to("../in/0.png")
        self.write(self.job("a"))
        self.complains(65, "esra batch: in/jobs.jsonl, line 1: in/0.png is an input, and would be written over by the journal: "
                       "choose another name or folder", "batch", "in/jobs.jsonl", "-o", "out")

    def test_a_journal_that_is_no_file(self):
        self.write(self.job("a"))
        (self.path / "out").mkdir()
        os.mkfifo(self.path / "out" / "journal.jsonl")
        self.complains(73, "esra batch: cannot write out/journal.jsonl: it is not a file", "batch", "in/jobs.jsonl", "-o", "out",
                       timeout=100)

    def test_no_line_writes_over_the_jobs(self):
        (self.path / "in" / "a").mkdir()
        self.write({"photos": ["../0.png", "../1.png"], "output": "a"})
        (self.path / "in" / "jobs.jsonl").rename(self.path / "in" / "a" / "result.json")
        self.complains(65, "esra batch: in/a/result.json would be written over by line 1: choose another name or folder", "batch",
                       "in/a/result.json", "-o", "in")

    def test_names_are_never_options_or_lists(self):
        self.write({"photos": ["-", "@list"], "output": "a"})
        self.assertIn(b"cannot read in/-: No such file", self.batch(12).stderr)

    def test_usage(self):
        self.write(self.job("a"))
        for words, line in ((["--jobs", "0"], "--jobs takes a number from 1 to 256, not '0'"),
                            (["--jobs", "2x"], "--jobs takes a number from 1 to 256, not '2x'"),
                            (["--progress", "bar"], "--progress takes one of auto|json|none, not 'bar'"),
                            (["--max-memory", "lots"], "--max-memory takes a size such as 8G or 500M, not 'lots'")):
            self.complains(64, f"esra batch: {line}", "batch", "in/jobs.jsonl", "-o", "out", *words)
        self.complains(64, "esra batch: one file of jobs is needed; see 'esra help batch'", "batch", "-o", "out")
        self.complains(66, "esra batch: cannot read none: No such file or directory", "batch", "none", "-o", "out")
        (self.path / "empty").write_text("\n \n")
        self.complains(65, "esra batch: empty has no lines: one JSON object a scene is needed", "batch", "empty", "-o", "out")
        self.complains(73, "esra batch: cannot write into in/0.png: it is not a folder", "batch", "in/jobs.jsonl", "-o",
                       "in/0.png")

    def test_two_batches_in_one_folder(self):
        self.write(self.job("a"))
        (self.path / "out").mkdir()
        with open(self.path / "out" / "journal.jsonl", "a") as journal:
            fcntl.flock(journal, fcntl.LOCK_EX)
            self.assertIn(b"another esra batch is at work in out", self.batch(75).stderr)
        self.batch(0)


class Stops(BatchTest):
    def setUp(self):
        super().setUp()
        for n, photo in enumerate(LARGE):
            (self.path / "in" / f"large-{n}.png").write_bytes(png_bytes(to_8_bit(photo)))
        self.slow = [{"photos": [f"large-{n}.png" for n in range(3)], "output": f"slow-{k}"} for k in range(2)]

    def start(self, *extra):
        """A batch that has done scene a, and works on two that take a while."""
        self.write(self.job("a"), *self.slow)
        batch = subprocess.Popen([ESRA, "batch", "in/jobs.jsonl", "-o", "out", "-j2", *extra], cwd=self.path,
                                 stderr=subprocess.PIPE, start_new_session=True)
        journal = self.path / "out" / "journal.jsonl"
        while not (journal.exists() and '"exit"' in journal.read_text() and len(self.children(batch)) == 2):
            self.assertIsNone(batch.poll())
            time.sleep(0.01)
        return batch

    def children(self, batch):
        return pathlib.Path(f"/proc/{batch.pid}/task/{batch.pid}/children").read_text().split()

    def test_signals(self):
        """To the batch alone, and to its children too, as a terminal does."""
        for number, code, send in (signal.SIGINT, 130, os.kill), (signal.SIGTERM, 143, os.kill), (signal.SIGINT, 130, os.killpg):
            batch = self.start()
            children = self.children(batch)
            sent = time.monotonic()
            send(batch.pid, number)
            _, told = batch.communicate(timeout=60)
            print(f"stopped {time.monotonic() - sent:.2f} s after {signal.Signals(number).name}")
            self.assertEqual(batch.returncode, code)
            self.assertEqual(told, b"esra batch: interrupted after 1 of 3 scenes; the same command goes on from there\n")
            self.assertFalse([child for child in children if os.path.exists(f"/proc/{child}")], "children must be gone")
            self.assertEqual(self.begun(), ["a"])
            self.assertFalse(list(self.path.glob("out/slow-*/*")), "nothing may be half-written")

    def test_a_scene_that_dies_harms_no_other(self):
        if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
            self.skipTest("this kernel does not tell a process's children")
        batch = self.start()
        os.kill(int(self.children(batch)[0]), signal.SIGKILL)
        _, told = batch.communicate(timeout=300)
        self.assertEqual(batch.returncode, 12)
        self.assertRegex(told.decode(), r"line \d: slow-\d: died of signal 9 \(Killed\)\n2 of 3 scenes are done")
        self.assertEqual(sorted(line["exit"] for line in self.journal()), [0, 0, 137])

    def test_children_die_with_the_batch(self):
        batch = self.start()
        children = self.children(batch)
        batch.kill()
        batch.communicate()
        for _ in range(1000):
            if not [child for child in children if os.path.exists(f"/proc/{child}/exe")]:
                break
            time.sleep(0.01)
        else:
            self.fail("children live on")


if __name__ == "__main__":
    unittest.main(verbosity=2)
