#!/usr/bin/env python3
"""What the Python package adds to the library: processor time of esra.separate() outside the C call, and how soon Ctrl-C ends it.

usage: python.py [--photos N] [--interrupts N] [--seed N]       with PYTHONPATH=build/python

Made photos of .3 megapixels in colour. Time is the processor's, of all threads, so that other programs do not count."""
import argparse
import os
import random
import signal
import threading
import time

import numpy as np

import esra


def picture(seed):
    chance = np.random.default_rng(seed)
    image = sum(np.kron(chance.random((600 // n, 800 // n, 3)), np.ones((n, n, 1))) for n in (4, 20, 100))
    return (image / image.max() * 255).astype(np.uint8)


def overhead(name, photos):
    inside = []
    call = esra._esra.separate

    def timed(*arguments):
        start = time.process_time()
        found = call(*arguments)
        inside.append(time.process_time() - start)
        return found

    esra._esra.separate = timed
    start = time.process_time()
    found = esra.separate(photos, motion="homography")
    whole = time.process_time() - start
    esra._esra.separate = call
    print(f"{name}: {whole:.2f} s, of them {whole - inside[0]:.3f} s outside the library, {100 * (whole / inside[0] - 1):.2f} %; "
          f"{found}", flush=True)


def interrupt(photos, motion, after_s):
    """Seconds from the signal to the exception; None where it was over before."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after_s, send)
    timer.start()
    try:
        esra.separate(photos, motion=motion)
        timer.cancel()
        return None
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--photos", type=int, default=3)
    parser.add_argument("--interrupts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background has its programs ignore
    photos = esra.synth(picture(1), picture(2), photos=arguments.photos).photos
    start = time.monotonic()
    overhead("uint8", photos)
    usual = time.monotonic() - start
    overhead("float32", [(photo / np.float32(255))**2.2 for photo in photos])
    chance = random.Random(arguments.seed)
    waits = [interrupt(photos, ("homography", "depth")[n % 2], chance.uniform(0, usual)) for n in range(arguments.interrupts)]
    waits = [wait for wait in waits if wait is not None]
    if waits:
        print(f"{len(waits)} interruptions of {arguments.interrupts}, seed {arguments.seed}: longest {max(waits):.2f} s")


if __name__ == "__main__":
    main()
