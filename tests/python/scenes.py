"""What the tests of the Python package share: small scenes, problems, and arrays that lie in odd ways."""
import os
import pathlib
import random
import sys

import numpy as np

import esra

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))

KINDS = (np.uint8, np.uint16, np.float32, np.float64)

# The least that every stage has work with, and that can be separated.
SMALL = {"width": 84, "height": 64, "photos": 2, "shift_px": 6}


def picture(seed, height=150, width=200, channels=1):
    """Something to see at every scale, as uint8: steps of noise, doubled in size again and again."""
    chance = np.random.default_rng(seed)
    image = np.zeros((height, width, channels))
    for size in (4, 12, 36):
        coarse = chance.random((height // size + 1, width // size + 1, channels))
        image += np.kron(coarse, np.ones((size, size, 1)))[:height, :width]
    image = (image / image.max() * 255).astype(np.uint8)
    return image[..., 0] if channels == 1 else image


def scene(channels=1, **options):
    return esra.synth(picture(1, channels=channels), picture(2, channels=channels), **{**SMALL, **options})


def problem(seed=1, m=2, shape=(9, 7), dtype=np.float32):
    """Mixtures, gradients and mixing coefficients of random layers."""
    chance = np.random.default_rng(seed)
    layers = chance.random((m + 1, *shape))
    mixing = np.linspace(.8, .9, m)
    mixtures = np.array([a * layers[0] + layer for a, layer in zip(mixing, layers[1:])])
    gradients = np.zeros((m + 1, 2, *shape))
    gradients[:, 0, :-1] = np.diff(layers, axis=1)
    gradients[:, 1, :, :-1] = np.diff(layers, axis=2)
    gradients += .01 * chance.standard_normal(gradients.shape)
    return mixtures.astype(dtype), gradients.astype(dtype), mixing


def odd_views(array):
    """The same values, elsewhere: every second of a larger array, backwards, transposed in memory, out of step, foreign."""
    apart = np.zeros(tuple(2 * n for n in array.shape), array.dtype)[tuple(slice(None, None, 2) for _ in array.shape)]
    apart[...] = array
    backwards = np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1]
    raw = np.zeros(array.nbytes + 1, np.uint8)
    out_of_step = raw[1:].view(array.dtype).reshape(array.shape)
    out_of_step[...] = array
    return {
        "apart": apart,
        "backwards": backwards,
        "fortran": np.asfortranarray(array),
        "out of step": out_of_step,
        "foreign": array.astype(array.dtype.newbyteorder(">")),
        "read-only": np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    }


def seeded():
    """A random number generator whose seed is told, and repeated with ESRA_TEST_SEED."""
    seed = int(os.environ.get("ESRA_TEST_SEED", "20260"))
    print(f"ESRA_TEST_SEED={seed}", file=sys.stderr)
    return random.Random(seed), np.random.default_rng(seed)


def same(test, one, other):
    """Two separations have the same bits."""
    test.assertEqual(one.transmitted.tobytes(), other.transmitted.tobytes())
    for a, b in zip(one.reflected, other.reflected):
        test.assertEqual(a.tobytes(), b.tobytes())
    test.assertEqual(one.confidence.tobytes(), other.confidence.tobytes())
