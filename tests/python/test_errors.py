"""What is wrong is said in a sentence, and nothing crashes."""
import unittest

import numpy as np

import esra
from scenes import problem, scene

try:
    import liar
except ImportError:
    liar = None

PHOTOS = scene().photos


class Errors(unittest.TestCase):
    def refuses(self, sentence, function, *arguments, error=esra.Error, **options):
        with self.assertRaises(error) as caught:
            function(*arguments, **options)
        self.assertIn(sentence, str(caught.exception))

    def test_photos(self):
        self.refuses("two photos are needed at least, and there is 1", esra.separate, PHOTOS[:1])
        self.refuses("two photos are needed at least, and there is 0", esra.separate, [])
        self.refuses("photo 1 is 84 x 64 with 1 channel(s) and photo 2 83 x 64 with 1", esra.separate, [PHOTOS[0], PHOTOS[1][:, :-1]])
        self.refuses("photos have 4 channels", esra.separate, [np.zeros((9, 9, 4))] * 2)
        self.refuses("photos[0] has shape (9,)", esra.separate, [np.zeros(9)] * 2)
        self.refuses("have shape (9, 9)", esra.separate, np.zeros((9, 9)))
        self.refuses("as one photo has", esra.separate, np.zeros((9, 9, 3)))
        self.refuses("photos are 0 x 7", esra.separate, [np.zeros((7, 0))] * 2)
        self.refuses("photos[0] holds int64", esra.separate, [np.zeros((9, 9), int)] * 2)
        self.refuses("photos[0] holds bool", esra.separate, [np.zeros((9, 9), bool)] * 2)
        self.refuses("photos[1] holds complex128", esra.separate, [PHOTOS[0], PHOTOS[1] * 1j])
        self.refuses("photos are 5: a sequence of images is needed", esra.separate, 5, error=TypeError)
        self.refuses("photos[1] has masked samples", esra.separate, [PHOTOS[0], np.ma.masked_equal(PHOTOS[1], PHOTOS[1][0, 0])])
        self.refuses("photos[0] holds object", esra.separate, [None, None])

    def test_numbers_that_are_none(self):
        bad = [photo / 255 for photo in PHOTOS]
        bad[1][3, 4] = np.nan
        self.refuses("photo 2 holds nan at row 3, column 4", esra.separate, bad)
        bad[1][3, 4] = 1e30
        self.refuses("photo 2 holds 1e+30", esra.align, bad)
        self.refuses("NaN or infinity", esra.compare, bad[0], np.full((64, 84), np.inf))

    def test_options(self):
        self.refuses("lambda is -1: it must lie in [0, 1000000]", esra.separate, PHOTOS, lam=-1)
        self.refuses("gap is nan", esra.separate, PHOTOS, gap=np.nan)
        self.refuses("threads is 1000: it must lie in [0, 256]", esra.separate, PHOTOS, threads=1000)
        self.refuses("threads is 1000000000000000000000000000000", esra.separate, PHOTOS, threads=10**30)
        self.refuses("motion is 'sideways': it must be one of homography|affine|", esra.separate, PHOTOS, motion="sideways")
        self.refuses("motion is 3", esra.separate, PHOTOS, motion=3)
        self.refuses("motion is 'depth|auto'", esra.separate, PHOTOS, motion="depth|auto")
        self.refuses("the reference is photo 2 of 2", esra.separate, PHOTOS, reference=2)
        self.refuses("reference is -1", esra.separate, PHOTOS, reference=-1)
        self.refuses("swap is 2", esra.separate, PHOTOS, swap=2)
        self.refuses("strength is 1.5", esra.separate, PHOTOS, strength=1.5)
        self.refuses("curve is 'gamma'", esra.separate, PHOTOS, curve="gamma")
        self.refuses("did you mean 'lam'", esra.separate, PHOTOS, lamb=1, error=TypeError)
        self.refuses("unexpected keyword argument 'photos_'", esra.solve, *problem(), photos_=1, error=TypeError)
        self.refuses("lambda is 'much': a number is needed", esra.separate, PHOTOS, lam="much", error=TypeError)
        self.refuses("lambda is 1000", esra.separate, PHOTOS, lam=10**400)
        self.refuses("got two values for 'lam'", esra.separate, PHOTOS, lam=1, **{"lambda": 1}, error=TypeError)
        self.refuses("threads is 1.5: a whole number is needed", esra.separate, PHOTOS, threads=1.5, error=TypeError)
        self.refuses("seed is 'one': a whole number is needed", esra.synth, *PHOTOS, seed="one", error=TypeError)
        self.refuses("swap is 'no'", esra.separate, PHOTOS, swap="no", error=TypeError)
        self.refuses("motion is '\\ud800'", esra.separate, PHOTOS, motion="\ud800")
        self.refuses("strength is 'half': a number is needed", esra.separate, PHOTOS, strength="half", error=TypeError)
        self.refuses("progress is 5", esra.separate, PHOTOS, progress=5, error=TypeError)
        self.refuses("settings of 'paint'", esra.settings, "paint")

    def test_what_is_given(self):
        self.refuses("transforms have shape (3, 3)", esra.separate, PHOTOS, transforms=np.eye(3))
        self.refuses("transforms have shape (2, 1, 3, 3)", esra.separate, PHOTOS, transforms=np.zeros((2, 1, 3, 3)))
        self.refuses("transforms: numbers of shape (2, 3, 3)", esra.separate, PHOTOS, transforms=[[1], [1, 2]])
        self.refuses("transforms have shape (3, 2, 3, 3)", esra.separate, PHOTOS, transforms=3 * (np.zeros((2, 3, 3)), ))
        self.refuses("a transform of photo 2", esra.separate, PHOTOS, transforms=[np.eye(3), np.full((3, 3), np.nan)])
        self.refuses("mixing have shape (3,)", esra.separate, PHOTOS, mixing=[1, 1, 1])
        self.refuses("mixing hold <U1: numbers are needed", esra.separate, PHOTOS, mixing=["a", "b"])
        self.refuses("mixing hold complex128", esra.separate, PHOTOS, mixing=[1, 1j])
        self.refuses("mixing: numbers of shape (2,) are needed", esra.separate, PHOTOS, mixing=[[1], [1, 2]])
        self.refuses("3 pairs are needed", esra.separate, PHOTOS, gradients=np.zeros((2, 2, 64, 84)))
        self.refuses("gradients are 5: a sequence of images is needed", esra.separate, PHOTOS, gradients=5, error=TypeError)
        self.refuses("gradients[0] are 1: a sequence", esra.separate, PHOTOS, gradients=[1, 2, 3], error=TypeError)
        self.refuses("the gradients of layer 0 are not", esra.separate, PHOTOS, gradients=np.zeros((3, 2, 64, 83)))
        self.refuses("layers cannot be swapped", esra.separate, PHOTOS, motion="depth", swap=True)

    def test_problems(self):
        mixtures, gradients, mixing = problem()
        self.refuses("mixing have shape (1,)", esra.solve, mixtures, gradients, mixing[:1])
        self.refuses("mixing coefficient 1 is -1", esra.solve, mixtures, gradients, [-1, 1])
        self.refuses("3 pairs are needed", esra.solve, mixtures, gradients[:2], mixing)
        self.refuses("vertical gradient of layer 0 is", esra.solve, mixtures, gradients[..., :-1], mixing)
        self.refuses("holds uint8", esra.solve, (mixtures * 255).astype(np.uint8), gradients, mixing)
        self.refuses("weight map 1 holds 2", esra.solve, mixtures, gradients, mixing, weights=np.full((2, 9, 7), 2.))
        self.refuses("weights are 1, and 2", esra.solve, mixtures, gradients, mixing, weights=np.ones((1, 9, 7)))
        self.refuses("layers and duals are needed", esra.solve, mixtures, gradients, mixing, start=(mixtures, ))
        self.refuses("layers_to", esra.solve, mixtures, gradients, mixing, layers_to=1, error=TypeError)
        self.refuses("at least one photo, not 0", esra.solve, np.zeros((0, 9, 7)), gradients[:1], [])

    def test_scenes_and_measures(self):
        self.refuses("at least 2 x 2 pixels", esra.synth, np.zeros((1, 1)), PHOTOS[0])
        self.refuses("bits is 9", esra.synth, *PHOTOS, bits=9)
        self.refuses("width is 1000000", esra.synth, *PHOTOS, width=10**6)
        self.refuses("seed is -1", esra.synth, *PHOTOS, seed=-1)
        self.refuses("the layers have 2 and 3 channels", esra.synth, np.zeros((9, 9, 2)), np.zeros((9, 9, 3)))
        self.refuses("a depth map needs one channel", esra.synth, *PHOTOS, transmitted_depth=np.zeros((9, 9, 3)))
        self.refuses("only images of one size", esra.compare, PHOTOS[0], PHOTOS[1][1:])
        self.refuses("of equal channels", esra.compare, np.zeros((9, 9, 2)), np.zeros((9, 9, 3)))
        self.refuses("without samples", esra.compare, np.zeros((0, 9)), np.zeros((0, 9)))
        self.refuses("two photos at least", esra.plan, 1, (9, 9))
        self.refuses("1 or 3 channels", esra.plan, 2, (9, 9, 4))
        self.refuses("of one pixel at least", esra.plan, 2, (9, -9))
        self.refuses("cannot be held", esra.plan, 2, (2**40, 2**40))
        self.refuses("threads is 999", esra.plan, 2, (9, 9), threads=999)

    def test_sizes_beyond_every_machine(self):
        huge = np.broadcast_to(np.float32(0), (2**29, 2**29))
        self.refuses("no room", esra.separate, [huge, huge], error=esra.OutOfMemory)
        self.refuses("no room", esra.solve, [huge], [[huge, huge]] * 2, [1], error=MemoryError)
        self.refuses("", esra.compare, huge, huge, error=MemoryError)
        self.refuses("no room", esra.separate, [np.broadcast_to(np.uint8(0), huge.shape)] * 2, error=MemoryError)
        long = np.broadcast_to(np.float32(0), (1, 2**31))
        self.refuses("no side may exceed", esra.compare, long, long)

    @unittest.skipUnless(liar, "the module that lies was not built")
    def test_buffers_that_lie(self):
        true = {"format": "f", "itemsize": 4, "shape": (3, 4), "strides": (16, 4), "length": 48}
        said = esra.compare(liar.Liar(**true), liar.Liar(**true))
        self.assertEqual(said.psnr, np.inf)
        lies = ({"shape": (3000, 4000)}, {"shape": (3, 4000)}, {"length": 4}, {"length": -48}, {"shape": (-3, 4)},
                {"shape": (3, -4)}, {"shape": (2**62, 2**62)}, {"format": "d"}, {"format": "B"}, {"format": "ff"},
                {"format": ""}, {"format": "P"}, {"itemsize": 8}, {"itemsize": 0}, {"itemsize": -4}, {"shape": None},
                {"suboffsets": (0, 0)}, {"shape": (3, 4, 2)}, {"data": False})
        for lie in lies:
            with self.subTest(lie=lie):
                for function in (esra.compare, esra._esra.compare):
                    with self.assertRaises(esra.Error):
                        function(liar.Liar(**{**true, **lie}), liar.Liar(**true))
        rows_in_a_row = liar.Liar(**{**true, "strides": None})  # which is no lie, but not what the C half asks for
        self.assertEqual(esra.compare(rows_in_a_row, liar.Liar(**true)).psnr, np.inf)
        with self.assertRaises(esra.Error):
            esra._esra.compare(rows_in_a_row, liar.Liar(**true))

    def test_the_c_half_trusts_nobody(self):
        c = esra._esra
        good = np.zeros((4, 4), np.float32)
        for call in (lambda: c.load(good, np.zeros((4, 5), np.float32), True), lambda: c.load(good, good.astype(float), True),
                     lambda: c.save(np.frombuffer(bytes(64), np.float32).reshape(4, 4), good, True),
                     lambda: c.mix(good, good[1:], .5), lambda: c.mix(good, good, 2.), lambda: c.mix(good, good, np.nan),
                     lambda: c.separate([good, good], {}, {}, {}, {"mixing": np.zeros(1)}, None),
                     lambda: c.separate([good, good], {}, {}, {}, {"mixing": np.zeros(4)[::2]}, None),
                     lambda: c.separate([good, good], {}, {"no": 1}, {}, {}, None),
                     lambda: c.separate([good, good], {}, {1: 1}, {}, {}, None),
                     lambda: c.separate([good, good], {"mixing": np.zeros(3)}, {}, {}, {}, None),
                     lambda: c.separate([good, good], {}, {}, {}, {"transmitted": good[1:]}, None),
                     lambda: c.solve([good], {}, {}, {}, None), lambda: c.solve(5, {}, {}, {}, None),
                     lambda: c.plan(True, 2**40, 1, 1, 1, {}), lambda: c.compare(None, good), lambda: c.tables(1)):
            with self.assertRaises((ValueError, TypeError, BufferError, OverflowError)):
                call()


if __name__ == "__main__":
    unittest.main()
