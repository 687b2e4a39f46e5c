"""A headless Chromium, driven over its DevTools protocol.

Small on purpose: the browser that is installed, the websockets library that viser brings, and the
five or six commands that these tests need.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CEILING = 30.0
"""Longest any single wait may last, s: without a graphics card the processor draws every frame."""

Found = TypeVar("Found")


def find_browser() -> str | None:
    """Give the program, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A browser process of its own, with an empty profile."""

    def __init__(self, program: str, folder: Path) -> None:
        """Start it.

        Args:
            program: its path.
            folder: where its profile goes.
        """
        self._folder = folder
        self._process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",  # tests run as root in containers
                "--use-angle=swiftshader",  # the same pixels on every machine, with no GPU
                "--enable-unsafe-swiftshader",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--no-default-browser-check",
                "--remote-debugging-port=0",
                f"--user-data-dir={folder}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.port = self._wait_for_port()

    def _wait_for_port(self) -> int:
        path = self._folder / "DevToolsActivePort"
        deadline = time.monotonic() + CEILING
        while time.monotonic() < deadline:
            if path.exists() and (lines := path.read_text().splitlines()):
                return int(lines[0])
            if self._process.poll() is not None:
                raise AssertionError(f"the browser ended with {self._process.returncode}")
            time.sleep(0.02)
        raise AssertionError("the browser does not start")

    def open(self, address: str, width: int = 1280, height: int = 800) -> Page:
        """Open a page in a new tab."""
        return Page(self.port, address, width, height)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(CEILING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(CEILING)


class Page:
    """A tab.

    Attributes:
        requests: address of everything it asked the network for.
        complaints: what it wrote on its console as a warning or an error, and its exceptions.
    """

    def __init__(self, port: int, address: str, width: int, height: int) -> None:
        """Open it and start to load the address."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT"
        )
        with urllib.request.urlopen(request, timeout=CEILING) as answer:
            self._target = json.load(answer)
        self._port = port
        self._socket = connect(self._target["webSocketDebuggerUrl"], max_size=None)
        self._count = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.command(f"{domain}.enable")
        self.resize(width, height)
        self.command("Emulation.setFocusEmulationEnabled", enabled=True)
        self.command("Page.navigate", url=address)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size, pixels."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def close(self) -> None:
        """Close the tab."""
        self._socket.close()
        url = f"http://127.0.0.1:{self._port}/json/close/{self._target['id']}"
        urllib.request.urlopen(url, timeout=CEILING).close()

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and give its result; events that come meanwhile are noted."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=CEILING))
            if message.get("id") == self._count:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self._note(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            if not parameters["request"]["url"].startswith(("data:", "blob:")):
                self.requests.append(parameters["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(parameters["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(str(details.get("exception", details).get("description")))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            texts = [str(part.get("value", part.get("description"))) for part in parameters["args"]]
            self.complaints.append(" ".join(texts))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"]["text"])

    def evaluate(self, expression: str) -> Any:
        """Give the value of a JavaScript expression."""
        result = self.command(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def wait_for(
        self, condition: Callable[[], Found], what: str, timeout: float = CEILING
    ) -> Found:
        """Wait until a condition holds, and give what it gave."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"waited {timeout:g} s for {what}; complaints: {self.complaints}")

    def wait_for_text(self, text: str) -> None:
        """Wait until a text stands on the page."""
        expression = f"document.body && document.body.innerText.includes({json.dumps(text)})"
        self.wait_for(lambda: self.evaluate(expression), f"the text {text!r}")

    def pointer(self, kind: str, x: float, y: float, held: bool = False) -> None:
        """Let the pointer do something: `mouseMoved`, `mousePressed` or `mouseReleased`."""
        self.command(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="none" if kind == "mouseMoved" and not held else "left",
            buttons=1 if held else 0,
            clickCount=0 if kind == "mouseMoved" else 1,
        )

    def press(self, x: float, y: float) -> None:
        """Press the pointer's button somewhere."""
        self.pointer("mouseMoved", x, y)
        self.pointer("mousePressed", x, y, held=True)

    def move(self, x: float, y: float) -> None:
        """Move the pointer with its button held."""
        self.pointer("mouseMoved", x, y, held=True)

    def release(self, x: float, y: float) -> None:
        """Let the button go."""
        self.pointer("mouseReleased", x, y)

    def click(self, x: float, y: float) -> None:
        """Click somewhere."""
        self.press(x, y)
        self.release(x, y)

    def click_button(self, text: str) -> None:
        """Click the button that says so, where it is on the screen."""
        found = self.wait_for(
            lambda: self.evaluate(
                "(() => { const b = [...document.querySelectorAll('button,label')]"
                f".find(b => b.innerText.trim() === {json.dumps(text)});"
                " if (!b) return null; b.scrollIntoView({block: 'center'});"
                " const r = b.getBoundingClientRect();"
                " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
            ),
            f"a button {text!r}",
        )
        self.click(*found)

    def canvas(self) -> tuple[float, float, float, float]:
        """Give where the scene is on the page: left, top, width, height, pixels."""
        box = self.evaluate(
            "(() => { const r = document.querySelector('canvas[data-engine]')"
            ".getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()"
        )
        return tuple(box)

    def screenshot(self, path: Path) -> None:
        """Write what is to be seen into a PNG file."""
        data = self.command("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
