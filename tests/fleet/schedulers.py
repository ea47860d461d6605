"""The recipes of examples/fleet for real: tiny scenes in shares by a Slurm of one node, made for this run alone, and by GNU
parallel. Shares are killed amid a scene and started again as another number of them; nothing is lost, nothing is done twice.
What is not installed is skipped with a word (apt install slurm-wlm parallel). usage: schedulers.py [SCENES [slurm|parallel]];
ESRA names the program."""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from batches import ESRA, TinyBatch  # noqa: E402

RECIPES = SOURCE / "examples" / "fleet"
PATIENCE_S = 200

CONFIGURATION = """ClusterName=esra
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=5 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def wait_until(what, condition):
    for _ in range(PATIENCE_S * 20):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"waited in vain until {what}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def missing(*programs):
    """The program that is not installed, if there is one; daemons stand where only root looks."""
    os.environ["PATH"] += os.pathsep + "/usr/sbin"
    return next((program for program in programs if not shutil.which(program)), None)


class Slurm:
    """A cluster of this machine, which claims five processors, with all its files in one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        for name in "state", "spool":
            (folder / name).mkdir()
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname(), controller=free_port(), daemon=free_port(), folder=folder, user="root"))

    @contextlib.contextmanager
    def running(self):
        daemons = []
        try:
            for name in "slurmctld", "slurmd":
                with open(self.folder / f"{name}.out", "wb") as said:
                    daemons.append(subprocess.Popen([name, "-D"], env=self.environment, stdout=said, stderr=said,
                                                    start_new_session=True))
            wait_until("the node is idle", lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"))
            yield self
        finally:
            for daemon in reversed(daemons):
                daemon.terminate()
                daemon.wait()

    def ask(self, *words, **options):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False, **options).stdout

    def submit(self, batch, tasks):
        """The recipe, with so many tasks; returns the array's number."""
        environment = {**self.environment, "PATH": f"{pathlib.Path(ESRA).resolve().parent}:{os.environ['PATH']}"}
        words = ["sbatch", "--parsable", f"--array={tasks}", "--cpus-per-task=1", "--no-requeue", "--output=slurm-%A_%a.out",
                 str(RECIPES / "array.sbatch")]
        return subprocess.run(words, env=environment, cwd=batch.folder, capture_output=True, text=True, check=True).stdout.strip()

    def over(self, array):
        wait_until(f"array {array} is over", lambda: not self.ask("squeue", "-h", "-j", array).strip())


def until(batch, share):
    """Until so much of the scenes is done."""
    wait_until("scenes are done", lambda: len(batch.done()) >= share * batch.scenes)


def say(batch, words):
    print(f"{words}: {batch.check()} of {batch.scenes} scenes done", flush=True)


def by_slurm(batch, folder):
    with Slurm(folder).running() as cluster:
        array = cluster.submit(batch, "0-3")
        until(batch, .2)
        cluster.ask("scancel", "--signal=KILL", "--full", f"{array}_2")
        until(batch, .3)
        cluster.ask("scancel", array)
        cluster.over(array)
        say(batch, "array 0-3, task 2 killed, then all cancelled")
        array = cluster.submit(batch, "1-3")
        until(batch, .6)
        cluster.ask("scancel", "--signal=KILL", "--full", array)
        cluster.over(array)
        say(batch, "array 1-3, all killed")
        array = cluster.submit(batch, "10-18:2")
        cluster.over(array)
        say(batch, "array 10-18:2")
        told = (batch.folder / f"slurm-{array}_14.out").read_text()
        assert told.startswith("share 3/5, of SLURM_ARRAY_TASK_ID"), told


def one_of(batch, shares):
    """The process of a share that is still at work; its journal's name has the number."""
    for journal in batch.folder.glob(f"out/journal-*of{shares}-*"):
        process = int(journal.stem.rsplit("-", 1)[1])
        command = pathlib.Path(f"/proc/{process}/cmdline")
        if command.exists() and b"--shard" in command.read_bytes():
            return process
    raise AssertionError("no share is at work")


def by_parallel(batch, _):
    environment = {**os.environ, "PATH": f"{pathlib.Path(ESRA).resolve().parent}:{os.environ['PATH']}"}

    def start(shares, *options):
        return subprocess.Popen([RECIPES / "parallel.sh", str(shares), "--will-cite", *options], cwd=batch.folder,
                                env=environment, stderr=subprocess.DEVNULL)
    for shares, goal, options in (4, .3, ["--halt", "now,fail=1"]), (3, .6, ["--halt", "now,fail=1"]):
        process = start(shares, *options)
        until(batch, goal)
        os.kill(one_of(batch, shares), signal.SIGKILL)
        assert process.wait() != 0
        say(batch, f"{shares} shares, one killed, and parallel ended the others")
    assert start(5).wait() == 0
    say(batch, "5 shares")


WAYS = {"slurm": (by_slurm, ["slurmctld", "slurmd", "sbatch"]), "parallel": (by_parallel, ["parallel"])}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # no daemon is left behind
    scenes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name in sys.argv[2:] or WAYS:
        run, programs = WAYS[name]
        absent = missing(*programs)
        if absent or (name == "slurm" and os.geteuid() != 0):
            print(f"{name}: skipped: {absent or 'root'} is not here")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for part in "work", "cluster":
                pathlib.Path(folder, part).mkdir()
            batch = TinyBatch(pathlib.Path(folder, "work"), scenes)
            run(batch, pathlib.Path(folder, "cluster"))
            code, told = batch.status()
            assert (code, batch.check(), told["done"]) == (0, scenes, scenes), told
            print(f"{name}: {scenes} scenes, {told['journals']} journals: nothing lost, nothing done twice")


if __name__ == "__main__":
    main()
