"""The serving process: ``python -m heldout.serve ASSIGNMENT_FD RECORD_FD``.

It reads its assignment from one pipe and writes its record to another. Over HTTP it ends when its
standard input closes, over stdio with its client.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import sysconfig
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import heldout
from heldout.errors import HeldoutError
from heldout.graph import WorldTools, open_interface
from heldout.serve.confine import allow_only
from heldout.serve.sitting import Assignment, Sitting, Write

_SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/proc", "/sys")


def main() -> int:
    """Serve one assignment to its end."""
    with os.fdopen(int(sys.argv[1])) as pipe:
        assignment = Assignment.load(pipe.read())
    record = os.fdopen(int(sys.argv[2]), "w", encoding="utf-8")
    lock = threading.Lock()

    def write(line: Mapping[str, Any]) -> None:
        with lock:
            try:
                record.write(json.dumps(line) + "\n")
                record.flush()
            except BrokenPipeError:
                os._exit(1)  # Whoever would judge is gone: nobody is served without a record.

    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    try:
        _confine(assignment)
        tools = open_interface(assignment.tools) if assignment.tools else WorldTools(())
        sitting = Sitting(assignment, tools, write)
    except HeldoutError as error:
        write({"kind": "broken", "detail": error.sentence()})
        return 1
    try:
        if assignment.transport == "http":
            asyncio.run(_http(sitting, write))
        else:
            asyncio.run(_stdio(sitting, write))
    except (OSError, KeyboardInterrupt) as error:
        write({"kind": "broken", "detail": f"{type(error).__name__}: {error}"[:300]})
        return 1
    finally:
        sitting.close()
    return 0


def _confine(assignment: Assignment) -> bool:
    """No file but this world's and the interpreter's can be opened from here on."""
    own = {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix}
    package = Path(heldout.__file__).parent
    readable = [Path(path) for path in (*_SYSTEM, *own)]
    return allow_only([*readable, package, Path(assignment.world)], [Path("/dev")])


async def _http(sitting: Sitting, write: Write) -> None:
    from heldout.serve.web import serve_http

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watch() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=watch, daemon=True).start()
    await serve_http(sitting, write, stop)


async def _stdio(sitting: Sitting, write: Write) -> None:
    from mcp.server.stdio import stdio_server

    from heldout.serve.protocol import mcp_server

    server = mcp_server(sitting)
    async with stdio_server() as (incoming, outgoing):
        write({"kind": "ready", "port": 0})
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    sys.exit(main())
