"""A batch of tiny scenes, killed at random moments and started again: nothing is lost, nothing is done twice, nothing is
half-written. usage: batch_kills.py [SCENES [KILLS [SEED]]]; ESRA names the program."""
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from batches import TinyBatch  # noqa: E402

SCENES, KILLS, SEED = (int(word) for word in (sys.argv[1:] + ["200", "5", "1"][len(sys.argv) - 1:]))


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        batch = TinyBatch(folder, SCENES)
        for kill in range(KILLS):
            # After another share of the scenes that are left, at any moment of the one at hand.
            goal = len(batch.done()) + rng.randrange(1, max(2, (SCENES - len(batch.done())) // (KILLS - kill + 1)))
            process = batch.start("--jobs", "3")
            while len(batch.done()) < goal and process.poll() is None:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.1))
            process.kill()
            code = process.wait()
            print(f"kill {kill + 1}: {batch.check()} of {SCENES} scenes done (exit {code})", flush=True)
        code = batch.start("--jobs", "3").wait()
        assert code == 0, code
        assert batch.check() == SCENES
        assert batch.start("--jobs", "3").wait() == 0 and len(batch.done()) == SCENES, "a finished batch did something"
        print(f"{SCENES} scenes, {KILLS} kills, seed {SEED}: nothing lost, nothing done twice")


if __name__ == "__main__":
    main()
