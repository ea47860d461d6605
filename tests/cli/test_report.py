"""report.html: stands alone, and its slider moves."""
import base64
import re
import unittest

from browser import PROGRAM, Browser
from pictures import icc_profile, png_profile, to_8_bit
from separating import HEIGHT, NAMES, PHOTOS, WIDTH, SeparateTest


class Report(SeparateTest):
    def test_report_stands_alone(self):
        self.expect(0, *self.separate("--gap", "0.001"))
        page = (self.path / "out" / "report.html").read_text()
        self.assertNotRegex(page, r"https?://")
        self.assertNotRegex(page, r"<link|@import|url\(")
        sources = re.findall(r"\bsrc=\"([^\"]{0,30})", page)
        self.assertEqual(len(sources), 2 + 3 + 2)
        self.assertTrue(all(source.startswith("data:image/jpeg;base64,") for source in sources), sources)
        for part in 'type="range" id="slider"', f'<svg viewBox="-10 -10 {WIDTH + 20} {HEIGHT + 20}" id="alignment"', 'id="convergence"':
            self.assertIn(part, page)
        self.assertNotRegex(page, r"\b(nan|inf)\b")

    def test_pictures_carry_the_profile(self):
        """Before, after and every layer are in the code values of their photo; the map of confidence is in none."""
        profiles = [icc_profile(gamma) for gamma in (1.8, 2.0, 2.2)]
        for name, photo, profile in zip(NAMES, PHOTOS, profiles):
            self.save(name, to_8_bit(photo), png_profile(profile))
        self.expect(0, *self.separate("-r", "2"))
        page = (self.path / "out" / "report.html").read_text()
        pictures = [base64.b64decode(data) for data in re.findall(r"src=\"data:image/jpeg;base64,([^\"]*)", page)]
        found = [[n for n, profile in enumerate(profiles) if profile in picture] for picture in pictures]
        self.assertEqual(found, [[1], [1], [1], [1], [0], [2], []])

    def seen(self, browser):
        """Which picture is seen at a tenth, at half and at nine tenths of the width."""
        return browser.ask("[.1, .5, .9].map(at => { const box = document.querySelector('.compare').getBoundingClientRect();"
                           "return document.elementsFromPoint(box.left + at * box.width, box.top + box.height / 2)"
                           ".find(e => e.tagName == 'IMG').className }).join(' ')")

    def places(self, browser):
        """From a share of the picture's width to a place in the window."""
        left, top, width, height = browser.ask("(() => { const box = document.querySelector('.compare')"
                                               ".getBoundingClientRect(); return [box.left, box.top, box.width, box.height] })()")
        self.assertLessEqual(height, browser.size[1], "the whole picture can be seen at once")
        return lambda share: (left + share * width, top + height / 2)

    @unittest.skipUnless(PROGRAM, "there is no Chromium to open the report in")
    def test_the_slider_by_finger(self):
        self.expect(0, *self.separate())
        with Browser(self.path / "profile", 390, 800, touch=True) as browser:
            browser.open((self.path / "out" / "report.html").as_uri())
            at = self.places(browser)
            self.assertLessEqual(browser.ask("document.documentElement.scrollWidth"), 390, "nothing is wider than a phone")
            browser.finger("touchStart", at(.5))
            browser.finger("touchMove", at(.3))
            browser.finger("touchMove", at(.05))
            browser.finger("touchEnd")
            self.assertEqual(self.seen(browser), "after after after")
            browser.finger("touchStart", at(.7))
            browser.finger("touchEnd")
            self.assertEqual(self.seen(browser), "before before after")

    @unittest.skipUnless(PROGRAM, "there is no Chromium to open the report in")
    def test_the_slider_by_mouse_and_keys(self):
        self.expect(0, *self.separate())
        with Browser(self.path / "profile", 1280, 800) as browser:
            browser.open((self.path / "out" / "report.html").as_uri(), dark=True)
            at = self.places(browser)
            browser.mouse("mousePressed", *at(.5))
            browser.mouse("mouseMoved", *at(.7))
            browser.mouse("mouseReleased", *at(.7))
            self.assertEqual(self.seen(browser), "before before after")
            browser.key("Home")
            self.assertEqual(self.seen(browser), "after after after")
            for _ in range(20):
                browser.key("ArrowRight")
            self.assertEqual(self.seen(browser), "before after after")
            browser.key("End")
            self.assertEqual(self.seen(browser), "before before before")
            self.assertEqual(browser.ask("[...document.images].filter(i => !i.complete || !i.naturalWidth || !i.alt).length"), 0)
            self.assertLess(browser.ask("+getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"), 64, "dark")

    def test_both_layers_of_the_reference_are_as_large(self):
        self.expect(0, *self.separate())
        page = (self.path / "out" / "report.html").read_text()
        pair = re.search(r'<div class="pair">(.*?)</div>', page, re.S)[1]
        self.assertEqual(re.findall(r"<b>(\S+)</b>", pair), ["transmitted.png", "reflected-2.png"])
        others = re.search(r'<div class="grid">(.*?)</div>', page, re.S)[1]
        self.assertEqual(re.findall(r"<b>(\S+)</b>", others), ["reflected-1.png", "reflected-3.png", "confidence.png"])

    def test_report_of_a_failure_says_why(self):
        self.expect(11, *self.separate(photos=["p1.png", "p1.png"]))
        page = (self.path / "out" / "report.html").read_text()
        self.assertIn('<div class="warning" id="same-photo">', page)
        self.assertIn("The layers could not be told apart", page)
        self.assertNotIn('id="slider"', page, "there is nothing to compare")
        self.assertEqual(page.count("<img"), 1, "and no layer to be shown")


if __name__ == "__main__":
    unittest.main(verbosity=2)
