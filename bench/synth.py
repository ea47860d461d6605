#!/usr/bin/env python3
"""Scenes for bench_align: two photos as layers, mixed in linear light, saved as 8-bit sRGB with their truth.

    synth.py OUT --count 36 SOURCE...        makes OUT/g000 ... from pairs of the source pictures
    synth.py OUT --convert FOLDER...         brings folders of photo-N.png and truth.json (shared/synth) to the same form

Each photo: handheld homographies of both layers, gains of +-10 %, noise, for two scenes in three a blurred reflection."""
import argparse
import json
import os

import cv2
import numpy as np

MARGIN = 0.22  # of a side, around the photo: layers must cover every motion


def to_linear(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def to_stored(v):
    v = np.clip(v, 0, 1)
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)


def write_ppm(path, bgr):
    with open(path, "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (bgr.shape[1], bgr.shape[0]))
        file.write(bgr[:, :, ::-1].tobytes())


def write_truth(path, transmitted, reflected, a, b):
    with open(path, "w") as file:
        file.write("%d\n" % len(a))
        for t, r, ai, bi in zip(transmitted, reflected, a, b):
            file.write(" ".join("%.17g" % v for v in [*np.ravel(t), *np.ravel(r), ai, bi]) + "\n")


def corner_distance(a, b, width, height):
    corners = np.array([[0, 0, 1], [width - 1, 0, 1], [0, height - 1, 1], [width - 1, height - 1, 1.0]]).T
    p, q = a @ corners, b @ corners
    return np.hypot(*(p[:2] / p[2] - q[:2] / q[2])).mean()


def handheld(random, width, height):
    turn, scale = random.normal(0, 0.012), 1 + random.normal(0, 0.008)
    right, down = random.normal(0, 0.028, 2) * width
    a = np.array([[scale * np.cos(turn), -scale * np.sin(turn), 0], [scale * np.sin(turn), scale * np.cos(turn), 0], [0, 0, 1]])
    a[:2, :2] += random.normal(0, 0.003, (2, 2))
    a[2, :2] = random.normal(0, 1.2e-5 * 640 / width, 2)
    centre = np.array([[1, 0, -width / 2], [0, 1, -height / 2], [0, 0, 1.0]])
    back = np.array([[1, 0, width / 2 + right], [0, 1, height / 2 + down], [0, 0, 1.0]])
    return back @ a @ centre


def motions(random, width, height):
    """Two motions under 13 % of the width that differ by more than .6 %."""
    while True:
        t, r = handheld(random, width, height), handheld(random, width, height)
        shifts = [corner_distance(m, np.eye(3), width, height) for m in (t, r)]
        if corner_distance(t, r, width, height) > 0.006 * width and max(shifts) < 0.13 * width:
            return t, r


def layer(random, path, width, height):
    width, height = int(width * (1 + 2 * MARGIN)), int(height * (1 + 2 * MARGIN))
    image = to_linear(cv2.imread(path).astype(float) / 255)
    scale = max(width / image.shape[1], height / image.shape[0])
    size = int(np.ceil(image.shape[1] * scale)), int(np.ceil(image.shape[0] * scale))
    image = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    return np.ascontiguousarray(np.clip(image[:height, :width] if random.random() < 0.5 else image[:height, width - 1 :: -1], 0, 1))


def make(out, number, sources, width, height, photos, seed):
    random = np.random.default_rng(seed + number)
    first, second = random.choice(len(sources), 2, replace=False)
    t, r = layer(random, sources[first], width, height), layer(random, sources[second], width, height)
    weights = random.uniform(0.6, 0.9), random.uniform(0.15, 0.5)
    blur, noise = random.choice([0, 1.0, 2.5]), random.choice([0.003, 0.006, 0.01])
    if blur:
        r = cv2.GaussianBlur(r, (0, 0), blur * width / 640)
    offset = np.array([[1, 0, -MARGIN * width], [0, 1, -MARGIN * height], [0, 0, 1.0]])
    truth = [[np.eye(3)], [np.eye(3)], [1.0], [1.0]]
    for _ in range(1, photos):
        a = random.uniform(0.9, 1.1)
        for column, value in zip(truth, [*motions(random, width, height), a, a * random.uniform(0.95, 1.05)]):
            column.append(value)
    folder = os.path.join(out, "g%03d" % number)
    os.makedirs(folder, exist_ok=True)
    for n, (f, g, a, b) in enumerate(zip(*truth)):
        seen = [cv2.warpPerspective(x, m @ offset, (width, height), flags=cv2.INTER_LANCZOS4) for x, m in ((t, f), (r, g))]
        photo = to_stored(a * weights[0] * seen[0] + b * weights[1] * seen[1])
        photo = np.clip(photo + random.normal(0, noise, photo.shape), 0, 1)
        write_ppm(os.path.join(folder, "photo-%d.ppm" % (n + 1)), (photo * 255 + 0.5).astype(np.uint8))
    write_truth(os.path.join(folder, "truth.txt"), *truth)


def convert(out, folder):
    truth = json.load(open(os.path.join(folder, "truth.json")))
    target = os.path.join(out, os.path.basename(os.path.normpath(folder)))
    os.makedirs(target, exist_ok=True)
    for n in range(len(truth["mixing"])):
        write_ppm(os.path.join(target, "photo-%d.ppm" % (n + 1)), cv2.imread(os.path.join(folder, "photo-%d.png" % (n + 1))))
    write_truth(os.path.join(target, "truth.txt"), truth["transmitted_homographies"], truth["reflected_homographies"],
                truth["mixing"], truth["reflection_gain"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--convert", action="store_true")
    parser.add_argument("--count", type=int, default=36)
    parser.add_argument("--size", type=int, nargs=2, default=(640, 480))
    parser.add_argument("--photos", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    for n, source in enumerate(options.inputs if options.convert else range(options.count)):
        if options.convert:
            convert(options.out, source)
        else:
            make(options.out, n, options.inputs, *options.size, options.photos, options.seed)


if __name__ == "__main__":
    main()
