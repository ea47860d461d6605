#!/usr/bin/python3
"""Scenes for bench/joint: photos in linear light, both layers' truth and the model, from ../shared/synth and made anew.

    bench/joint_scenes.py SHARED OUT [COUNT [WIDTH HEIGHT]]

writes OUT/NAME/{photos,transmitted,reflected}.npy and model.txt: width, height, then a line a photo with the 9 numbers of
the transmitted homography (reference pixel to photo pixel), the 9 of the reflected one, a_i and b_i. COUNT scenes are mixed
in linear light from the photos in SHARED/photos and the first photos of SHARED/scenes, with the noise, gains, hand motion and
blur of SHARED/synth, and rounded to 8-bit sRGB. Needs numpy, OpenCV and Pillow."""
import glob, json, os, sys
import cv2
import numpy as np
from PIL import Image

WIDTH, HEIGHT, PHOTOS = 640, 480, 5


def to_linear(v):
    return np.where(v <= .04045, v / 12.92, ((v + .055) / 1.055) ** 2.4)


def to_srgb(v):
    v = np.clip(v, 0, 1)
    return np.where(v <= .0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - .055)


def read(path):
    return to_linear(np.asarray(Image.open(path).convert('RGB'), np.float64) / 255)


def write(folder, photos, transmitted, reflected, ht, hr, a, b):
    os.makedirs(folder, exist_ok=True)
    for name, image in (('photos', photos), ('transmitted', transmitted), ('reflected', reflected)):
        np.save(f'{folder}/{name}.npy', np.ascontiguousarray(np.moveaxis(np.asarray(image, np.float32), -1, -3)))
    with open(f'{folder}/model.txt', 'w') as f:
        print(transmitted.shape[1], transmitted.shape[0], file=f)
        for i in range(len(photos)):
            numbers = [*np.ravel(ht[i]), *np.ravel(hr[i]), a[i], b[i]]
            print(*(f'{v:.17g}' for v in numbers), file=f)


def convert(source, folder):
    truth = json.load(open(f'{source}/truth.json'))
    photos = [read(f'{source}/photo-{i + 1}.png') for i in range(PHOTOS)]
    write(folder, photos, read(f'{source}/truth-transmitted-1.png'), read(f'{source}/truth-reflected-1.png'),
          truth['transmitted_homographies'], truth['reflected_homographies'], truth['mixing'], truth['reflection_gain'])


def fill(image, rng):
    """A random crop of the photo that, resized, covers the frame and 12 % around it."""
    width, height = int(WIDTH * 1.24), int(HEIGHT * 1.24)
    h, w = image.shape[:2]
    scale = max(width / w, height / h) * rng.uniform(1, 1.2)
    image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    y, x = rng.integers(0, image.shape[0] - height + 1), rng.integers(0, image.shape[1] - width + 1)
    return np.clip(image[y:y + height, x:x + width], 0, 1)


def handheld(rng, shift):
    angle, size = rng.uniform(-.03, .03), 1 + rng.uniform(-.01, .01)
    h = np.array([[size * np.cos(angle), -size * np.sin(angle), 0], [size * np.sin(angle), size * np.cos(angle), 0],
                  [*rng.uniform(-1.2e-5, 1.2e-5, 2), 1]])
    centre = np.array([[1, 0, WIDTH / 2], [0, 1, HEIGHT / 2], [0, 0, 1.]])
    h = centre @ h @ np.linalg.inv(centre)
    return np.array([[1, 0, rng.uniform(-shift, shift)], [0, 1, rng.uniform(-shift, shift)], [0, 0, 1.]]) @ h


def view(layer, h):
    """The layer, its margin around the frame, as a photo with homography h sees it."""
    margin = np.array([[1, 0, (layer.shape[1] - WIDTH) // 2], [0, 1, (layer.shape[0] - HEIGHT) // 2], [0, 0, 1.]])
    return cv2.warpPerspective(layer, margin @ np.linalg.inv(h), (WIDTH, HEIGHT),
                               flags=cv2.INTER_LANCZOS4 | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REFLECT)


def make(sources, folder, seed):
    rng = np.random.default_rng(seed)
    behind, mirrored = rng.choice(len(sources), 2, replace=False)
    blur = rng.choice([0, 1, 1.5, 2.5])
    t = fill(read(sources[behind]), rng) * rng.uniform(.65, .9)
    r = fill(read(sources[mirrored]), rng) * rng.uniform(.15, .45)
    if blur:
        r = cv2.GaussianBlur(r, (0, 0), float(blur))
    noise = rng.choice([.003, .006, .01])
    ht = [np.eye(3)] + [handheld(rng, 28) for _ in range(PHOTOS - 1)]
    hr = [np.eye(3)] + [handheld(rng, 28) for _ in range(PHOTOS - 1)]
    a = np.array([1, *rng.uniform(.9, 1.1, PHOTOS - 1)])
    b = a * np.array([1, *rng.uniform(.92, 1.08, PHOTOS - 1)])
    photos = []
    for i in range(PHOTOS):
        light = a[i] * view(t, ht[i]) + b[i] * view(r, hr[i])
        code = to_srgb(light) + rng.normal(0, noise, light.shape)
        photos.append(to_linear(np.round(np.clip(code, 0, 1) * 255) / 255))
    write(folder, photos, view(t, ht[0]), view(r, hr[0]), ht, hr, a, b)


def main():
    global WIDTH, HEIGHT
    shared, out = sys.argv[1:3]
    if len(sys.argv) > 5:
        WIDTH, HEIGHT = map(int, sys.argv[4:6])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    for source in sorted(glob.glob(f'{shared}/synth/*/truth.json')):
        source = os.path.dirname(source)
        convert(source, f'{out}/{os.path.basename(source)}')
    sources = [s for s in sorted(glob.glob(f'{shared}/photos/*.*g')) if 'camera' not in s and 'hubble' not in s]
    sources += sorted(glob.glob(f'{shared}/scenes/*/*1.png'))
    for k in range(count):
        make(sources, f'{out}/made-{k:02d}', 1000 + k)


main()
