"""A headless Chromium that is told what to do through a pipe, as its developer tools do (DevTools protocol)."""
import base64
import json
import os
import shutil
import subprocess

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page in a window of this size. Used with `with`; the folder keeps the browser's profile."""

    def __init__(self, folder, width, height, touch=False):
        self.folder, self.size, self.touch = folder, (width, height), touch

    def __enter__(self):
        read, their_write = os.pipe()
        their_read, write = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={self.folder}",
                 "--remote-debugging-pipe", "about:blank"]
        # The browser reads from 3 and writes to 4.
        command = f"exec {PROGRAM} \"$@\" 3<&{their_read} 4>&{their_write}"
        self.process = subprocess.Popen(["bash", "-c", command, "browser", *flags], pass_fds=(their_read, their_write),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(their_read)
        os.close(their_write)
        self.answers, self.orders = os.fdopen(read, "rb"), os.fdopen(write, "wb")
        self.number, self.session, self.rest = 0, None, b""
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.tell("Page.enable")
        self.tell("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1,
                  mobile=self.touch)
        self.tell("Emulation.setTouchEmulationEnabled", enabled=self.touch)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.answers.close()
        self.orders.close()

    def message(self):
        while b"\0" not in self.rest:
            more = self.answers.read1(1 << 20)
            if not more:
                raise EOFError("the browser is gone")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def wait(self, fits):
        while True:
            message = self.message()
            if fits(message):
                return message

    def tell(self, method, **parameters):
        self.number += 1
        order = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            order["sessionId"] = self.session
        self.orders.write(json.dumps(order).encode() + b"\0")
        self.orders.flush()
        answer = self.wait(lambda message: message.get("id") == self.number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, address, dark=False):
        self.tell("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.tell("Page.navigate", url=address)
        self.wait(lambda message: message.get("method") == "Page.loadEventFired")

    def ask(self, expression):
        return self.tell("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def mouse(self, kind, x, y):
        self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=int(kind != "mouseReleased"),
                  clickCount=1)

    def finger(self, kind, *points):
        self.tell("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])

    def key(self, name):
        code = {"Tab": 9, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}[name]
        for kind in "keyDown", "keyUp":
            self.tell("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.tell("Page.captureScreenshot")["data"]))
