"""esra batch --shard and --status: many writers in one folder, and what their journals say together."""
import fcntl
import json
import os
import pathlib
import socket
import subprocess
import time
import unittest

from cli import ESRA, CliTest
from pictures import png_bytes, scene, to_8_bit

PHOTOS, _ = scene(photos=2, height=24, width=30)
HERE = socket.gethostname()


class FleetTest(CliTest):
    def setUp(self):
        super().setUp()
        self.save("0.png", PHOTOS[0])
        self.save("1.png", PHOTOS[1])

    def save(self, name, photo):
        (self.path / name).write_bytes(png_bytes(to_8_bit(photo)))

    def job(self, output, **extra):
        """A photo with itself comes back as it was, with exit code 11 and little work."""
        return {"photos": ["0.png", "0.png"], "output": output, **extra}

    def write(self, *jobs):
        (self.path / "jobs.jsonl").write_text("".join(json.dumps(job) + "\n" for job in jobs))

    def batch(self, code, *extra, env=None, **options):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        return self.expect(code, "batch", "jobs.jsonl", "-o", "out", *extra, env={**clean, **(env or {})}, **options)

    def status(self, code):
        return json.loads(self.batch(code, "--status", "--json").stdout)

    def counts(self, code):
        told = self.status(code)
        return told["done"], told["failed"], told["at_work"], told["left"]

    def journals(self):
        return sorted(path.name for path in self.path.glob("out/journal*"))

    def ended(self, journal=None):
        """Outputs in the order in which they ended, of one journal or of all."""
        paths = [self.path / "out" / journal] if journal else sorted(self.path.glob("out/journal*"))
        lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
        return [line["output"] for line in lines if "exit" in line]

    def inputs(self, job):
        found = [(self.path / name).stat() for name in job["photos"]]
        return [[is_.st_size, is_.st_mtime_ns // 10**9, is_.st_mtime_ns % 10**9] for is_ in found]

    def line(self, job, **words):
        return json.dumps({"output": job["output"], **words, "job": job, "inputs": self.inputs(job)}) + "\n"

    def add(self, journal, *lines):
        (self.path / "out").mkdir(exist_ok=True)
        with open(self.path / "out" / journal, "a") as file:
            file.write("".join(lines))


class Shares(FleetTest):
    def test_by_line_and_the_number_may_change(self):
        self.write(*(self.job(f"s{n}") for n in range(7)))
        self.batch(0, "--shard", "1/3", stderr="share 1/3: 3 of 3 scenes are done (0 were before), 0 failed\n")
        self.assertEqual(self.ended(), ["s0", "s3", "s6"])
        self.assertRegex(self.journals()[0], rf"^journal-1of3-{HERE}-\d+\.jsonl$")
        self.batch(0, "--shard", "2/2", stderr="share 2/2: 3 of 3 scenes are done (1 were before), 0 failed\n")
        self.batch(0, "--shard", "1/1", stderr="share 1/1: 7 of 7 scenes are done (5 were before), 0 failed\n")
        self.assertEqual(sorted(self.ended()), [f"s{n}" for n in range(7)])
        before = self.journals()
        self.batch(0, "--shard", "9/9", stderr="share 9/9: 0 of 0 scenes are done (0 were before), 0 failed\n")
        self.batch(0, "--shard", "1/2", stderr="share 1/2: 4 of 4 scenes are done (4 were before), 0 failed\n")
        self.assertEqual(self.journals(), before, "whoever does nothing leaves no journal")
        self.batch(0, stderr="7 of 7 scenes are done (7 were before), 0 failed\n")

    def test_shares_go_on_from_a_batch_that_was_not_shared(self):
        self.write(self.job("a"))
        self.batch(0)
        self.write(self.job("a"), self.job("b"))
        self.batch(0, "--shard", "1/1", stderr="share 1/1: 2 of 2 scenes are done (1 were before), 0 failed\n")

    def test_what_is_no_share(self):
        self.write(self.job("a"))
        for text in "", "1", "0/2", "3/2", "1/0", "-1/2", "1/2x", " 1/2", "1/2/3", "1/1000001", "x/y", "99999999999999999999/1":
            self.complains(64, f"esra batch: --shard takes K/N, the K-th of N shares, such as 1/4, not '{text}'", "batch",
                           "jobs.jsonl", "-o", "out", f"--shard={text}")
        for words, told in ((["--status", "--shard", "1/2"], "--status is about all shares; leave --shard out"),
                            (["--json"], "--json goes with --status")):
            self.complains(64, f"esra batch: {told}", "batch", "jobs.jsonl", "-o", "out", *words)

    def test_an_earlier_process_of_the_same_number(self):
        """As in containers, where it is always 1: a shell says which number the program will have."""
        self.write(self.job("a"))
        (self.path / "out").mkdir()
        taken = 'touch "out/journal-1of1-$(hostname)-$$.jsonl"; exec "$0" batch jobs.jsonl -o out --shard 1/1 -q'
        subprocess.run(["sh", "-c", taken, ESRA], cwd=self.path, check=True)
        self.assertEqual(len(self.journals()), 2)
        self.assertTrue(any(name.endswith("-2.jsonl") for name in self.journals()))


class Slurm(FleetTest):
    TASK = "SLURM_ARRAY_TASK_"

    def environment(self, **words):
        return {self.TASK + name: str(value) for name, value in words.items()}

    def test_tasks(self):
        self.write(*(self.job(f"s{n}") for n in range(6)))
        told = "share {}, of SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT; --shard 1/1 would do all scenes\n"
        for words, share, done in ((dict(ID=0, COUNT=3, MIN=0, MAX=2, STEP=1), "1/3", ["s0", "s3"]),
                                   (dict(ID=3, COUNT=3, MIN=1, MAX=3), "3/3", ["s2", "s5"]),
                                   (dict(ID=14, COUNT=3, MIN=12, MAX=16, STEP=2), "2/3", ["s1", "s4"])):
            env = self.environment(**words)
            self.batch(0, env=env, stderr=told.format(share) + f"share {share}: 2 of 2 scenes are done (0 were before), 0 failed\n")
            self.assertEqual(self.ended(), done)
            (self.path / "out" / self.journals()[0]).unlink()
        self.batch(0, "-q", env=self.environment(ID=1, COUNT=2, MIN=1, MAX=2), stderr="")
        self.batch(0, "--shard", "1/1", env=self.environment(ID="x"), stderr="share 1/1: 6 of 6 scenes are done (3 were before), "
                                                                             "0 failed\n")
        self.assertEqual(self.counts(0), (6, 0, 0, 0))

    def test_what_is_no_task(self):
        self.write(self.job("a"))
        gaps = "the tasks of this Slurm array are not numbered without gaps; say which share this is with --shard"
        for words, told in ((dict(ID=5, COUNT=2, MIN=5, MAX=9, STEP=1), gaps), (dict(ID=9, COUNT=2, MIN=1, MAX=2), gaps),
                            (dict(ID=0, COUNT=2, MIN=1, MAX=2), gaps), (dict(ID=1, COUNT=2, MIN=1, MAX=2, STEP=0), gaps),
                            (dict(ID=1), "SLURM_ARRAY_TASK_COUNT is not set; say which share this is with --shard"),
                            (dict(ID="one"), "SLURM_ARRAY_TASK_ID is 'one'; say which share this is with --shard"),
                            (dict(ID="1 ", COUNT=2), "SLURM_ARRAY_TASK_ID is '1 '; say which share this is with --shard")):
            done = self.batch(64, env=self.environment(**words), stdout="")
            self.assertEqual(done.stderr.decode(), f"esra batch: {told}\n")
        self.assertFalse((self.path / "out").exists())


class Together(FleetTest):
    """What lines of different journals mean, written by hand where writers would have to meet by chance."""

    def begin(self, *jobs):
        self.write(*jobs)
        (self.path / "out").mkdir()
        for job in jobs:
            (self.path / "out" / job["output"]).mkdir()
            (self.path / "out" / job["output"] / "result.json").write_text("{}")

    def test_two_that_did_the_same(self):
        a = self.job("a")
        self.begin(a)
        self.add("journal-1of2-x-1.jsonl", self.line(a, begun=1), self.line(a, exit=0, seconds=1))
        self.add("journal-1of2-y-1.jsonl", self.line(a, begun=1), self.line(a, exit=0, seconds=1))
        self.assertEqual(self.counts(0), (1, 0, 0, 0))
        self.add("journal-1of2-z-1.jsonl", self.line(a, begun=1), self.line(a, exit=74, seconds=1))
        self.assertEqual(self.counts(0), (1, 0, 0, 0), "one that failed beside them harms nothing")

    def test_two_that_did_different_things(self):
        """Neither knew of the other: files of both may stand there."""
        a, other = self.job("a"), self.job("a", options={"lambda": 0.01})
        self.begin(a)
        self.add("journal-1of2-x-1.jsonl", self.line(a, begun=1), self.line(a, exit=0, seconds=1))
        self.add("journal-1of2-y-1.jsonl", self.line(other, begun=1))
        self.assertEqual(self.status(13)["done"], 0)
        # Who has seen both, and does it again, settles it.
        self.batch(0, "--shard", "1/1")
        last = json.loads((self.path / "out" / self.journals()[0]).read_text().splitlines()[-1])
        self.assertEqual(last["before"], {"journal-1of2-x-1.jsonl": 2, "journal-1of2-y-1.jsonl": 1})
        self.assertEqual(self.counts(0), (1, 0, 0, 0))
        # Unless the other comes to its end after that.
        self.add("journal-1of2-y-1.jsonl", self.line(other, exit=0, seconds=1))
        self.assertEqual(self.counts(13), (0, 0, 0, 1))

    def test_there_and_back(self):
        a, other = self.job("a"), self.job("a", options={"lambda": 0.01})
        for jobs, before in ((a, 0), (other, 0), (a, 0), (a, 1)):
            self.write(jobs)
            self.batch(0, "--shard", "1/1", stderr=f"share 1/1: 1 of 1 scenes are done ({before} were before), 0 failed\n")

    def test_a_scene_that_began_anew(self):
        """Its files may be replaced by now, in part: what was done before does not count, whoever did it."""
        a = self.job("a")
        self.begin(a)
        self.add("journal-1of2-x-1.jsonl", self.line(a, begun=1), self.line(a, exit=0, seconds=1))
        self.add(f"journal-1of2-{HERE}-1.jsonl", self.line(a, begun=2, before={"journal-1of2-x-1.jsonl": 2}))
        self.assertEqual(self.counts(13), (0, 0, 0, 1))

    def test_what_another_is_at_work_on_comes_last(self):
        """He may be dead, too, if he was on another machine: then it is done all the same."""
        jobs = [self.job(name) for name in "abc"]
        self.write(*jobs)
        self.add("journal-1of2-elsewhere-1.jsonl", self.line(jobs[0], begun=1))
        self.add(f"journal-1of2-{HERE}-1.jsonl", self.line(jobs[1], begun=1))  # was killed, as its lock says
        told = self.status(13)
        self.assertEqual((told["at_work"], told["at_work_perhaps"], told["left"]), (1, 1, 2))
        self.batch(0, "--shard", "1/1", "-q")
        self.assertEqual(self.ended(), ["b", "c", "a"])

    def test_done_by_others_while_at_work(self):
        """Two without a share between them in one folder: most scenes are done once, and no harm is done."""
        jobs = [{**self.job(f"s{n}"), "photos": ["0.png", "1.png"]} for n in range(8)]
        self.write(*jobs)
        both = [subprocess.Popen([ESRA, "batch", "jobs.jsonl", "-o", "out", "--shard", "1/1", "-q"], cwd=self.path)
                for _ in range(2)]
        self.assertEqual([process.wait(timeout=600) for process in both], [0, 0])
        self.assertEqual(set(self.ended()), {f"s{n}" for n in range(8)})
        print(f"two writers of one share: 8 scenes done {len(self.ended())} times in all")
        self.expect(11, "separate", "0.png", "1.png", "-o", "plain", "-q")
        for n in range(8):
            for picture in self.path.glob("plain/*.png"):
                self.assertEqual((self.path / "out" / f"s{n}" / picture.name).read_bytes(), picture.read_bytes())
        self.assertEqual(self.counts(0), (8, 0, 0, 0))


class Status(FleetTest):
    def test_words(self):
        self.write(self.job("a"), {"photos": ["0.png", "none.png"], "output": "b"}, self.job("c"))
        self.complains(66, "esra batch: cannot read out: No such file or directory", "batch", "jobs.jsonl", "-o", "out", "--status")
        (self.path / "out").mkdir()
        self.batch(13, "--status", stderr="", stdout="3 scenes: 0 done, 0 failed, 0 at work, 3 left\n"
                                                     "how long the rest takes cannot be told before a scene is done\n")
        self.batch(0, "--shard", "1/3", "-q")
        told = self.batch(13, "--status").stdout.decode()
        self.assertRegex(told, r"^3 scenes: 1 done, 0 failed, 0 at work, 2 left\n"
                               r"nobody is at work on the shares of 2 scenes: [\d.]+ s of work, by the [\d.]+ s that a scene took\n$")
        self.batch(12, "--shard", "2/3", "-q")
        self.batch(0, "--shard", "3/3", "-q")
        self.batch(12, "--status", stderr="", stdout="3 scenes: 2 done, 1 failed, 0 at work, 0 left\nline 2: b: failed with exit "
                                                     "code 66: cannot read ./none.png: No such file or directory\n")
        told = self.status(12)
        self.assertEqual(told["failures"], [{"line": 2, "output": "b", "exit": 66,
                                             "message": "cannot read ./none.png: No such file or directory"}])
        self.assertEqual((told["schema"], told["scenes"], told["journals"], told["damaged_lines"]), ("esra-batch-status-1", 3, 3, 0))
        self.assertEqual((told["unattended"], told["remaining_s"]), (0, 0))
        self.assertEqual(len(self.journals()), 3, "--status writes nothing")

    def test_many_failures(self):
        self.write(*(self.job(f"s{n}") for n in range(30)))
        self.add("journal.jsonl", *(self.line(self.job(f"s{n}"), exit=65, seconds=1, message=f"bad\033[31m{n}") for n in range(30)))
        told = self.batch(12, "--status").stdout.decode().splitlines()
        self.assertEqual(len(told), 22)
        self.assertEqual(told[-1], "and 10 more failures; --json names all")
        self.assertNotIn("\033", "".join(told))
        self.assertEqual(len(self.status(12)["failures"]), 30)

    def test_remaining_time(self):
        """Two shares of two, one with two scenes at once: the one that ends last counts."""
        jobs = [self.job(f"s{n}") for n in range(20)]
        self.write(*jobs)
        (self.path / "out").mkdir()
        first, second = (f"journal-{k}of2-elsewhere-1.jsonl" for k in (1, 2))
        for n in 0, 1:
            (self.path / "out" / f"s{n}").mkdir()
            (self.path / "out" / f"s{n}" / "result.json").write_text("{}")
        self.add(first, self.line(jobs[0], exit=0, seconds=8), self.line(jobs[2], begun=1))
        self.assertEqual((self.status(13)["remaining_s"], self.status(13)["unattended"]), (None, 10))
        self.add(second, self.line(jobs[1], exit=0, seconds=12), self.line(jobs[3], begun=1), self.line(jobs[5], begun=1))
        with open(self.path / "out" / first) as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            told = self.status(13)
        self.assertEqual((told["done"], told["at_work"], told["at_work_perhaps"], told["left"]), (2, 3, 2, 15))
        self.assertEqual((told["scene_s"], told["unattended"]), (10, 0))
        self.assertEqual(told["remaining_s"], 10 * (8 + .5), "eight more of the first share, one at a time")
        text = self.batch(13, "--status").stdout.decode()
        self.assertIn("about 85 s to go, with as many at work as now and 10 s a scene, the mean of 2\n", text)
        self.assertIn("3 at work are so perhaps: begun on another machine", text)

    def test_a_share_at_work(self):
        photos, _ = scene(photos=2, height=150, width=200)
        for n, photo in enumerate(photos):
            self.save(f"large-{n}.png", photo)
        self.write(self.job("a"), {"photos": ["large-0.png", "large-1.png"], "output": "b"}, self.job("c"))
        share = subprocess.Popen([ESRA, "batch", "jobs.jsonl", "-o", "out", "--shard", "1/1", "-q"], cwd=self.path)
        while not (self.path / "out" / "b").exists():
            self.assertIsNone(share.poll())
            time.sleep(0.01)
        told = self.status(13)
        share.kill()
        share.wait()
        self.assertEqual((told["done"], told["at_work"], told["at_work_perhaps"], told["left"]), (1, 1, 0, 1))
        for _ in range(200):
            told = self.status(13)
            if told["at_work"] == 0:
                break
            time.sleep(0.05)
        self.assertEqual((told["done"], told["failed"], told["at_work"], told["left"]), (1, 0, 0, 2), "killed is not at work")


class Hostile(FleetTest):
    """Journals that are none, or lie. One line where there is damage, and the work is done again at worst."""

    def test_damage(self):
        a = self.job("a")
        self.write(a)
        good = self.line(a, exit=0, seconds=1)
        cases = {"nothing": b"", "no end": good.encode()[:-1], "cut off": good.encode()[:50], "zeros": b"\0" * 5000,
                 "binary": bytes(range(256)) * 40, "deep": b"[" * 100000 + b"\n", "no object": b"[1]\n3\nnull\n",
                 "twice": b'{"output": "a", "output": "a", "exit": 0}\n', "number": b'{"output": "a", "exit": 1e999}\n',
                 "wrong": b'{"output": 7}\n{"output": "a", "exit": "0"}\n{"output": "a", "exit": 4294967296}\n'
                          b'{"output": "a", "exit": -1, "before": 3, "job": [], "inputs": {}}\n'
                          b'{"output": "a", "exit": 0, "before": {"journal-1of1-x-1.jsonl": "x"}}\n',
                 "long": b'{"output": "' + b"a" * (17 << 20) + b'"}\n', "long, no end": b"x" * (17 << 20)}
        damaged = {"binary", "deep", "no object", "twice", "number", "long"}
        for name, data in cases.items():
            with self.subTest(name):
                (self.path / "out").mkdir()
                (self.path / "out" / "journal-1of1-x-1.jsonl").write_bytes(data)
                told = self.batch(13, "--status", timeout=100).stderr.decode()
                self.assertRegex(told, r"^esra batch: out/journal-1of1-x-1.jsonl: \d+ of \d+ lines are damaged, and count for "
                                       r"nothing\n$" if name in damaged else "^$")
                self.batch(0, "--shard", "1/1", "-q", timeout=100)
                self.assertEqual((self.path / "out" / "journal-1of1-x-1.jsonl").read_bytes(), data, "another's is not touched")
                self.assertEqual(self.counts(0), (1, 0, 0, 0))
                subprocess.run(["rm", "-r", self.path / "out"], check=True)

    def test_a_line_after_a_long_one(self):
        a = self.job("a")
        self.write(a)
        (self.path / "out" / "a").mkdir(parents=True)
        (self.path / "out" / "a" / "result.json").write_text("{}")
        self.add("journal.jsonl", "x" * (40 << 20) + "\n", self.line(a, exit=0, seconds=1))
        self.assertEqual(self.counts(0), (1, 0, 0, 0))
        self.assertEqual(self.status(0)["damaged_lines"], 1)

    def test_many_lines_about_one_scene(self):
        a = self.job("a")
        self.write(a)
        self.add("journal-1of1-x-1.jsonl", *[self.line(a, exit=65, seconds=1, message="no")] * 30000)
        self.add("journal-1of1-y-1.jsonl", *[self.line(a, begun=1)] * 30000)
        self.batch(13, "--status", timeout=100)

    def test_names_that_are_no_journals(self):
        self.write(self.job("a"))
        (self.path / "out" / "journal-x.jsonl").mkdir(parents=True)
        os.mkfifo(self.path / "out" / "journal-y.jsonl")
        os.symlink("journal-z.jsonl", self.path / "out" / "journal-z.jsonl")
        os.symlink("/dev/zero", self.path / "out" / "journal-zero.jsonl")
        pathlib.Path(os.fsdecode(os.fsencode(str(self.path / "out")) + b"/journal-\xff.jsonl")).write_text("{}\n")
        self.batch(0, "--shard", "1/1", timeout=100, stderr="share 1/1: 1 of 1 scenes are done (0 were before), 0 failed\n")
        self.assertEqual(self.counts(0), (1, 0, 0, 0))

    def test_a_journal_that_may_not_be_read(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        self.write(self.job("a"))
        self.add("journal-1of1-x-1.jsonl", "{}\n")
        (self.path / "out" / "journal-1of1-x-1.jsonl").chmod(0)
        told = "esra batch: cannot read out/journal-1of1-x-1.jsonl: Permission denied\n"
        self.batch(66, "--status", stdout="", stderr=told)
        self.batch(66, "--shard", "1/1", stdout="", stderr=told)
        self.assertEqual(self.journals(), ["journal-1of1-x-1.jsonl"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
