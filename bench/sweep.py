#!/usr/bin/env python3
"""What each threshold is worth: every row of the tables changed alone, over scenes whose truth is known.

    cmake --build build --target bench_separate
    bench/sweep.py [--rows gradients.*] [--factors .5,2] [--scale .25] [--photos 3] [--log FILE] SCENE... [-- OPTION...]
    bench/sweep.py --try gradients.mixing_blur_px=1,gradients.integrate_blur_px=1 ... SCENE... [-- OPTION...]

A SCENE is a folder of photo-N (PPM; with PIL any format) and truth-transmitted-K, K the reference photo. --scale shrinks them,
--photos leaves that many around the reference. OPTIONs go to bench/separate, as in `-- -m depth`. Each row's value is
multiplied by each factor and kept within its range; --try, any number of times, sets what it says instead. Prints for each:
the mean change of the transmitted layer's fitted PSNR in dB, the largest with its scene, and how often method, motion or
warnings changed. Runs are kept in the log, by command: a sweep that was broken off goes on where it was. Needs nothing but
Python where the photos are PPM."""
import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from esra_bench import as_ppm

HERE = os.path.dirname(os.path.abspath(__file__))


def thresholds(program):
    """{room.name: (value, lowest, highest)}"""
    rows = {}
    for line in subprocess.run([program, "--thresholds"], capture_output=True, text=True, check=True).stdout.splitlines():
        row = re.match(r"(\w+\.\w+) = (\S+) in (\S+)\.\.(\S+)$", line)
        if row:
            rows[row[1]] = tuple(map(float, row.groups()[1:]))
    return rows


def scene_words(scene, arguments, folder):
    """What bench/separate is given for a scene."""
    photos = sorted(glob.glob(os.path.join(scene, "photo-?.*")))
    truth = sorted(glob.glob(os.path.join(scene, "truth-transmitted-?.*")))
    best = [t for t in truth if not t.endswith(".jpg")] or truth
    middle = [t for t in best if f"-{(len(photos) + 1) // 2}." in t]
    chosen = (middle or best)[0]
    reference = int(re.search(r"-(\d)\.\w+$", chosen)[1])
    first = max(0, min(reference - 1 - (arguments.photos - 1) // 2, len(photos) - arguments.photos))
    photos = photos[first:first + arguments.photos]
    return (["-r", str(reference - first), "-w", as_ppm(chosen, arguments.scale, folder)] +
            [as_ppm(p, arguments.scale, folder) for p in photos])


class Runs:
    """Runs of the driver, each made once."""

    def __init__(self, arguments, options):
        self.arguments, self.options, self.done = arguments, options, {}
        if arguments.log and os.path.exists(arguments.log):
            for line in open(arguments.log):
                self.done.update([json.loads(line)])

    def key(self, scene, settings):
        a = self.arguments
        return " ".join([os.path.basename(scene.rstrip("/")), str(a.scale), str(a.photos), *self.options, *settings])

    def run(self, scene, settings, words):
        key = self.key(scene, settings)
        if key not in self.done:
            command = [self.arguments.separate, "-t", "1", *self.options]
            for setting in settings:
                command += ["-s", setting]
            result = subprocess.run(command + words, capture_output=True, text=True)
            self.done[key] = json.loads(result.stdout) if result.returncode == 0 else {"failed": result.stderr[-200:]}
            if self.arguments.log:
                with open(self.arguments.log, "a") as log:
                    log.write(json.dumps([key, self.done[key]]) + "\n")
        return self.done[key]


def verdict(run):
    return [run.get(k) for k in ("method", "motion", "light", "warnings", "failed")]


def compare(scenes, base, changed):
    changes = {s: c.get("gain_db", -99) - b["gain_db"] for s, b, c in zip(scenes, base, changed)}
    worst = max(changes, key=lambda s: abs(changes[s]))
    flips = sum(verdict(b) != verdict(c) for b, c in zip(base, changed))
    return (f"{sum(changes.values()) / len(changes):+.2f} dB, most {changes[worst]:+.2f} {os.path.basename(worst.rstrip('/'))}"
            + (f", {flips} verdicts" if flips else ""))


def variants(rows, arguments):
    for text in arguments.attempts or []:
        yield "try", 1, text.split(",")
    if arguments.attempts:
        return
    for name, (value, lowest, highest) in rows.items():
        if any(fnmatch.fnmatch(name, pattern) for pattern in arguments.rows.split(",")):
            for factor in map(float, arguments.factors.split(",")):
                there = min(max(value * factor, lowest), highest)
                if there != value:
                    yield name, factor, [f"{name}={there:.8g}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="+")
    parser.add_argument("--separate", default=os.path.join(HERE, "..", "build", "bench", "separate"))
    parser.add_argument("--rows", default="*", help="patterns of room.name, separated by commas")
    parser.add_argument("--factors", default=".5,2")
    parser.add_argument("--try", dest="attempts", action="append", help="settings, separated by commas")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--photos", type=int, default=9)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--log", help="JSON lines; runs that stand in it are not made again")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    arguments, options = parser.parse_args(words[:split]), words[split + 1:]
    runs, rows = Runs(arguments, options), thresholds(arguments.separate)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        given = {s: scene_words(s, arguments, folder) for s in arguments.scenes}
        start = lambda settings: [pool.submit(runs.run, s, settings, given[s]) for s in arguments.scenes]
        base, later = start([]), [(name, factor, settings, start(settings)) for name, factor, settings in variants(rows, arguments)]
        base = [run.result() for run in base]
        for scene, run in zip(arguments.scenes, base):
            print(f"{os.path.basename(scene.rstrip('/'))}: {json.dumps(run)}", flush=True)
        for name, factor, settings, changed in later:
            what = " ".join(settings) if name == "try" else f"{name} x{factor:g} ({settings[0].split('=')[1]})"
            print(f"{what}: "
                  f"{compare(arguments.scenes, base, [run.result() for run in changed])}", flush=True)


main()
