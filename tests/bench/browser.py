"""Drives a headless Chromium through its debugging pipe, with Python's own library alone."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")


def find():
    """Returns the path of a browser; None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one tab. It collects everything that the tab logs and every address that it asks for.

    A call that the browser refuses is a RuntimeError, and so is its end.
    """

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.number, self.session, self.received = 0, None, b""
        self.logged, self.requested, self.events = [], [], []
        # The browser reads commands from descriptor 3 and writes answers to 4. These are above both.
        pipes = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for pair in (os.pipe(), os.pipe()) for end in pair]
        read, self.commands, self.answers, write = pipes
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "${@:3}" 3<&"$1" 4>&"$2"', "bash", str(read), str(write), program, "--headless",
             "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             f"--user-data-dir={self.folder.name}"],
            pass_fds=(read, write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.commands)
        self.process.kill()
        self.process.wait()
        os.close(self.answers)
        self.folder.cleanup()

    def receive(self):
        """Returns the next message of the browser, which may be an answer or an event."""
        while b"\0" not in self.received:
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise RuntimeError(f"the browser ended with code {self.process.wait()}")
            self.received += part
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def note(self, event):
        name, values = event.get("method"), event.get("params", {})
        self.events.append(name)
        if name == "Runtime.consoleAPICalled":
            self.logged.append(str(values["args"]))
        elif name == "Runtime.exceptionThrown":
            self.logged.append(str(values["exceptionDetails"]))
        elif name == "Log.entryAdded":
            self.logged.append(values["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.requested.append(values["request"]["url"])

    def call(self, method, **parameters):
        """Returns the result of one command."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (answer := self.receive()).get("id") != self.number:
            self.note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, address):
        """Opens a page and waits until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.events:
            self.note(self.receive())

    def look(self, width, height, scheme, media="screen"):
        """Sets the window's size in CSS pixels, the reader's colours (`light`, `dark`), and the medium."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def ask(self, expression):
        """Returns the value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def screenshot(self, file):
        """Writes the whole page as a PNG."""
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(image))

    def printed(self):
        """Returns the page as a PDF."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])
