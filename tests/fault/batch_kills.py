"""A batch of tiny scenes, killed at random moments and started again: nothing is lost, nothing is done twice, nothing is
half-written. usage: batch_kills.py [SCENES [KILLS [SEED]]]; ESRA names the program."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from pictures import png_bytes, png_pixels, scene, to_8_bit  # noqa: E402

ESRA = os.environ["ESRA"]
KINDS = 4
SCENES, KILLS, SEED = (int(word) for word in (sys.argv[1:] + ["200", "5", "1"][len(sys.argv) - 1:]))
FILES = {"confidence.png", "reflected-1.png", "reflected-2.png", "report.html", "result.json", "transmitted.png"}


def prepare(folder):
    """Photos, what esra separate makes of them, and the jobs file."""
    for kind in range(KINDS):
        for n, photo in enumerate(scene(photos=2, height=24, width=30, seed=kind)[0]):
            (folder / f"{kind}-{n}.png").write_bytes(png_bytes(to_8_bit(photo)))
        subprocess.run([ESRA, "separate", f"{kind}-0.png", f"{kind}-1.png", "-o", f"whole-{kind}", "-q"], cwd=folder)
    with open(folder / "jobs.jsonl", "w") as jobs:
        for n in range(SCENES):
            print(json.dumps({"photos": [f"{n % KINDS}-0.png", f"{n % KINDS}-1.png"], "output": f"s{n}"}), file=jobs)


def start(folder):
    return subprocess.Popen([ESRA, "batch", "jobs.jsonl", "-o", "out", "--jobs", "3", "-q"], cwd=folder)


def done(folder):
    """Outputs that the journal says are done, in its order; the last line may be cut off."""
    path = folder / "out" / "journal.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    parsed = [json.loads(line) for line in lines if line.endswith("}")]
    return [line["output"] for line in parsed if line.get("exit") in (0, 10, 11)]


def check(folder):
    """What the journal says is true, and every picture that is there is whole; returns how many scenes are done."""
    finished = done(folder)
    assert len(set(finished)) == len(finished), "a scene was done twice"
    for name in finished:
        output, whole = folder / "out" / name, folder / f"whole-{int(name[1:]) % KINDS}"
        there = {path.name for path in output.iterdir()}
        assert there == FILES, (name, there)
        json.loads((output / "result.json").read_text())
        for picture in "transmitted.png", "reflected-1.png", "reflected-2.png", "confidence.png":
            assert (output / picture).read_bytes() == (whole / picture).read_bytes(), (name, picture)
    for picture in folder.glob("out/*/*.png"):
        png_pixels(picture)
    for file in folder.glob("out/*/*.json"):
        json.loads(file.read_text())
    return len(finished)


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        for kill in range(KILLS):
            # After another share of the scenes that are left, at any moment of the one at hand.
            goal = len(done(folder)) + rng.randrange(1, max(2, (SCENES - len(done(folder))) // (KILLS - kill + 1)))
            batch = start(folder)
            while len(done(folder)) < goal and batch.poll() is None:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.1))
            batch.kill()
            code = batch.wait()
            print(f"kill {kill + 1}: {check(folder)} of {SCENES} scenes done (exit {code})", flush=True)
        code = start(folder).wait()
        assert code == 0, code
        assert check(folder) == SCENES
        assert start(folder).wait() == 0 and len(done(folder)) == SCENES, "a finished batch did something"
        print(f"{SCENES} scenes, {KILLS} kills, seed {SEED}: nothing lost, nothing done twice")


if __name__ == "__main__":
    main()
