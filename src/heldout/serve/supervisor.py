"""Runs a program and sees to it that nothing of it is left: ``python -m heldout.serve.supervisor``.

Arguments: a JSON object (``hide``: paths it may not open, ``read_only``: a folder it may not write
in) and the program's command line. The program is ended when it outlives the supervisor's standard
input, which whoever started the supervisor holds open: a killed parent takes the program with it.
Everything that the program started, daemons included, is killed before the supervisor ends with
the program's exit code. Only the standard library is used, so that it starts at once.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from heldout.serve.confine import hide

NOT_STARTED = 127
_ADOPT_ORPHANS = 36
_GRACE = 2.0
_SWEEP = 5.0


def main(argv: list[str]) -> int:
    """Run the program to its end."""
    told = json.loads(argv[1])
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    if told["hide"]:
        home = told["read_only"]
        paths = [Path(path) for path in told["hide"]]
        if not hide(paths, Path(home) if home else None):
            print("heldout: this kernel cannot keep the program from files", file=sys.stderr)
    try:
        program = subprocess.Popen(argv[2:], stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        print(f"the program cannot be started: {error}", file=sys.stderr)
        return NOT_STARTED
    threading.Thread(target=_end_with_parent, args=(program,), daemon=True).start()
    code = program.wait()
    _signal_group(program.pid, signal.SIGKILL)
    _sweep()
    return code if code >= 0 else 128 - code


def _end_with_parent(program: subprocess.Popen[bytes]) -> None:
    while os.read(0, 4096):
        pass
    _signal_group(program.pid, signal.SIGTERM)
    time.sleep(_GRACE)
    _signal_group(program.pid, signal.SIGKILL)


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _sweep() -> None:
    """Kill what the program left behind: orphans are our children, whatever session they are in."""
    deadline = time.monotonic() + _SWEEP
    while time.monotonic() < deadline:
        left = _children()
        if not left:
            return
        for one in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def _children() -> list[int]:
    found = []
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += [int(one) for one in task.read_text().split()]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv))
