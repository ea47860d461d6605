"""report.html: stands alone, and its slider moves."""
import re
import shutil
import subprocess
import unittest

from separating import SeparateTest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Report(SeparateTest):
    def test_report_stands_alone(self):
        self.expect(0, *self.separate("--gap", "0.001"))
        page = (self.path / "out" / "report.html").read_text()
        self.assertNotRegex(page, r"https?://")
        self.assertNotRegex(page, r"<link|@import|url\(")
        sources = re.findall(r"\bsrc=\"([^\"]{0,30})", page)
        self.assertEqual(len(sources), 2 + 3 + 2)
        self.assertTrue(all(source.startswith("data:image/jpeg;base64,") for source in sources), sources)
        for part in 'type="range" id="slider"', '<svg viewBox="-16 -16 160 128" id="alignment"', 'id="convergence"':
            self.assertIn(part, page)
        self.assertNotRegex(page, r"\b(nan|inf)\b")

    @unittest.skipUnless(BROWSER, "there is no Chromium to open the report in")
    def test_slider_moves_the_picture(self):
        """A script moves it as a hand would; the browser then says which picture is seen in four places."""
        self.expect(0, *self.separate())
        move = """<script>addEventListener('load', () => {
            const slider = document.getElementById('slider'), seen = [];
            const box = document.querySelector('.compare').getBoundingClientRect();
            for (const value of [0, 30, 60, 100]) {
                slider.value = value;
                slider.dispatchEvent(new Event('input'));
                seen.push([.1, .45, .7, .9].map(at => document.elementsFromPoint(box.left + at * box.width,
                    box.top + box.height / 2).find(e => e.tagName == 'IMG').className).join(' '));
            }
            document.body.dataset.seen = seen.join(', ');
        });</script>"""
        page = (self.path / "out" / "report.html").read_text()
        (self.path / "moved.html").write_text(page.replace("</body>", move + "</body>"))
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,800",
                               f"--user-data-dir={self.path}/profile", "--virtual-time-budget=5000", "--dump-dom",
                               (self.path / "moved.html").as_uri()], capture_output=True, text=True, timeout=120)
        self.assertIn('data-seen="after after after after, before after after after, before before after after, '
                      'before before before before"', done.stdout, done.stderr)

    def test_report_of_a_failure_says_why(self):
        self.expect(11, *self.separate(photos=["p1.png", "p1.png"]))
        page = (self.path / "out" / "report.html").read_text()
        self.assertIn('<div class="warning" id="same-photo">', page)
        self.assertIn("The layers could not be told apart", page)


if __name__ == "__main__":
    unittest.main()
