"""The gate's child process: one JSON question a line on stdin, one JSON answer a line on stdout."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from heldout.errors import HeldoutError
from heldout.gate.engine import Engine
from heldout.gate.hits import Tools
from heldout.gate.process import brain_from_plain
from heldout.settings import load_settings
from heldout.split import declare_process


def main() -> int:
    """Serve until stdin closes; what other code prints goes to stderr."""
    declare_process("gate")
    parser = argparse.ArgumentParser(prog="python -m heldout.gate")
    parser.add_argument("--project", type=Path, required=True)
    options = parser.parse_args()
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        try:
            engine = Engine(load_settings(options.project))
        except HeldoutError as error:
            _say(answers, {"error": _plain(error)})
            return 1
        except Exception as error:  # noqa: BLE001  the boundary of the process: any failure closes
            traceback.print_exc()
            _say(answers, {"error": {"what": f"the gate failed ({type(error).__name__})"}})
            return 1
        _say(answers, {"ready": True})
        for line in sys.stdin.buffer:
            _say(answers, _answer(engine, line))
    return 0


def _answer(engine: Engine, line: bytes) -> dict[str, Any]:
    number: Any = None
    try:
        request = json.loads(line)
        number = request.get("id")
        before = request["before"]
        report = engine.check(
            None if before is None else brain_from_plain(before),
            brain_from_plain(request["after"]),
            rationale=str(request["rationale"]),
            job_texts=[str(text) for text in request["job_texts"]],
            tools=_tools(request["tools"]),
        )
        return {"id": number, "report": report.plain()}
    except HeldoutError as error:
        return {"id": number, "error": _plain(error)}
    except Exception as error:  # noqa: BLE001  the boundary of the process: any failure closes
        traceback.print_exc()
        return {"id": number, "error": {"what": f"the gate failed ({type(error).__name__})"}}


def _tools(plain: dict[str, list[str]] | None) -> Tools | None:
    if plain is None:
        return None
    return Tools(frozenset(plain["names"]), frozenset(plain["arguments"]))


def _plain(error: HeldoutError) -> dict[str, str]:
    return {"what": error.what, "where": error.where, "mend": error.mend}


def _say(stream: BinaryIO, answer: dict[str, Any]) -> None:
    stream.write(json.dumps(answer).encode() + b"\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
