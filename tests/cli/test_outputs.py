"""esra separate where outputs cannot be written, and when it is interrupted."""
import contextlib
import json
import os
import resource
import signal
import struct
import subprocess
import time
import unittest

from cli import ESRA
from pictures import png_chunk, to_8_bit
from separating import HEIGHT, NAMES, OUTPUTS, PHOTOS, WIDTH, SeparateTest


class Outputs(SeparateTest):
    def test_folders_that_cannot_be_written(self):
        self.complains(73, "esra separate: cannot make the folder no/where: No such file or directory",
                       *self.separate(output="no/where"))
        self.complains(73, "esra separate: cannot write into p1.png: it is not a folder", *self.separate(output="p1.png"))
        self.complains(73, "esra separate: cannot make the folder p1.png/x: Not a directory",
                       *self.separate(output="p1.png/x"))

    def test_a_folder_without_permission(self):
        # Root may write anywhere: the program then runs as nobody.
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        self.path.chmod(0o755)
        self.earlier()
        (self.path / "out" / "result.json").chmod(0o444)
        (self.path / "out").chmod(0o555)
        self.addCleanup((self.path / "out").chmod, 0o755)
        try:
            self.complains(73, "esra separate: cannot write out/result.json: Permission denied", *self.separate(), **nobody)
        except PermissionError as reason:
            self.skipTest(f"nobody may not run the program here: {reason}")

    def replace_as(self, user, group, groups, mode, acl=None):
        """Replaces a file of root's and group 4242 as another user, in a folder of theirs; what stat() says of it then."""
        if os.geteuid() != 0:
            self.skipTest("only root can be somebody else")
        self.path.chmod(0o755)
        folder, file = self.path / "theirs", self.path / "theirs" / "t.json"
        folder.mkdir(exist_ok=True)
        os.chown(folder, user, group)
        file.write_text("earlier")
        os.chown(file, 0, 4242)
        file.chmod(mode)
        if acl:
            self.set_acl(file, "access", acl)
        try:
            self.expect(0, "align", "p1.png", "p1.png", "-o", "theirs/t.json", "-q", user=user, group=group, extra_groups=groups)
        except PermissionError as reason:
            self.skipTest(f"others may not run the program here: {reason}")
        self.assertIn("esra-transforms-1", file.read_text())
        return file.stat()

    def test_a_file_that_only_its_owner_may_replace(self):
        """Told before any work is done, and before others are replaced."""
        if os.geteuid() != 0:
            self.skipTest("only root can be somebody else")
        self.path.chmod(0o755)
        self.earlier()
        for name in OUTPUTS:
            os.chown(self.path / "out" / name, 65534, 65534)
        os.chown(self.path / "out" / "transmitted.png", 4242, 4242)
        (self.path / "out" / "transmitted.png").chmod(0o666)
        (self.path / "out").chmod(0o1777)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            self.complains(73, "esra separate: cannot write out/transmitted.png: Operation not permitted",
                           *self.separate("--progress=json"), **nobody)
        except PermissionError as reason:
            self.skipTest(f"nobody may not run the program here: {reason}")
        os.chown(self.path / "out", 65534, 65534)
        self.expect(11, *self.separate("-q", photos=["p1.png", "p1.png"]), **nobody)
        self.assertNotEqual((self.path / "out" / "transmitted.png").read_bytes(), b"earlier", "its folder's owner may")

    def test_the_group_of_a_file_is_kept(self):
        now = self.replace_as(65534, 65534, [4242], 0o662)
        self.assertEqual((now.st_uid, now.st_gid, now.st_mode & 0o777), (65534, 4242, 0o662))

    def test_no_other_group_gets_rights(self):
        for mode, left in (0o666, 0o606), (0o646, 0o604), (0o606, 0o600):
            now = self.replace_as(65534, 65534, [], mode)
            self.assertEqual((now.st_uid, now.st_gid, oct(now.st_mode & 0o777)), (65534, 65534, oct(left)))

    def set_acl(self, path, kind, user, mask=6):
        """Lets that user read and write, within the mask; the owner as well, the group and others nothing."""
        entries = [(1, 6, -1), (2, 6, user), (4, 0, -1), (16, mask, -1), (32, 0, -1)]
        try:
            os.setxattr(path, f"system.posix_acl_{kind}", struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *e) for e in entries))
        except (OSError, AttributeError) as reason:
            self.skipTest(f"there are no access control lists here: {reason}")

    def acl(self, path):
        try:
            return os.getxattr(path, "system.posix_acl_access")
        except OSError:
            return None

    def test_an_access_control_list_is_kept(self):
        file = self.path / "t.json"
        file.write_text("earlier")
        self.set_acl(file, "access", 4242)
        before = self.acl(file), file.stat().st_mode
        self.expect(0, "align", "p1.png", "p1.png", "-o", "t.json", "-q")
        self.assertIn("esra-transforms-1", file.read_text())
        self.assertEqual((self.acl(file), file.stat().st_mode), before)

    def test_a_list_that_cannot_be_kept_gives_nobody_rights(self):
        """Its group's rights would be our group's; the bits of the mode are the mask's."""
        now = self.replace_as(65534, 65534, [], 0o600, acl=65534)
        self.assertEqual((now.st_gid, oct(now.st_mode & 0o777)), (65534, oct(0o600)))
        self.assertIsNone(self.acl(self.path / "theirs" / "t.json"))

    def test_no_list_comes_from_the_folder(self):
        """A file that had none gets none; a new one gets the folder's, as everywhere."""
        (self.path / "t.json").write_text("earlier")
        (self.path / "t.json").chmod(0o640)
        self.set_acl(self.path, "default", 4242)
        for name in "t.json", "new.json":
            self.expect(0, "align", "p1.png", "p1.png", "-o", name, "-q")
        self.assertIsNone(self.acl(self.path / "t.json"))
        self.assertEqual(oct((self.path / "t.json").stat().st_mode & 0o777), oct(0o640))
        self.assertIsNotNone(self.acl(self.path / "new.json"))

    def test_no_photo_is_written_over(self):
        before = (self.path / "p1.png").read_bytes()
        self.expect(73, "align", *NAMES, "-o", "p1.png", stderr="esra align: p1.png is one of the inputs, and would be written "
                    "over: choose another name or folder\n")
        (self.path / "photo-2.png").write_bytes(before)
        self.expect(73, "synth", "-t", "photo-2.png", "-r", "p2.png", "-o", ".", "--size", "16x12", "--shift", "1",
                    stderr="esra synth: ./photo-2.png is one of the inputs, and would be written over: choose another name or folder\n")
        self.assertEqual([(self.path / name).read_bytes() for name in ("p1.png", "photo-2.png")], [before, before])
        (self.path / "photo-2.png").unlink()
        told = "esra separate: ./{} is one of the inputs, and would be written over: choose another name or folder"
        self.save("transmitted.png", to_8_bit(PHOTOS[0]))
        self.complains(73, told.format("transmitted.png"), *self.separate(photos=["transmitted.png", "p2.png"], output="."))
        os.link(self.path / "p3.png", self.path / "reflected-2.png")
        self.complains(73, told.format("reflected-2.png"), *self.separate(output="."))

    def test_no_list_of_photos_is_written_over(self):
        told = "esra {}: {} is one of the inputs, and would be written over: choose another name or folder"
        (self.path / "out").mkdir()
        for name, command in [("out/result.json", self.separate(photos=["@out/result.json"])),
                              ("list.txt", ["align", "@list.txt", "-o", "list.txt"])]:
            (self.path / name).write_text("\n".join(NAMES))
            self.complains(73, told.format(command[0], name), *command)
        with open(self.path / "out/result.json", "rb") as names:
            self.complains(73, told.format("separate", "out/result.json"), *self.separate(photos=["@-"]), stdin=names)

    def test_no_photo_from_standard_input_is_written_over(self):
        """Its name is the shell's affair; the file is the one that an output would replace."""
        (self.path / "out").mkdir()
        told = "{} is one of the inputs, and would be written over: choose another name or folder"
        for name, folder in [("transmitted.png", "out"), ("report.html", "out"), ("result.json", "out"), ("t.json", None),
                             ("photo-1.png", "out")]:
            with self.subTest(name):
                path = f"{folder}/{name}" if folder else name
                self.save(path, to_8_bit(PHOTOS[0]))
                command = {"t.json": ["align", "-", "p2.png", "-o", "t.json"],
                           "photo-1.png": ["synth", "-t", "-", "-r", "p2.png", "-o", "out", "--size", "16x12", "--shift", "1"]
                           }.get(name, self.separate(photos=["-", "p2.png"]))
                with open(self.path / path, "rb") as photo:
                    self.complains(73, f"esra {command[0]}: {told.format(path)}", *command,
                                   stdin=photo)
        (self.path / "out/transmitted.png").unlink()
        (self.path / "out/result.json").unlink()
        with open(self.path / "out/report.html", "rb") as photo:
            done = self.run_esra(*self.separate("--no-report", photos=["-", "p2.png"]), stdin=photo)
        self.assertIn(done.returncode, (0, 10, 11), done.stderr)

    def test_no_output_is_written_over_another(self):
        told = "esra {}: {} and {} are one file, and one would be written over the other: remove one of them"
        (self.path / "out").mkdir()
        (self.path / "out/reflected-1.png").write_text("earlier")
        (self.path / "out/transmitted.png").symlink_to("reflected-1.png")
        self.complains(73, told.format("separate", "out/transmitted.png", "out/reflected-1.png"), *self.separate())
        (self.path / "scene").mkdir()
        (self.path / "elsewhere").write_text("earlier")
        for name in "photo-2.png", "truth.json":
            (self.path / "scene" / name).symlink_to("../elsewhere")
        self.complains(73, told.format("synth", "scene/photo-2.png", "scene/truth.json"), "synth", "-t", "p1.png", "-r", "p2.png",
                       "-o", "scene", "--size", "16x12", "--shift", "1")

    def test_a_descriptor_is_written_as_it_stands(self):
        """What the file held, and what others write into it, stays."""
        if not os.path.exists("/proc/self/fd"):
            self.skipTest("there is no /proc")
        same = "p1.png", "p1.png"
        self.expect(0, "align", *same, "-o", "t.json", "-q")
        (self.path / "link").symlink_to("/dev/stdout")
        for name in "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "link":
            with self.subTest(name):
                log = self.path / "log"
                log.write_text("precious\n")
                with open(log, "ab") as file:
                    done = self.run_esra("align", *same, "-o", name, "-q", capture_output=False, stdout=file,
                                         stderr=subprocess.PIPE)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    file.write(b"more\n")
                self.assertEqual(log.read_text(), "precious\n" + (self.path / "t.json").read_text() + "more\n")
        with open(self.path / "log", "rb") as file:
            self.complains(73, "esra align: cannot write /dev/stdin: Bad file descriptor", "align", *same, "-o", "/dev/stdin",
                           stdin=file)
        done = self.expect(0, "align", *same, "-o", "/dev/stdout", "-q")
        self.assertEqual(done.stdout, (self.path / "t.json").read_bytes(), "through a pipe")

    def test_an_output_that_is_a_folder(self):
        """Told before any work is done."""
        for name in OUTPUTS:
            (self.path / "out" / name).mkdir(parents=True)
            self.complains(73, f"esra separate: cannot write out/{name}: Is a directory", *self.separate("--progress=json"))
            (self.path / "out" / name).rmdir()

    def test_an_output_that_is_a_pipe(self):
        (self.path / "out").mkdir()
        os.mkfifo(self.path / "out" / "result.json")
        process = subprocess.Popen([ESRA, *self.separate("-q", photos=["p1.png", "p1.png"])], cwd=self.path)
        self.assertEqual(json.loads((self.path / "out" / "result.json").read_text())["method"], "none")
        self.assertEqual(process.wait(100), 11)

    def test_exif_that_jpeg_cannot_hold(self):
        """70,000 bytes in one tag: left out with a warning where they do not fit, and kept where they do."""
        exif = struct.pack(">2sHIHHHIII", b"MM", 42, 8, 1, 0x927c, 7, 70000, 26, 0) + b"note" * 17500
        self.save("p1.png", to_8_bit(PHOTOS[0]), png_chunk(b"eXIf", exif))
        told = "warning: p1.png has more EXIF than a JPEG can hold: its layers are written without.\n"
        done = self.expect(0, *self.separate("--format", "jpg", "-r", "1"))
        self.assertEqual(done.stderr.decode().count(told), 1, done.stderr)
        self.assertNotIn(b"Exif", (self.path / "out" / "reflected-1.jpg").read_bytes())
        self.expect(0, *self.separate("--format", "jpg", "--layers", "transmitted", "-q"), stderr="")
        self.expect(0, *self.separate("-q"), stderr="")
        self.assertEqual(self.chunk("reflected-1.png", b"eXIf"), exif)

    def test_few_open_files(self):
        """All files are put in place together, and so are open together: photos, three streams and some to pass."""
        limit = lambda soft, hard: {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))}
        self.expect(11, *self.separate("--no-report", photos=["p1.png"] * 20), **limit(16, 64))
        self.assertEqual(len(list((self.path / "out").iterdir())), 23)
        synth = ["synth", "-t", "p1.png", "-r", "p2.png", "-o", "scene", "--size", "16x12", "--shift", "1", "-n", "20"]
        told = ("esra {}: 23 files are to be written at once, and the system lets 24 be open, where 30 are needed: raise that "
                "limit (ulimit -n), or ask for fewer")
        for command in self.separate("--progress=json", "--no-report", photos=["p1.png"] * 20), synth:
            self.complains(75, told.format(command[0]), *command, **limit(16, 24))
        self.expect(0, *synth, **limit(16, 64))

    def test_a_full_disk_keeps_earlier_outputs(self):
        self.earlier()
        for most in 200, 20000:
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            before = {p: p.read_bytes() for p in self.path.rglob("*") if p.is_file()}
            done = self.expect(74, *self.separate("-q"), preexec_fn=limit)
            self.assertRegex(done.stderr.decode(), r"^esra separate: writing out/[a-z0-9.-]+ broke off: File too large\n$")
            self.assertEqual({p: p.read_bytes() for p in self.path.rglob("*") if p.is_file()}, before)

    def test_standard_output_that_is_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "wb") as full:
            done = self.run_esra(*self.separate("-q", "--json"), capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def interrupt(self, number, stage, command, times=1):
        """Sends a signal as soon as a stage is told to have begun; returns the exit code and the last line told."""
        process = subprocess.Popen([ESRA, *command, "--progress=json"], cwd=self.path, stderr=subprocess.PIPE)
        for line in process.stderr:
            if json.loads(line)["stage"] == stage:
                break
        for _ in range(times):
            process.send_signal(number)
            time.sleep(.05 * (times - 1))
        rest = process.communicate(timeout=100)[1].splitlines()
        return process.returncode, rest[-1].decode()

    def test_interrupted(self):
        self.earlier()
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143):
            for stage in "align", "separate", "solve":
                with self.subTest(f"{stage} {code}"):
                    done = self.interrupt(number, stage, self.separate("--gap", "1e-9", "--max-iterations", "100000"))
                    self.assertEqual(done, (code, "esra separate: interrupted; nothing was written"))
                    for name in OUTPUTS:
                        self.assertEqual((self.path / "out" / name).read_text(), "earlier")
        done = self.interrupt(signal.SIGINT, "align", ["align", *NAMES, "-o", "t.json"])
        self.assertEqual(done, (130, "esra align: interrupted; nothing was written"))
        self.assertFalse((self.path / "t.json").exists())

    def test_interrupted_before_the_work(self):
        """While photos are read, by any command: at once, whoever still has to write the photo."""
        os.mkfifo(self.path / "slow.png")
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143):
            for command in (self.separate(photos=["p1.png", "slow.png"]), ["align", "p1.png", "slow.png", "-o", "t.json"],
                            ["info", "slow.png"], ["compare", "p1.png", "slow.png"],
                            ["synth", "-t", "slow.png", "-r", "p1.png", "-o", "out"]):
                with self.subTest(f"{command[0]} {code}"):
                    process = subprocess.Popen([ESRA, *command], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    with open(self.path / "slow.png", "wb"):  # which it has opened then
                        process.send_signal(number)
                        said = process.communicate(timeout=100)
                    self.assertEqual((process.returncode, *said), (code, b"", f"esra {command[0]}: interrupted; nothing was written\n".encode()))
                    self.assertFalse((self.path / "out").exists() or (self.path / "t.json").exists())

    def test_interrupted_before_anybody_reads(self):
        """Of an output that is a pipe."""
        os.mkfifo(self.path / "t.json")
        process = subprocess.Popen([ESRA, "align", *NAMES, "-o", "t.json"], cwd=self.path, stderr=subprocess.PIPE)
        time.sleep(1)  # until it waits; sooner, it ends all the same
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=100)[1], b"esra align: interrupted; nothing was written\n")
        self.assertEqual(process.returncode, 130)

    def test_interrupted_where_nobody_hears_it(self):
        """stderr is a pipe that is full: the last words are let go."""
        os.mkfifo(self.path / "slow.png")
        read, write = os.pipe()
        os.set_blocking(write, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write, bytes(4096))
        os.set_blocking(write, True)
        process = subprocess.Popen([ESRA, "info", "slow.png"], cwd=self.path, stderr=write)
        with open(self.path / "slow.png", "wb"):
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=100), 130)
        os.close(read)
        os.close(write)

    def test_an_ignored_signal_stays_ignored(self):
        """As nohup and shells have it for what runs in the background."""
        os.mkfifo(self.path / "slow.png")
        process = subprocess.Popen([ESRA, "info", "slow.png"], cwd=self.path, stdout=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        with open(self.path / "slow.png", "wb") as file:
            process.send_signal(signal.SIGINT)
            file.write((self.path / "p1.png").read_bytes())
        self.assertIn(b"slow.png", process.communicate(timeout=100)[0])
        self.assertEqual(process.returncode, 0)

    def test_interrupted_but_kept(self):
        for stage in "align", "separate", "solve":
            with self.subTest(stage):
                slow = "--gap", "1e-9", "--max-iterations", "100000", "--keep-partial"
                # timeout(1) sends every signal twice.
                code, _ = self.interrupt(signal.SIGTERM, stage, self.separate(*slow), times=2)
                self.assertEqual(code, 143)
                self.assertEqual(self.transmitted().shape, (HEIGHT, WIDTH, 3))
                # A solve that was asked before its first iterate has nothing to show either.
                found = self.result()["method"], self.result()["solve"]["status"]
                self.assertIn(found, [("none", "none")] + [("joint", "stopped")] * (stage == "solve"))
                told = b"Interrupted before there were layers" in (self.path / "out" / "report.html").read_bytes()
                self.assertEqual(told, found[0] == "none")


if __name__ == "__main__":
    unittest.main(verbosity=2)
