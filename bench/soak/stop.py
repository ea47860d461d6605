#!/usr/bin/env python3
"""How soon a run stops after SIGINT or SIGTERM, at random moments of all its stages.

usage: stop.py ESRA PHOTO PHOTO... [--times N] [--seed N]

Prints, for each stage that was interrupted, how often and the longest wait; ends with 1 where a wait was longer than a
second, an exit code was not 130 or 143, or anything was written."""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

LONGEST_S = 1.0


def follow(stream, seen):
    """Notes when each stage was first heard of."""
    for line in stream:
        try:
            seen.append(json.loads(line)["stage"])
        except (ValueError, KeyError):
            pass


def begin(arguments, folder):
    seen = ["decode"]
    process = subprocess.Popen([arguments.esra, "separate", *arguments.photos, "-o", folder, "--progress=json"],
                               stderr=subprocess.PIPE)
    thread = threading.Thread(target=follow, args=(process.stderr, seen))
    thread.start()
    return process, thread, seen


def whole_run(arguments):
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        process, thread, _ = begin(arguments, folder)
        process.wait()
        thread.join()
        return time.monotonic() - start


def interrupt(arguments, number, after_s):
    """The stage that was interrupted, the seconds until it ended, and what was wrong, if anything."""
    with tempfile.TemporaryDirectory() as folder:
        process, thread, seen = begin(arguments, folder)
        time.sleep(after_s)
        stage, start = seen[-1], time.monotonic()
        process.send_signal(number)
        code = process.wait()
        waited = time.monotonic() - start
        thread.join()
        if code in (0, 10, 11):
            return "over", waited, None if os.listdir(folder) else "finished without output"
        wrong = None
        # Before the work begins nobody listens for signals: they end the process, which shells tell as 130 and 143.
        if code not in (128 + number, -number):
            wrong = f"exit code {code}"
        elif os.listdir(folder):
            wrong = f"left {os.listdir(folder)}"
        elif waited > LONGEST_S:
            wrong = f"took {waited:.2f} s"
        return stage, waited, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("esra")
    parser.add_argument("photos", nargs="+")
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    usual = whole_run(arguments)
    print(f"a whole run takes {usual:.1f} s; {arguments.times} interruptions, seed {arguments.seed}")
    waits, bad = {}, 0
    for n in range(arguments.times):
        stage, waited, wrong = interrupt(arguments, (signal.SIGINT, signal.SIGTERM)[n % 2], chance.uniform(0, usual))
        waits.setdefault(stage, []).append(waited)
        if wrong:
            bad += 1
            print(f"  {stage}: {wrong}")
    for stage, each in waits.items():
        print(f"{stage}: {len(each)} times, longest {max(each):.2f} s")
    print(f"{bad} of {arguments.times} were wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
