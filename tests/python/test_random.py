"""Ten thousand calls with arrays of random shapes, kinds and places and options of all sorts: an answer or an exception, and
never anything else; and of the same values, wherever they lie, the same answer."""
import os
import unittest

import numpy as np

import esra
from scenes import seeded

CALLS = int(os.environ.get("ESRA_TEST_CALLS", "10000"))
GOOD = [np.dtype(kind) for kind in ("u1", "u2", "f4", "f8", ">u2", ">f4", ">f8")]
BAD = [np.dtype(kind) for kind in ("i1", "i4", "i8", "f2", "c8", "?", "O", "U3", "M8[s]", "f4,f4")]
if np.dtype(np.longdouble).itemsize > 8:
    BAD.append(np.dtype(np.longdouble))

RAISED = (esra.Error, TypeError)


class Chance:
    """Arrays and options by the dice."""

    def __init__(self):
        self.dice, self.numbers = seeded()

    def kind(self):
        return self.dice.choice(BAD if self.dice.random() < .1 else GOOD)

    def shape(self, dimensions):
        return tuple(self.dice.choice((0, 1, 2, 3, 5, 8)) if self.dice.random() < .1 else self.dice.randint(1, 8)
                     for _ in range(dimensions))

    def values(self, shape, kind):
        values = self.numbers.random(shape) * (1 if kind.kind == "f" else 255)
        if kind.kind == "f" and values.size and self.dice.random() < .05:
            values.flat[self.dice.randrange(values.size)] = self.dice.choice((np.nan, np.inf, -np.inf, 1e300))
        with np.errstate(all="ignore"):
            return np.asarray(values).astype(kind) if kind.fields is None else np.zeros(shape, kind)

    def place(self, array):
        """The same values somewhere else."""
        way = self.dice.randrange(6)
        if way == 0:
            return np.asfortranarray(array)
        if way == 1:
            return np.array(array[::-1])[::-1] if array.ndim else array
        if way == 2:
            apart = np.empty(tuple(3 * n for n in array.shape), array.dtype)[tuple(slice(None, None, 3) for _ in array.shape)]
            apart[...] = array
            return apart
        if way == 3 and not array.dtype.hasobject:
            raw = np.zeros(array.nbytes + 3, np.uint8)
            moved = raw[3:].view(array.dtype).reshape(array.shape)
            moved[...] = array
            return moved
        if way == 4 and array.ndim:
            return np.broadcast_to(array[:1], array.shape)
        return array

    def array(self, shape=None):
        shape = shape if shape is not None and self.dice.random() < .95 else self.shape(self.dice.choice((2, 2, 2, 3, 3, 0, 1, 4)))
        return self.place(self.values(shape, self.kind()))

    def options(self, of):
        """A few, some of them nonsense."""
        rows = list(esra.settings(of).values())
        options = {"threads": 1} if "threads" in esra.settings(of) else {}
        for row in self.dice.sample(rows, self.dice.choice((0, 0, 1, 2))):
            near = (row.lowest, row.highest, row.default, *row.choices)
            odd = (None, "", "auto|", b"auto", -1, 1e9, 10**40, float("nan"), [], True, np.float32(.5), np.int8(1), np.bool_(True))
            options[row.name] = self.dice.choice(near if self.dice.random() < .6 else odd)
        options.update({"threads": 1} if options.get("threads") in (256, 256.0) else {})
        options.update({"nonsense": 1} if self.dice.random() < .02 else {})
        return options


class Random(unittest.TestCase):
    def compare(self, chance):
        shape = chance.shape(chance.dice.choice((2, 3)))
        a, b = chance.array(shape), chance.array(shape)
        found = esra.compare(a, b)
        plain = esra.compare(np.array(a), np.array(b))
        np.testing.assert_equal(vars(found), vars(plain))

    def plan(self, chance):
        esra.plan(chance.dice.choice((2, 3, 0, -1, 2**40, None)), chance.shape(chance.dice.choice((2, 3))),
                  solve=chance.dice.random() < .5, **chance.options("plan"))

    def solve(self, chance):
        m, shape = chance.dice.randint(1, 3), chance.shape(chance.dice.choice((2, 3)))
        kind = chance.dice.choice((np.dtype("f4"), np.dtype("f8"), chance.kind()))
        mixtures = chance.place(chance.values((m, *shape), kind))
        gradients = chance.place(chance.values((m + 1, 2, *shape), kind))
        options = {**chance.options("solve"), "max_iterations": 3, "inner_iterations": 3}
        if chance.dice.random() < .2:
            options["weights"] = chance.array((m, *shape[:2]))
        found = esra.solve(mixtures, gradients, chance.numbers.random(m), **options)
        self.assertEqual(found.layers.shape, (m + 1, *shape))
        self.assertGreaterEqual(found.layers.min(), 0)
        self.assertLessEqual(found.info.bound, found.info.objective * (1 + 1e-9) + 1e-9)

    def separate(self, chance):
        m, shape = chance.dice.choice((2, 2, 2, 3, 3, 1)), chance.shape(2) + chance.dice.choice(((), (), (3, ), (1, ), (2, )))
        photos = [chance.array(shape) for _ in range(m)]
        options = {**chance.options("separate"), "max_iterations": 3, "inner_iterations": 3}
        if chance.dice.random() < .7:
            options["transforms"] = chance.array((m, 3, 3)) if chance.dice.random() < .1 else np.tile(np.eye(3), (m, 1, 1))
        found = esra.separate(photos, **options, curve=chance.dice.choice(3 * ("auto", "srgb", "linear") + ("odd", )),
                              strength=chance.dice.choice(3 * (1, .5, 0) + (-1, )))
        for photo, layer in zip(photos, found.reflected):
            self.assertEqual((layer.dtype, layer.shape[:2]), (photo.dtype.newbyteorder("="), photo.shape[:2]))

    def synth(self, chance):
        pictures = [chance.array(chance.shape(2)) for _ in range(2)]
        options = {"shift_px": 2, **chance.options("synth"), "photos": 2, "width": 9, "height": chance.dice.choice((8, 9, 0))}
        made = esra.synth(*pictures, **options)
        self.assertEqual(made.photos[1].dtype, pictures[0].dtype.newbyteorder("="))

    def load(self, chance):
        """What passes a kind to floats and back loses nothing."""
        array = chance.place(chance.values(chance.shape(2), np.dtype(chance.dice.choice(("u1", "u2", "f4")))))
        floats, back = np.zeros(array.shape, np.float32), chance.place(np.empty_like(array)).copy()
        srgb = array.dtype.kind == "u" and chance.dice.random() < .1
        esra._esra.load(array, floats, srgb)
        esra._esra.save(floats, back, srgb)
        self.assertEqual(array.tobytes(), back.tobytes())

    def test_calls(self):
        chance, answers = Chance(), {}
        works = [self.compare] * 4 + [self.solve] * 3 + [self.plan] * 2 + [self.load] * 2 + [self.separate, self.synth]
        for number in range(CALLS):
            work = chance.dice.choice(works)
            try:
                work(chance)
                answers[work.__name__] = answers.get(work.__name__, 0) + 1
            except RAISED:
                pass
        for work in set(works):
            self.assertGreater(answers.get(work.__name__, 0), CALLS / 200, f"{work.__name__} hardly ever answered")


if __name__ == "__main__":
    unittest.main()
