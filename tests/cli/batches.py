"""Batches of tiny scenes, and whether what their journals say is true."""
import json
import os
import pathlib
import subprocess

from pictures import png_bytes, png_pixels, scene, to_8_bit

ESRA = os.environ["ESRA"]
KINDS = 4
PICTURES = "transmitted.png", "reflected-1.png", "reflected-2.png", "confidence.png"
FILES = {*PICTURES, "report.html", "result.json"}


class TinyBatch:
    """jobs.jsonl with so many scenes, of few kinds, whose right answers are made first; outputs go to out/."""

    def __init__(self, folder, scenes):
        self.folder, self.scenes = pathlib.Path(folder), scenes
        for kind in range(KINDS):
            for n, photo in enumerate(scene(photos=2, height=24, width=30, seed=kind)[0]):
                (self.folder / f"{kind}-{n}.png").write_bytes(png_bytes(to_8_bit(photo)))
            subprocess.run([ESRA, "separate", f"{kind}-0.png", f"{kind}-1.png", "-o", f"whole-{kind}", "-q"], cwd=self.folder)
        with open(self.folder / "jobs.jsonl", "w") as jobs:
            for n in range(scenes):
                print(json.dumps({"photos": [f"{n % KINDS}-0.png", f"{n % KINDS}-1.png"], "output": f"s{n}"}), file=jobs)

    def start(self, *options):
        return subprocess.Popen([ESRA, "batch", "jobs.jsonl", "-o", "out", "-q", *options], cwd=self.folder)

    def done(self):
        """Outputs that the journals say are done; the last line of each may be cut off."""
        finished = []
        for journal in sorted(self.folder.glob("out/journal*.jsonl")):
            lines = [json.loads(line) for line in journal.read_text().split("\n")[:-1] if line.endswith("}")]
            finished += [line["output"] for line in lines if line.get("exit") in (0, 10, 11)]
        return finished

    def check(self):
        """What the journals say is true, and every picture that is there is whole; returns how many scenes are done."""
        finished = self.done()
        assert len(set(finished)) == len(finished), "a scene was done twice"
        for name in finished:
            output, whole = self.folder / "out" / name, self.folder / f"whole-{int(name[1:]) % KINDS}"
            there = {path.name for path in output.iterdir()}
            assert there == FILES, (name, there)
            for picture in PICTURES:
                assert (output / picture).read_bytes() == (whole / picture).read_bytes(), (name, picture)
        for picture in self.folder.glob("out/*/*.png"):
            png_pixels(picture)
        for file in self.folder.glob("out/*/*.json"):
            json.loads(file.read_text())
        return len(finished)

    def status(self):
        """What --status says, and its exit code."""
        told = subprocess.run([ESRA, "batch", "jobs.jsonl", "-o", "out", "--status", "--json"], cwd=self.folder,
                              capture_output=True, check=False)
        return told.returncode, json.loads(told.stdout)
