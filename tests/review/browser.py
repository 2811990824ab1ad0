"""Headless Chromium over its debugging pipe: no driver, no port, no package."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import pytest

needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="chromium is not installed"
)
WIDTH, HEIGHT = 1280, 800
SECONDS = 120.0
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)  # fmt: skip


def _moved(descriptor: int) -> int:
    """The same pipe under a number that the browser's own two cannot collide with."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(descriptor)
    return moved


class Browser:
    """One page; whatever its policy refuses or its console says is kept in ``complaints``."""

    def __init__(self, profile: Path) -> None:
        reads, self._out = map(_moved, os.pipe())
        self._in, writes = map(_moved, os.pipe())
        # The browser reads commands from descriptor 3 and answers on descriptor 4.
        shell = f'exec "$@" 3<&{reads} 4>&{writes} {reads}<&- {writes}>&-'
        size = f"--window-size={WIDTH},{HEIGHT}"
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", "chromium", *_FLAGS, size, f"--user-data-dir={profile}"],
            pass_fds=(reads, writes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        self._held = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = str(attached["sessionId"])
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command to the page."""
        return self._call(method, session=self._session, **params)

    def open(self, url: str) -> None:
        """Go to an address and wait until it has loaded."""
        self._loaded(lambda: self.call("Page.navigate", url=url))

    def click(self, selector: str) -> None:
        """Click in the middle of an element with the mouse and wait for the page that follows."""
        box = self.value(
            f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        at = {"x": box[0], "y": box[1], "button": "left", "clickCount": 1}

        def press() -> None:
            self.call("Input.dispatchMouseEvent", type="mousePressed", **at)
            self.call("Input.dispatchMouseEvent", type="mouseReleased", **at)

        self._loaded(press)

    def type_into(self, selector: str, text: str) -> None:
        """Put the cursor into a field and type."""
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)

    def value(self, expression: str) -> Any:
        """What an expression gives in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """The window as it is seen."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def _loaded(self, act: Any) -> None:
        self._events.clear()
        act()
        until = time.monotonic() + SECONDS
        while not any(one.get("method") == "Page.loadEventFired" for one in self._events):
            assert time.monotonic() < until, "the page did not load"
            self._take(self._read())

    def _call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        self._number += 1
        said = {"id": self._number, "method": method, "params": params}
        if session:
            said["sessionId"] = session
        os.write(self._out, json.dumps(said).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._take(answer)

    def _take(self, event: dict[str, Any]) -> None:
        self._events.append(event)
        if event.get("method") == "Log.entryAdded":
            self.complaints.append(event["params"]["entry"]["text"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            part = os.read(self._in, 1 << 20)
            assert part, "chromium has ended"
            self._held += part
        first, _, self._held = self._held.partition(b"\0")
        found: dict[str, Any] = json.loads(first)
        return found
