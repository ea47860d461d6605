"""While it runs: threads, progress, Ctrl-C; and afterwards: nothing is left, and results can be kept."""
import ctypes
import gc
import os
import pickle
import signal
import sys
import threading
import tracemalloc
import unittest

import numpy as np

import esra
from scenes import problem, same, scene

# Shells have what they run in the background ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

ENDLESS = {"gap": 0, "max_iterations": 10**9, "threads": 1}


def in_thread(work):
    """Starts the work; returns a function that waits for its answer."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(work()))
    thread.start()

    def wait():
        thread.join()
        return answers[0]

    return wait


class Threads(unittest.TestCase):
    def test_two_separate_at_once(self):
        scenes = [scene(seed=seed).photos for seed in (1, 2)]
        alone = [esra.separate(photos, threads=1, motion="translation") for photos in scenes]
        waits = [in_thread(lambda photos=photos: esra.separate(photos, threads=1, motion="translation")) for photos in scenes]
        for one, wait in zip(alone, waits):
            same(self, one, wait())

    def test_python_runs_meanwhile(self):
        """The solve has no end of its own: it stops once this thread, which must get to run for that, says so."""
        begun, enough = threading.Event(), threading.Event()

        def progress(info):
            begun.set()
            return enough.is_set()

        wait = in_thread(lambda: esra.solve(*problem(shape=(60, 60)), **ENDLESS, progress=progress))
        begun.wait()
        counted = sum(range(100000))
        enough.set()
        found = wait()
        self.assertEqual(counted, 4999950000)
        self.assertEqual(found.info.outcome, "stopped")
        self.assertGreater(found.info.bound, 0)
        self.assertTrue(np.isfinite(found.layers).all())

    def test_the_number_of_threads_changes_no_bit(self):
        found = [esra.solve(*problem(shape=(90, 70)), threads=threads).layers.tobytes() for threads in (1, 2, 3)]
        self.assertEqual(len(set(found)), 1)


class Progress(unittest.TestCase):
    def test_it_is_told_and_can_stop(self):
        seen = []
        found = esra.separate(scene().photos, motion="translation", progress=lambda info: seen.append(info.stage) or False)
        self.assertEqual(found.method, "joint")
        self.assertLessEqual({"align", "separate"}, set(seen))
        stopped = esra.separate(scene().photos, progress=lambda info: True)
        self.assertEqual(stopped.info.outcome, "stopped")
        made = []
        scene(progress=lambda info: made.append(info.stage))
        self.assertLessEqual(set(made), {"synth"})

    def test_what_it_raises_comes_out(self):
        class Enough(Exception):
            pass

        def raise_it(info):
            raise Enough(info.stage)

        for work in (lambda: esra.solve(*problem(), **ENDLESS, progress=raise_it),
                     lambda: esra.separate(scene().photos, progress=raise_it),
                     lambda: esra.align(scene().photos, progress=raise_it)):
            self.assertRaises(Enough, work)

    def test_an_answer_that_is_no_answer(self):
        class Undecided:
            def __bool__(self):
                raise RuntimeError("I do not know")

        with self.assertRaisesRegex(RuntimeError, "I do not know"):
            esra.solve(*problem(), **ENDLESS, progress=lambda info: Undecided())


class Interrupts(unittest.TestCase):
    """The work would go on for ever, or for minutes: that the tests end at all shows that it was stopped."""

    def interrupted(self, work):
        timer = threading.Timer(.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            work()
        timer.join()

    def test_a_solve(self):
        self.interrupted(lambda: esra.solve(*problem(shape=(60, 60)), **ENDLESS))
        self.interrupted(lambda: esra.solve(*problem(shape=(60, 60)), **ENDLESS, engine="paper"))
        self.interrupted(lambda: esra.solve(*problem(shape=(60, 60)), **ENDLESS, progress=lambda info: False))

    def test_a_separation(self):
        photos = scene(width=640, height=480, photos=5).photos
        self.interrupted(lambda: esra.separate(photos, motion="depth", gap=0, max_iterations=10**9))
        self.interrupted(lambda: esra.separate(photos, threads=1, gap=0, max_iterations=10**9))

    def test_the_next_call_works(self):
        self.interrupted(lambda: esra.solve(*problem(shape=(60, 60)), **ENDLESS))
        self.assertEqual(esra.solve(*problem()).info.outcome, "optimal")


class Afterwards(unittest.TestCase):
    def test_results_can_be_pickled(self):
        photos = scene().photos
        found = esra.separate(photos, motion="translation")
        again = pickle.loads(pickle.dumps(found))
        same(self, found, again)
        self.assertEqual(repr(found), repr(again))
        self.assertEqual((found.warnings, found.info, found.facts[1].aligned), (again.warnings, again.info, True))
        self.assertEqual(found.evidence.keys(), again.evidence.keys())
        for result in (esra.align(photos), esra.solve(*problem()), scene(), esra.compare(*photos), esra.plan(photos),
                       esra.settings(), esra.WARNINGS):
            self.assertEqual(repr(result), repr(pickle.loads(pickle.dumps(result))))
        error = pickle.loads(pickle.dumps(esra.Error("so")))
        self.assertEqual((type(error), str(error)), (esra.Error, "so"))

    def test_what_is_printed(self):
        photos = scene().photos
        found = esra.separate(photos, motion="translation")
        self.assertRegex(repr(found), r"^<esra.Separation of 2 photos 64 x 84: joint, translation, gap 0\.0\d+ \(optimal\); "
                         "warnings: .*two-photos")
        self.assertRegex(repr(esra.separate([photos[0]] * 2)), "not separated; warnings: same-photo")
        self.assertRegex(repr(esra.solve(*problem())), r"objective [\d.]+, gap [\d.e-]+ \(optimal\)")


class Memory(unittest.TestCase):
    """NumPy tells tracemalloc of every array: those of the answer must be made, and of the inputs one copy may be."""

    def most(self, photos):
        known = {"transforms": np.tile(np.eye(3), (2, 1, 1)), "gradients": np.zeros((3, 2, 120, 160, 3), np.float32)}
        tracemalloc.start()
        esra.separate(photos, threads=1, max_iterations=2, **known)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    def test_no_more_than_one_copy_of_the_photos(self):
        codes = np.random.default_rng(1).integers(0, 256, (2, 120, 160, 3), np.uint8)
        floats = 4 * codes[0].size
        answer = 3 * floats + 4 * 120 * 160  # two reflected layers, the transmitted one, the confidence
        little = 30000
        self.assertLess(self.most(np.float32(codes / 255)), answer + little, "of float32 no copy is made")
        self.assertLess(self.most(codes), answer + 2 * floats + little, "of codes one copy is, as float32")


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]


def allocated():
    """Bytes of the C library's and blocks of Python's, once all that can be freed is."""
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
    now = mallinfo()
    return now.uordblks + now.hblkhd, sys.getallocatedblocks()


def raises(work):
    try:
        work()
    except (esra.Error, TypeError):
        return
    raise AssertionError("it did not fail")


class Leaks(unittest.TestCase):
    def work(self, codes):
        """A good and a bad call of everything; of codes too, whose curve takes longer than all the rest."""
        photos, known = self.photos, {"transforms": self.motion, "gradients": self.gradients}
        if codes:
            esra.separate(photos, threads=1, max_iterations=20, **known)
        esra.separate([photo / 255 for photo in photos], threads=1, max_iterations=20, progress=lambda info: False, **known)
        esra.solve(*self.problem, threads=1, max_iterations=20)
        esra.compare(*photos)
        esra.plan(photos)
        raises(lambda: esra.separate([photos[0] / 255] * 2, lam=-1))
        raises(lambda: esra.separate([photos[0] / 255, photos[1] * np.nan], **known))
        raises(lambda: esra.separate([photos[0] / 255] * 2, transforms=np.zeros((1, 3, 3))))
        raises(lambda: esra.solve(*self.problem, weights=np.zeros((2, 1, 1))))
        raises(lambda: esra.solve(*self.problem, progress=lambda info: None + 1, gap=0))
        raises(lambda: esra.compare(photos[0], photos[1][1:]))
        raises(lambda: esra.synth(photos[0] / 255, np.zeros((1, 1)), width=8, height=8, photos=1))

    def setUp(self):
        self.photos = [np.ascontiguousarray(photo[:12, :16]) for photo in scene().photos]
        self.motion = np.tile(np.eye(3), (2, 1, 1))
        self.gradients = np.zeros((3, 2, 12, 16), np.float32)
        self.problem = problem()

    def test_a_thousand_runs_leave_nothing(self):
        for _ in range(50):
            self.work(codes=True)
        bytes_before, blocks_before = allocated()
        for number in range(1000):
            self.work(codes=number % 10 == 0)
        bytes_after, blocks_after = allocated()
        # One byte, or one object, lost in each round would be a thousand; the rest is what allocators keep by the way.
        self.assertLess(blocks_after - blocks_before, 500)
        self.assertLess(bytes_after - bytes_before, 8000)


if __name__ == "__main__":
    unittest.main()
