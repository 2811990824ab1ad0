"""Starting a serving process and reading its record."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from heldout.errors import ConfigError, WorldError
from heldout.interface import Submission
from heldout.serve.sitting import Assignment

START_SECONDS = 60.0
"""How long a serving process may take to load its world."""

_STOP_SECONDS = 10.0
_LINE = 1 << 20
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "PYTHONHASHSEED",
         "VIRTUAL_ENV", "COVERAGE_PROCESS_START")  # fmt: skip
"""What of the environment a serving process gets: no key of anything."""


@dataclass(slots=True)
class Served:
    """What came of a sitting: its steps, the submission, which limit or failure ended it."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    submission: Submission | None = None
    limit: str = ""
    broken: str = ""
    ended: bool = False

    def take(self, line: Mapping[str, Any]) -> None:
        """Read one line of the record."""
        kind = line["kind"]
        if kind == "step":
            self.steps.append({key: value for key, value in line.items() if key != "kind"})
        elif kind == "submitted":
            self.submission = Submission.from_dict(line["submission"])
            self.limit = line["limit"]
        elif kind == "broken":
            self.broken = str(line["detail"])
        elif kind == "ended":
            self.ended = True
            self.limit = self.limit or line["limit"]


def require_mcp() -> None:
    """Refuse with a :class:`ConfigError` where the MCP SDK is not installed."""
    if find_spec("mcp") is None:
        raise ConfigError(
            "serving needs the package mcp", mend="Install it with: pip install 'heldout[mcp]'"
        )


class Serving:
    """A serving process: where it listens, whether something was submitted, its record."""

    def __init__(
        self, process: asyncio.subprocess.Process, assignment: Assignment, record: int
    ) -> None:
        self.submitted = asyncio.Event()
        self.gone = asyncio.Event()
        self.served = Served()
        self._process = process
        self._assignment = assignment
        self._port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read(record))

    @classmethod
    async def start(cls, assignment: Assignment) -> Serving:
        """Start the process; over stdio it takes this process's standard input and output."""
        require_mcp()
        told, tell = os.pipe()
        listen, record = os.pipe()
        piped = assignment.transport == "http"
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "heldout.serve", str(told), str(record),
                stdin=asyncio.subprocess.PIPE if piped else None,
                stdout=asyncio.subprocess.DEVNULL if piped else None,
                pass_fds=(told, record),
                start_new_session=piped,
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
            )  # fmt: skip
        except OSError as error:
            os.close(tell)
            os.close(listen)
            raise WorldError(
                f"no serving process could be started ({error})", mend="Free what is short"
            ) from error
        finally:
            os.close(told)
            os.close(record)
        serving = cls(process, assignment, listen)
        await asyncio.to_thread(_write, tell, assignment.dump())
        return serving

    async def url(self) -> str:
        """The MCP address, once the process listens; one that does not is a :class:`WorldError`."""
        return f"{await self.base()}{self._assignment.prefix}/mcp"

    async def base(self) -> str:
        """The server's address without a path."""
        try:
            port = await asyncio.wait_for(asyncio.shield(self._port), START_SECONDS)
        except TimeoutError as error:
            raise WorldError(
                "the serving process did not begin to listen", mend="Try again on a calmer machine"
            ) from error
        return f"http://127.0.0.1:{port}"

    async def _read(self, record: int) -> None:
        reader = asyncio.StreamReader(limit=_LINE)
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(record, "rb")
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while line := await reader.readline():
                self._take(json.loads(line))
        except ValueError as error:
            self.served.broken = f"the record cannot be read ({error})"
        finally:
            transport.close()
            self.gone.set()
            if not self._port.done():
                why = self.served.broken or "it ended before it listened"
                self._port.set_exception(WorldError(f"the serving process failed: {why}"))
                self._port.exception()

    def _take(self, line: Mapping[str, Any]) -> None:
        if line["kind"] == "ready" and not self._port.done():
            self._port.set_result(int(line["port"]))
        self.served.take(line)
        if line["kind"] == "submitted":
            self.submitted.set()

    async def wait(self) -> Served:
        """What came of it, once the process has ended by itself."""
        await self._process.wait()
        await self._reading
        return self.served

    async def stop(self) -> Served:
        """End the process and return what came of it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        await self._reading
        return self.served

    def terminate(self) -> None:
        """Ask the process to end."""
        with suppress(ProcessLookupError):
            self._process.terminate()


def _write(pipe: int, text: str) -> None:
    with suppress(BrokenPipeError), os.fdopen(pipe, "w", encoding="utf-8") as file:
        file.write(text)


def bridged(url: str) -> list[str]:
    """The command line that offers a server over stdio."""
    return [sys.executable, "-P", "-m", "heldout.serve.bridge", url]


def supervised(command: Sequence[str], hide: Sequence[str], read_only: str) -> list[str]:
    """The command line that runs a program under the supervisor."""
    told = json.dumps({"hide": list(hide), "read_only": read_only})
    return [sys.executable, "-P", "-m", "heldout.serve.supervisor", told, *command]
