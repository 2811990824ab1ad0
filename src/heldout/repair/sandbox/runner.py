"""This side of the pipe: start the jail, send a tree, exchange frames under a deadline."""

from __future__ import annotations

import json
import math
import os
import select
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from heldout.errors import HeldoutError

Tier = Literal["jail", "limits"]

MAX_FRAME = 4_000_000
"""Bytes of one frame that are read; more is the candidate's failure."""


_STOP_SECONDS = 2.0
"""How long a run may take to end when told to; then the whole jail is ended."""


class SandboxError(HeldoutError):
    """The sandbox itself failed: what was measured is unscored, never a wrong answer."""


class CandidateBroke(Exception):
    """The candidate's process ended, hung or wrote what is no frame: its own failure."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may take: CPU and wall seconds, bytes of memory, open files.

    A loop without an end is stopped by its CPU seconds. The wall seconds are several times as many,
    so that a machine which is busy with other work fails nobody; they end what only waits.
    """

    cpu_seconds: int = 10
    wall_seconds: float = 45.0
    memory_bytes: int = 1 << 30
    open_files: int = 64

    def for_kernel(self) -> dict[str, int]:
        """As resource limits by their names."""
        return {
            "RLIMIT_CPU": self.cpu_seconds,
            "RLIMIT_AS": self.memory_bytes,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_FSIZE": 0,
            "RLIMIT_CORE": 0,
        }


@dataclass(frozen=True, slots=True)
class Program:
    """What a run loads: ``files`` by path, ``modules`` to import first, settings, clock, seed."""

    files: Mapping[str, str]
    modules: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    epoch: float = 0.0
    seed: int = 0


_BOOT = """
import os,sys
def _r(fd):
    b=b""
    while True:
        p=os.read(fd,65536)
        if not p: return b
        b+=p
a=[int(x) for x in sys.argv[1:]]
n={"__name__":"jail"}
exec(compile(_r(a[0]),"jail.py","exec"),n)
os.close(a[0])
n["main"](*a[1:])
"""


def _source(name: str) -> str:
    return (files("heldout.repair.sandbox") / name).read_text(encoding="utf-8")


@cache
def _parent() -> ThreadPoolExecutor:
    """The one thread that starts jails, there until this process ends.

    The kernel ends a jail with the thread that started it, and a server's threads come and go.
    """
    return ThreadPoolExecutor(1, thread_name_prefix="heldout-jail")


def _spawn(theirs: Sequence[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _BOOT, *map(str, theirs)],
        pass_fds=theirs,
        env={"PYTHONHASHSEED": "0"},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


class Sandbox:
    """A jail that runs one tree after another. Not to be shared between threads.

    ``tier`` says what holds: ``jail`` (namespaces, empty root, no capabilities) or ``limits``
    (resource limits alone, which keep out accidents but no attack). ``until`` ends what runs later
    than that (monotonic seconds), for who may keep nobody waiting.
    """

    def __init__(self, *, tier: Tier = "jail", limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._wanted = tier
        self._process: subprocess.Popen[bytes] | None = None
        self._fds: tuple[int, int, int, int] = (-1, -1, -1, -1)
        self._running = False
        self._deadline = math.inf
        self.until = math.inf
        self.tier: Tier = "limits"

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, program: Program) -> dict[str, Any]:
        """Run a tree: stops the one before; returns the first frame (what broke on import)."""
        self.stop()
        if self._process is None:
            self._boot()
        self._deadline = min(time.monotonic() + self.limits.wall_seconds, self.until)
        request = {
            "files": dict(program.files),
            "modules": list(program.modules),
            "environment": dict(program.environment),
            "epoch": program.epoch,
            "seed": program.seed,
        }
        self._running = True
        try:
            self._write(self._fds[2], request)
        except OSError as error:
            self.close()
            raise SandboxError(f"the sandbox is gone ({error})") from error
        return self._receive()

    def exchange(self, now: float, deliver: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Say what time it is and what happened; return what the run asks for.

        A run that ended, hung or spoke no frames is :class:`CandidateBroke`.
        """
        try:
            self._write(self._fds[0], {"now": now, "deliver": list(deliver)})
        except OSError:
            raise self._broke("ended") from None
        return self._receive()

    def stop(self) -> None:
        """End the run that is on; the jail stays."""
        if not self._running:
            return
        self._running = False
        try:
            self._write(self._fds[0], {"end": True})
            self._deadline = time.monotonic() + _STOP_SECONDS
            self._read(self._fds[3])
        except (CandidateBroke, OSError):
            self.close()

    def close(self) -> None:
        """End the jail and everything in it."""
        process, self._process = self._process, None
        self._running = False
        for fd in self._fds:
            with suppress(OSError):
                os.close(fd)
        self._fds = (-1, -1, -1, -1)
        if process is not None:
            process.kill()
            process.wait()

    def _boot(self) -> None:
        data_down, data_up = os.pipe(), os.pipe()
        control_down, control_up = os.pipe(), os.pipe()
        source = os.pipe()
        theirs = (source[0], data_down[0], data_up[1], control_down[0], control_up[1])
        with tempfile.TemporaryDirectory(prefix="heldout-jail-") as empty:
            try:
                self._process = _parent().submit(_spawn, theirs).result()
            except OSError as error:
                raise SandboxError(f"the sandbox does not start ({error})") from error
            finally:
                for fd in theirs:
                    os.close(fd)
            self._fds = (data_down[1], data_up[0], control_down[1], control_up[0])
            with os.fdopen(source[1], "wb") as stream:
                stream.write(_source("jail.py").encode())
            self._write(
                self._fds[2],
                {
                    "tier": self._wanted,
                    "empty": empty,
                    "inside": _source("inside.py"),
                    "limits": self.limits.for_kernel(),
                },
            )
            self._deadline = time.monotonic() + 60
            try:
                self.tier = self._read(self._fds[3])["tier"]
            except (CandidateBroke, KeyError) as error:
                self.close()
                raise SandboxError(
                    "the sandbox does not come up",
                    mend="It needs Linux, Python 3.11 and a process that may start others",
                ) from error

    def _write(self, fd: int, value: Mapping[str, Any]) -> None:
        data = json.dumps(value, separators=(",", ":")).encode()
        data = struct.pack("<I", len(data)) + data
        while data:
            data = data[os.write(fd, data) :]

    def _receive(self) -> dict[str, Any]:
        frame = self._read(self._fds[1])
        out, until = frame.get("out"), frame.get("until")
        if not isinstance(out, list) or not all(isinstance(one, dict) for one in out):
            raise self._broke("protocol", "a frame without a list")
        if until is not None and not (
            isinstance(until, int | float) and not isinstance(until, bool) and math.isfinite(until)
        ):
            raise self._broke("protocol", "a frame without a time")
        return frame

    def _read(self, fd: int) -> dict[str, Any]:
        size = struct.unpack("<I", self._exactly(fd, 4))[0]
        if size > MAX_FRAME:
            raise self._broke("protocol", "a frame that is too large")
        try:
            frame = json.loads(self._exactly(fd, size))
        except (ValueError, RecursionError):
            raise self._broke("protocol", "a frame that is not JSON") from None
        if not isinstance(frame, dict):
            raise self._broke("protocol", "a frame that is no object")
        return frame

    def _exactly(self, fd: int, count: int) -> bytes:
        parts: list[bytes] = []
        while count:
            left = self._deadline - time.monotonic()
            ready, _, _ = select.select({fd, self._fds[3]}, [], [], max(left, 0))
            if fd not in ready:
                raise self._broke("ended" if ready else "hung")
            part = os.read(fd, min(count, 1 << 16))
            if not part:
                raise self._broke("ended")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _broke(self, reason: str, detail: str = "") -> CandidateBroke:
        self.close()
        return CandidateBroke(reason, detail)
