"""The gate seen from outside: a child process that opens both halves and gives findings back.

Anything that keeps the child from answering (death, garbage, silence) is a :class:`GateError`,
and callers treat that as a rejection.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO

from heldout.brain import Brain
from heldout.errors import GateError
from heldout.gate.report import GateReport, report_from_plain
from heldout.interface import ToolSpec
from heldout.settings import Settings

START_SECONDS = 900.0
"""How long the first inventory of a large project may take."""
CHECK_SECONDS = 120.0
MAX_ANSWER = 64 * 1024 * 1024
_MEND = "Nothing was let through; the gate's log is .heldout/gate/gate.log"


def brain_to_plain(brain: Brain) -> dict[str, Any]:
    """A brain as it travels to the child."""
    return {
        "files": dict(brain.files),
        "load": list(brain.load),
        "on_demand": list(brain.on_demand),
        "frozen": list(brain.frozen),
        "extra": dict(brain.extra),
    }


def brain_from_plain(data: Mapping[str, Any]) -> Brain:
    """The brain that came over the wire."""
    return Brain(
        files=dict(data["files"]),
        load=tuple(data["load"]),
        on_demand=tuple(data["on_demand"]),
        frozen=tuple(data["frozen"]),
        extra=dict(data["extra"]),
    )


class GateProcess:
    """The gate as a context manager; one child, kept warm over many checks, safe for threads.

    Entering starts the child and returns at once; the first :meth:`check` waits for it. A check
    that fails ends the child, and the next one starts another. ``tools`` are those of an interface
    of one's own; without them a brain is held against a world's.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        tools: Sequence[ToolSpec] | None = None,
        start_seconds: float = START_SECONDS,
        check_seconds: float = CHECK_SECONDS,
    ) -> None:
        self._settings = settings
        self._tools = None if tools is None else _names(tools)
        self._start_seconds = start_seconds
        self._check_seconds = check_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._log: BinaryIO | None = None
        self._buffer = b""
        self._ready = False
        self._number = 0
        self._lock = threading.Lock()

    def __enter__(self) -> GateProcess:
        with self._lock:
            self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._child.pid if self._child else None

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._stop()

    def wait_ready(self) -> None:
        """Block until the inventory is loaded and every rule caught its bait."""
        with self._lock:
            self._wait_ready()

    def check(
        self,
        before: Brain,
        after: Brain,
        *,
        rationale: str = "",
        job_texts: Sequence[str] = (),
    ) -> GateReport:
        """What is new in ``after`` against ``before`` and must not be there.

        ``rationale`` is the edit's reason, checked like the brain itself. ``job_texts`` are texts
        of this job that must not be copied: judge reasoning, notes on failures.
        """
        return self._ask(
            {
                "before": brain_to_plain(before),
                "after": brain_to_plain(after),
                "rationale": rationale,
                "job_texts": list(job_texts),
            }
        )

    def check_whole(self, brain: Brain) -> GateReport:
        """Check a brain without a base: everything in it counts as new, its size does not."""
        return self._ask(
            {"before": None, "after": brain_to_plain(brain), "rationale": "", "job_texts": []}
        )

    def _ask(self, request: dict[str, Any]) -> GateReport:
        with self._lock:
            self._wait_ready()
            self._number += 1
            request |= {"id": self._number, "tools": self._tools}
            answer = self._exchange(request, self._check_seconds)
            if answer.get("id") != self._number:
                raise self._broken("the gate answered another question")
            if "error" in answer:
                raise _error(answer["error"])
            try:
                return report_from_plain(answer["report"])
            except (KeyError, TypeError, ValueError) as error:
                raise self._broken("the gate's answer cannot be read") from error

    def _start(self) -> None:
        if self._child is not None:
            return
        folder = self._settings.state / "gate"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._log = open(folder / "gate.log", "ab")  # noqa: SIM115
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", "heldout.gate", "--project", str(self._settings.root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                cwd=self._settings.root,
                bufsize=0,
            )
        except OSError as error:
            self._stop()
            raise GateError(
                f"the gate could not be started ({error.strerror})",
                where=str(folder),
                mend="Check the folder and the Python installation",
            ) from error
        assert self._child.stdin is not None
        os.set_blocking(self._child.stdin.fileno(), False)
        self._buffer, self._ready = b"", False

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
            try:
                child.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _broken(self, what: str) -> GateError:
        self._stop()
        return GateError(what, where="gate", mend=_MEND)

    def _wait_ready(self) -> None:
        self._start()
        if self._ready:
            return
        answer = self._exchange(None, self._start_seconds)
        if "error" in answer:
            self._stop()
            raise _error(answer["error"])
        if answer.get("ready") is not True:
            raise self._broken("the gate said something else than 'ready'")
        self._ready = True

    def _exchange(self, request: dict[str, Any] | None, seconds: float) -> dict[str, Any]:
        """Send one line and read one back; both ends stay responsive to the time limit."""
        child = self._child
        assert child is not None
        assert child.stdin is not None
        assert child.stdout is not None
        left = memoryview(b"" if request is None else json.dumps(request).encode() + b"\n")
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            if left:
                selector.register(child.stdin, selectors.EVENT_WRITE)
            while b"\n" not in self._buffer:
                ready = selector.select(max(0.0, until - time.monotonic()))
                if not ready and time.monotonic() >= until:
                    raise self._broken(f"the gate did not answer within {seconds:g} s")
                for key, _ in ready:
                    if key.fileobj is child.stdin:
                        try:
                            left = left[os.write(child.stdin.fileno(), left[:65536]) :]
                        except BlockingIOError:
                            continue
                        except OSError:
                            raise self._broken("the gate ended while it was asked") from None
                        if not left:
                            selector.unregister(child.stdin)
                        continue
                    chunk = os.read(child.stdout.fileno(), 65536)
                    self._buffer += chunk
                    if not chunk or len(self._buffer) > MAX_ANSWER:
                        raise self._broken("the gate ended before it answered")
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise self._broken("the gate's answer is not JSON")
        return answer


def _names(specs: Sequence[ToolSpec]) -> dict[str, list[str]]:
    """Tools as they travel to the child: names, and names of arguments."""
    from heldout.gate.tools import tools_of  # reads worlds' tools, which a caller may not need

    tools = tools_of(specs)
    return {"names": sorted(tools.names), "arguments": sorted(tools.arguments)}


def _error(data: Any) -> GateError:
    fields = data if isinstance(data, dict) else {}
    return GateError(
        str(fields.get("what", "the gate could not run")),
        where=str(fields.get("where", "gate")),
        mend=str(fields.get("mend", _MEND)),
    )
