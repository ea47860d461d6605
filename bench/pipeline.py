#!/usr/bin/env python3
"""Seconds and memory of whole separations, by stage.

    bench/pipeline.py [--megapixels .3,1.1,3,12] [--photos 5] [--layers BEHIND REFLECTED]
                      [--json] [OPTION OF ESRA SEPARATE...]

Makes photos of each size with `esra synth`, separates them, and prints for every stage its seconds and the most memory held
in it, in floats a pixel and photo. Memory is watched from outside, in /proc: elsewhere than on Linux only the peak of the whole
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
    return {"method": result["method"], "library_s": result["seconds"], "stages_s": stages.seconds,
            "stages_bytes": stages.peaks, "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)}


def measure(layers, megapixels, photos, options):
    width = round((megapixels * 1e6 * SIDES[0] / SIDES[1]) ** .5)
    height = round(megapixels * 1e6 / width)
    with tempfile.TemporaryDirectory() as folder:
        scene = os.path.join(folder, "scene")
        esra("synth", "-t", layers[0], "-r", layers[1], "-n", photos, "--size", f"{width}x{height}",
             "--shift", round(.028 * width), "-o", scene)
        files = sorted(glob.glob(os.path.join(scene, "photo-*.png")), key=lambda f: (len(f), f))
        run = watch([PROGRAM, "separate", *files, "-o", os.path.join(folder, "out"), "--progress", "json", "--json",
                     *options])
    run.update(megapixels=width * height / 1e6, photos=photos)
    unit = 4 * width * height * photos
    run["peak_floats"] = run["peak_bytes"] / unit
    run["stages_floats"] = {name: bytes_ / unit for name, bytes_ in run["stages_bytes"].items()}
    return run


def show(run):
    stages = [f"{name} {seconds:.1f} s {run['stages_floats'].get(name, 0):.1f}"
              for name, seconds in run["stages_s"].items()]
    print(f"{run['megapixels']:6.2f} MP x {run['photos']}  {sum(run['stages_s'].values()):7.1f} s"
          f" ({run['cpu_s']:.1f} s of processors)  peak {run['peak_bytes'] / 1e6:6.0f} MB ="
          f" {run['peak_floats']:.1f} floats a pixel and photo;  {',  '.join(stages)}  [{run['method']}]", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megapixels", default=".3,1.1,3,12")
    parser.add_argument("--layers", nargs=2, metavar=("BEHIND", "REFLECTED"),
                        default=[os.path.join(SHARED, "photos", name) for name in ("hubble_deep_field.jpg", "coffee.png")])
    parser.add_argument("--photos", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments, options = parser.parse_known_args()
    if not all(map(os.path.exists, arguments.layers)):
        print("pipeline: skipped, ../shared/photos is not here; name two pictures with --layers")
        return
    runs = []
    for megapixels in map(float, arguments.megapixels.split(",")):
        runs.append(measure(arguments.layers, megapixels, arguments.photos, options))
        if not arguments.json:
            show(runs[-1])
    if arguments.json:
        json.dump(runs, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
