"""Tiny scenes in shares of one folder, shares killed amid a scene and started again as another number of them: nothing is
lost, nothing is done twice, nothing is half-written. usage: shares.py [SCENES [SHARES [ROUNDS [SEED]]]]; ESRA names the
program."""
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from batches import TinyBatch  # noqa: E402

SCENES, SHARES, ROUNDS, SEED = (int(word) for word in (sys.argv[1:] + ["12", "3", "2", "1"][len(sys.argv) - 1:]))


def start(batch, shares):
    return [batch.start("--shard", f"{part + 1}/{shares}") for part in range(shares)]


def kill_some(batch, processes, goal, rng):
    """Once so many scenes are done, one share is killed at any moment; all the others are told to end."""
    while len(batch.done()) < goal and any(process.poll() is None for process in processes):
        time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.1))
    rng.shuffle(processes)
    for n, process in enumerate(processes):
        process.kill() if n == 0 else process.terminate()
    return [process.wait() for process in processes]


def settled(batch):
    """The status, once the children of the one that was killed are dead, too: an instant later, or two."""
    for _ in range(200):
        code, told = batch.status()
        if told["at_work"] == 0:
            break
        time.sleep(0.05)
    return code, told


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        batch = TinyBatch(folder, SCENES)
        for turn in range(ROUNDS):
            shares = SHARES + turn % 2
            goal = len(batch.done()) + max(1, (SCENES - len(batch.done())) // (ROUNDS - turn + 1))
            codes = kill_some(batch, start(batch, shares), goal, rng)
            done = batch.check()
            code, told = settled(batch)
            print(f"{shares} shares ended with {codes}: {done} of {SCENES} scenes done, {told['left']} left", flush=True)
            assert (told["done"], told["failed"], told["at_work"]) == (done, 0, 0), told
            assert code == (13 if done < SCENES else 0)
        last = max(1, SHARES - 1)
        codes = [process.wait() for process in start(batch, last)]
        assert codes == [0] * last, codes
        assert batch.check() == SCENES
        journals = len(list(batch.folder.glob("out/journal*")))
        assert [process.wait() for process in start(batch, SHARES)] == [0] * SHARES
        assert batch.check() == SCENES, "shares of a finished batch did something"
        assert len(list(batch.folder.glob("out/journal*"))) == journals, "a share with nothing to do leaves no journal"
        assert batch.status()[0] == 0
        print(f"{SCENES} scenes, then {last} shares, seed {SEED}: nothing lost, nothing done twice")


if __name__ == "__main__":
    main()
