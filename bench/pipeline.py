#!/usr/bin/env python3
"""Seconds and memory of whole separations, by stage.

    bench/pipeline.py [--megapixels .16,.3,1.1,12] [--threads 1,2,4] [--photos 5] [--depth] [--layers BEHIND REFLECTED]
                      [--json] [OPTION OF ESRA SEPARATE...]

Makes photos of each size with `esra synth`, flat or with --depth, separates them with each number of threads (0: all), and
prints seconds, the speed-up over the first number of threads, the certified solve's iterations and gap, peak memory, and each
stage's share of the time, with the most memory held in it in floats a pixel and photo. Memory is watched from outside, in /proc: elsewhere than on Linux only the peak of the whole
is told."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from esra_bench import PROGRAM, SHARED, esra

SIDES = (4, 3)
POLL_S = 0.02


def resident_bytes(pid):
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


class Stages:
    """Where the program says it is, and since when."""

    def __init__(self):
        self.name, self.since, self.peaks, self.seconds = "read", time.monotonic(), {}, {}

    def enter(self, name):
        now = time.monotonic()
        self.seconds[self.name] = self.seconds.get(self.name, 0) + now - self.since
        self.name, self.since = name, now

    def see(self, resident):
        self.peaks[self.name] = max(self.peaks.get(self.name, 0), resident)


def follow(stream, stages):
    for line in stream:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("stage") and event["stage"] != stages.name:
            stages.enter(event["stage"])


def watch(words):
    """Runs a separation and tells its stages; what follows the solver's last word is encoding and writing."""
    stages, last = Stages(), [0.]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    readers = [threading.Thread(target=follow, args=(process.stderr, stages)),
               threading.Thread(target=lambda: last.append(process.stdout.read()))]
    for reader in readers:
        reader.start()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        stages.see(resident_bytes(process.pid))
        time.sleep(POLL_S)
    for reader in readers:
        reader.join()
    stages.enter("end")
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 10, 11):
        sys.exit(f"{' '.join(words)}: exit {process.returncode}")
    result = json.loads(last[-1])
    return {"method": result["method"], "motion": result["motion"], "iterations": result["solve"]["iterations"],
            "gap": result["solve"]["gap"], "library_s": result["seconds"], "stages_s": stages.seconds,
            "stages_bytes": stages.peaks, "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)}


def make(layers, megapixels, photos, depth, folder):
    """The photos' files, and their size."""
    width = round((megapixels * 1e6 * SIDES[0] / SIDES[1]) ** .5)
    height = round(megapixels * 1e6 / width)
    esra("synth", "-t", layers[0], "-r", layers[1], "-n", photos, "--size", f"{width}x{height}", "--shift", round(.028 * width),
         *(["--depth"] if depth else []), "-o", folder)
    return sorted(glob.glob(os.path.join(folder, "photo-*.png")), key=lambda f: (len(f), f)), width, height


def measure(layers, megapixels, arguments, options):
    """A run for each number of threads."""
    with tempfile.TemporaryDirectory() as folder:
        files, width, height = make(layers, megapixels, arguments.photos, arguments.depth, os.path.join(folder, "scene"))
        for threads in arguments.threads.split(","):
            run = watch([PROGRAM, "separate", *files, "-o", os.path.join(folder, "out"), "--progress", "json", "--json",
                         "--threads", threads, *options])
            unit = 4 * width * height * arguments.photos
            run.update(megapixels=width * height / 1e6, photos=arguments.photos, threads=int(threads),
                       seconds=sum(run["stages_s"].values()), peak_floats=run["peak_bytes"] / unit,
                       stages_floats={name: bytes_ / unit for name, bytes_ in run["stages_bytes"].items()})
            yield run


HEAD = "    MP  threads        s  speed-up   cpu s  iterations    gap  peak MB (floats)  share of the time, floats a pixel and photo"


def show(run, first):
    stages = [f"{name} {100 * seconds / run['seconds']:.0f} % {run['stages_floats'].get(name, 0):.0f}"
              for name, seconds in run["stages_s"].items() if seconds >= .005 * run["seconds"]]
    gap = "     -" if run["gap"] is None else f"{run['gap']:6.4f}"
    print(f"{run['megapixels']:6.2f} {run['threads']:8} {run['seconds']:8.1f} {first['seconds'] / run['seconds']:9.2f}"
          f" {run['cpu_s']:7.1f} {run['iterations']:11} {gap} {run['peak_bytes'] / 1e6:8.0f} ({run['peak_floats']:5.1f})"
          f"  {', '.join(stages)}  [{run['method']}, {run['motion']}]", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megapixels", default=".16,.3,1.1,12")
    parser.add_argument("--threads", default="0")
    parser.add_argument("--depth", action="store_true", help="layers with depth")
    parser.add_argument("--layers", nargs=2, metavar=("BEHIND", "REFLECTED"),
                        default=[os.path.join(SHARED, "photos", name) for name in ("hubble_deep_field.jpg", "coffee.png")])
    parser.add_argument("--photos", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments, options = parser.parse_known_args()
    if not all(map(os.path.exists, arguments.layers)):
        print("pipeline: skipped, ../shared/photos is not here; name two pictures with --layers")
        return
    runs = []
    if not arguments.json:
        print(HEAD)
    for megapixels in map(float, arguments.megapixels.split(",")):
        first = len(runs)
        for run in measure(arguments.layers, megapixels, arguments, options):
            runs.append(run)
            if not arguments.json:
                show(run, runs[first])
    if arguments.json:
        json.dump(runs, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
