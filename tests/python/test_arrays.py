"""Every kind of sample, every way to lie in memory, and everything that can pass for an array."""
import array
import ctypes
import unittest

import numpy as np

import esra
from scenes import KINDS, odd_views, picture, problem, same, scene

SCENE = scene()

# With everything known beforehand a separation is only the solve.
KNOWN = {"transforms": np.tile(np.eye(3), (2, 1, 1)), "gradients": np.zeros((3, 2, 64, 84)), "mixing": [1, .9], "threads": 1}
QUICK = esra.separate(SCENE.photos, **KNOWN)


def of_kind(photo, kind):
    """The same codes in another kind."""
    full = {np.uint8: 255, np.uint16: 65535}
    return photo if kind == np.uint8 else (photo.astype(np.float64) / 255 * full.get(kind, 1)).round(
        0 if kind == np.uint16 else 12).astype(kind)


class Kinds(unittest.TestCase):
    def test_layers_have_the_kind_and_shape_of_the_photos(self):
        for kind in KINDS:
            for shape in ((64, 84), (64, 84, 1)):
                photos = [of_kind(photo, kind).reshape(shape) for photo in SCENE.photos]
                found = esra.separate(photos, curve="srgb", **KNOWN)
                for layer in (found.transmitted, *found.reflected):
                    self.assertEqual((layer.dtype, layer.shape), (np.dtype(kind), shape))
                self.assertEqual((found.confidence.dtype, found.confidence.shape), (np.float32, (64, 84)))
                levels = of_kind(found.transmitted, np.uint8) if kind == np.uint8 else found.transmitted * (
                    255 / 65535 if kind == np.uint16 else 255)
                self.assertLess(np.abs(levels.reshape(64, 84) - QUICK.transmitted.astype(float)).max(), .51)

    def test_integers_are_srgb_and_floats_linear(self):
        light = esra.synth(picture(1) / 255, picture(2) / 255, width=84, height=64, photos=2, shift_px=6).photos
        codes = [np.where(l <= .0031308, 12.92 * l, 1.055 * l**(1 / 2.4) - .055) for l in light]
        as_light, as_codes = esra.separate(light, **KNOWN), esra.separate(codes, curve="srgb", **KNOWN)
        self.assertLess(np.abs(as_light.transmitted - (((as_codes.transmitted + .055) / 1.055)**2.4)).max(), .01)
        whole = [np.round(code * 65535).astype(np.uint16) for code in codes]
        decoded, as_it_is = esra.separate(whole, **KNOWN), esra.separate(whole, curve="linear", **KNOWN)
        self.assertLess(np.abs(decoded.transmitted / 65535 - as_codes.transmitted).max(), .01)
        self.assertGreater(np.abs(decoded.transmitted.astype(float) - as_it_is.transmitted).max(), 65)

    def test_photos_that_cannot_be_separated_come_back_to_the_bit(self):
        for kind in KINDS:
            photo = of_kind(picture(1)[:40, :50], kind)
            found = esra.separate([photo, photo])
            self.assertEqual(found.method, "none")
            self.assertIn("same-photo", [warning.id for warning in found.warnings])
            as_computed = photo.astype(np.float32).astype(kind) if kind == np.float64 else photo
            self.assertEqual(found.transmitted.tobytes(), as_computed.tobytes(), kind)
            self.assertIsNone(found.motion.reflected)

    def test_kinds_may_be_mixed_and_grey_among_colours(self):
        first, second = scene(3).photos
        found = esra.separate([first, second[..., 1].astype(np.uint16) * 257])
        self.assertEqual([layer.dtype for layer in found.reflected], [np.uint8, np.uint16])
        self.assertEqual([layer.shape for layer in found.reflected], 2 * [(64, 84, 3)])
        alike = np.repeat(second[..., 1:2], 3, 2)
        same_photos = esra.separate([first, alike])
        self.assertEqual(found.transmitted.tobytes(), same_photos.transmitted.tobytes())

    def test_strength(self):
        photo, found = SCENE.photos[0].astype(float), esra.separate(SCENE.photos, strength=0, **KNOWN)
        self.assertEqual(found.transmitted.tobytes(), SCENE.photos[0].tobytes())
        half = esra.separate(SCENE.photos, strength=.5, **KNOWN).transmitted
        self.assertTrue((np.minimum(photo, QUICK.transmitted) <= half).all())
        self.assertTrue((half <= np.maximum(photo, QUICK.transmitted)).all())


class Places(unittest.TestCase):
    def test_photos_may_lie_anywhere(self):
        for kind in (np.uint16, np.float32):
            photos = [of_kind(photo, kind) for photo in SCENE.photos]
            usual = esra.separate(photos, **KNOWN)
            for name in odd_views(photos[0]):
                with self.subTest(name):
                    same(self, usual, esra.separate([odd_views(photo)[name] for photo in photos], **KNOWN))

    def test_problems_may_lie_anywhere(self):
        mixtures, gradients, mixing = problem(shape=(9, 7, 2))
        usual = esra.solve(mixtures, gradients, mixing)
        for name in odd_views(mixtures):
            found = esra.solve(odd_views(mixtures)[name], odd_views(gradients)[name], mixing)
            self.assertEqual(usual.layers.tobytes(), found.layers.tobytes(), name)
        found = esra.solve(mixtures.astype(np.float64), list(gradients.astype(np.float64)), mixing)
        self.assertEqual((found.layers.dtype, found.duals.dtype), (np.float64, np.float64))
        self.assertEqual(usual.layers.tobytes(), found.layers.astype(np.float32).tobytes())

    def test_floats_are_lent_and_not_touched(self):
        photos = [np.asfortranarray(photo / np.float32(255), np.float32) for photo in SCENE.photos]
        for photo in photos:
            photo.flags.writeable = False
        before = [photo.tobytes() for photo in photos]
        found = esra.separate(photos, strength=.5, **KNOWN)
        self.assertEqual(before, [photo.tobytes() for photo in photos])
        self.assertFalse(any(np.shares_memory(found.transmitted, photo) for photo in photos))

    def test_whatever_passes_for_an_array(self):
        photos = SCENE.photos
        views = [memoryview(photo) for photo in photos]
        same(self, QUICK, esra.separate(views, **KNOWN))
        same(self, QUICK, esra.separate(np.array(photos), **KNOWN))
        same(self, QUICK, esra.separate((photo for photo in photos), **KNOWN))
        rows = [memoryview(array.array("B", photo.tobytes())).cast("B", photo.shape) for photo in photos]
        same(self, QUICK, esra.separate(rows, **KNOWN))
        foreign = [((ctypes.c_uint8 * 84) * 64).from_buffer_copy(photo) for photo in photos]
        same(self, QUICK, esra.separate(foreign, **KNOWN))
        unmasked = [np.ma.masked_array(photo) for photo in photos]
        same(self, QUICK, esra.separate(unmasked, **KNOWN))

    def test_pil_images(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("there is no PIL")
        same(self, QUICK, esra.separate([Image.fromarray(photo) for photo in SCENE.photos], **KNOWN))
        with self.assertRaisesRegex(esra.Error, "an image in P: convert it"):
            esra.separate([Image.fromarray(photo).convert("P") for photo in SCENE.photos])


class Solving(unittest.TestCase):
    def test_weights_and_start(self):
        mixtures, gradients, mixing = problem(shape=(24, 20))
        weights = np.ones(mixtures.shape)
        first = esra.solve(mixtures, gradients, mixing, weights=weights, gap=1e-4)
        unweighted = esra.solve(mixtures, gradients, mixing, gap=1e-4)
        self.assertAlmostEqual(first.info.objective, unweighted.info.objective, delta=2e-4 * first.info.objective)
        again = esra.solve(mixtures, gradients, mixing, gap=1e-4, start=first)
        self.assertLess(again.info.iterations, first.info.iterations)
        pair = esra.solve(mixtures, gradients, mixing, gap=1e-4, start=(first.layers, first.duals))
        self.assertEqual(again.layers.tobytes(), pair.layers.tobytes())
        weights[1, :, :9] = 0
        other = esra.solve(mixtures, gradients, mixing, weights=weights, gap=1e-4)
        self.assertLess(other.info.objective, first.info.objective)

    def test_both_engines_prove_their_gap(self):
        mixtures, gradients, mixing = problem()
        for engine, gap in (("fast", 1e-3), ("paper", .1)):
            info = esra.solve(mixtures, gradients, mixing, engine=engine, gap=gap, **{"lambda": .05}).info
            self.assertEqual(info.outcome, "optimal")
            self.assertLessEqual((info.objective - info.bound) / info.objective, gap)

    def test_options_of_numpy_types(self):
        found = esra.separate(SCENE.photos, **{**KNOWN, "threads": np.int64(1)}, reference=np.int64(1), swap=np.bool_(False),
                              lam=np.float32(.003))
        self.assertEqual(found.reference, 1)
        self.assertEqual(scene(photos=np.int8(1)).photos[0].shape, (64, 84))

    def test_given_gradients_and_mixing(self):
        photos = SCENE.photos
        gradients = np.zeros((3, 2, 64, 84))
        found = esra.separate(photos, gradients=gradients, mixing=[1, .9], transforms=np.tile(np.eye(3), (2, 1, 1)))
        self.assertEqual(found.method, "given")
        np.testing.assert_allclose(found.mixing, [1, .9])
        both = np.array([found.motion.transmitted, found.motion.transmitted])
        self.assertEqual(esra.separate(photos, gradients=gradients, transforms=both).method, "given")


if __name__ == "__main__":
    unittest.main()
