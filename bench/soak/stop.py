#!/usr/bin/env python3
"""How soon a command stops after SIGINT or SIGTERM, at random moments of all its stages.

usage: stop.py [--times N] [--seed N] [--longest SECONDS] ESRA COMMAND WORD...

The word OUT stands for where the command writes, in a fresh folder each time:

    stop.py build/esra separate photo-*.png -o OUT --motion depth
    stop.py build/esra solve --mixtures I.npy --gradients E.npy --mixing 1,1 --gap 0 -o OUT
    stop.py build/esra batch jobs.jsonl -o OUT

Prints, for each stage that was interrupted, how often and the longest wait; ends with 1 where a wait was longer than a
second, an exit code was not 130 or 143, or anything was written: of a batch, anything but scenes that were done."""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

DONE = (0, 10, 11)
TELL_STAGES = ("separate", "align", "solve")


def follow(stream, seen):
    """Notes each stage that is told of, and what else is said."""
    for line in stream:
        try:
            seen["stage"] = json.loads(line)["stage"]
        except (ValueError, KeyError):
            seen["words"] = line.decode(errors="replace").strip()


def begin(arguments, folder):
    words = [word.replace("OUT", f"{folder}/out") for word in arguments.words]
    progress = ["--progress=json"] if words[0] in TELL_STAGES else []
    seen = {"stage": "before any", "words": ""}
    process = subprocess.Popen([arguments.esra, *words, *progress], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    thread = threading.Thread(target=follow, args=(process.stderr, seen))
    thread.start()
    return process, thread, seen


def whole_run(arguments):
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        process, thread, seen = begin(arguments, folder)
        code = process.wait()
        thread.join()
        if code not in DONE:
            sys.exit(f"a run that nobody interrupts ends with {code}: {seen['words']}")
        return time.monotonic() - start


def left_behind(folder, command):
    """What an interrupted run must not leave."""
    files = [path for path in pathlib.Path(folder).rglob("*")]
    if command != "batch":
        return files
    done = {path.parent for path in files if path.name == "result.json"}
    return [path for path in files if path.is_file() and path.name != "journal.jsonl" and path.parent not in done]


def await_program(process, number):
    """Before the program has begun it is the system that heeds a signal."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    while process.poll() is None and not int(status.read_text().split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1:
        time.sleep(.001)


def interrupt(arguments, number, after_s):
    """The stage that was interrupted, the seconds until it ended, and what was wrong, if anything."""
    with tempfile.TemporaryDirectory() as folder:
        process, thread, seen = begin(arguments, folder)
        await_program(process, number)
        time.sleep(after_s)
        stage, start = seen["stage"], time.monotonic()
        process.send_signal(number)
        code = process.wait()
        waited = time.monotonic() - start
        thread.join()
        if code in DONE:
            return "over", waited, None if os.listdir(folder) else "finished without output"
        left = left_behind(folder, arguments.words[0])
        wrong = None
        if code != 128 + number:
            wrong = f"exit code {code}: {seen['words']}"
        elif left:
            wrong = f"left {left}"
        elif waited > arguments.longest:
            wrong = f"took {waited:.2f} s"
        return stage, waited, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=1.0)
    parser.add_argument("esra")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background has its programs ignore
    chance = random.Random(arguments.seed)
    usual = whole_run(arguments)
    print(f"a whole run takes {usual:.1f} s; {arguments.times} interruptions, seed {arguments.seed}", flush=True)
    waits, bad = {}, 0
    for n in range(arguments.times):
        stage, waited, wrong = interrupt(arguments, (signal.SIGINT, signal.SIGTERM)[n % 2], chance.uniform(0, usual))
        waits.setdefault(stage, []).append(waited)
        if wrong:
            bad += 1
            print(f"  {stage}: {wrong}", flush=True)
    for stage, each in waits.items():
        print(f"{stage}: {len(each)} times, longest {max(each):.2f} s")
    print(f"{bad} of {arguments.times} were wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
