"""The score's process: what starts it, and what it does.

The parent writes one JSON object to the child's standard input (settings and request) and reads one
JSON object per line from its standard output: ``progress``, then ``result`` or ``error``. The
parent must not hold the ledger open meanwhile: it has one writer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

import heldout.errors
from heldout.errors import ComparisonFailed, HeldoutError, UsageError
from heldout.llm.names import ModelName
from heldout.score.job import run_score
from heldout.score.progress import OnProgress, Progress
from heldout.score.request import ScoreRequest, page_text, wished
from heldout.score.result import Score
from heldout.settings import Settings, load_settings, settings_from_plain
from heldout.split import HeldoutAccess, declare_process
from heldout.store import Ledger

ROLE = "score"


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """What the parent learns: the word and the sentence; everything else is in the ledger."""

    score: str
    outcome: str
    sentence: str
    evidence: str
    fixed: int
    broken: int
    p: float

    def require(self) -> None:
        """Raise :class:`ComparisonFailed` for harm or an indecisive score (exit 3)."""
        if self.outcome in ("harm", "indecisive"):
            raise ComparisonFailed(
                self.sentence.rstrip("."),
                where=f"score {self.score}",
                mend="Read the report; the brain before stays the safe one",
            )


def start(
    settings: Settings, request: ScoreRequest, *, on_progress: OnProgress | None = None
) -> ScoreResult:
    """Run one score in a process of its own and wait for it.

    Its errors come back as the same classes of :mod:`heldout.errors`. When this function is left by
    an exception (a key pressed, say), the child is ended too; its score can be resumed.
    """
    # A name that is none is refused now: the child builds worlds before it asks for the model.
    ModelName.parse(request.model)
    message = {"settings": settings.plain(), "request": request.model_dump(mode="json")}
    command = [sys.executable, "-m", "heldout.score", "--project", str(settings.root), "--stdin"]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            encoding="utf-8",
            errors="replace",
        )
        try:
            last = _converse(child, json.dumps(message), on_progress)
            code = child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise
        finally:
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    stream.close()
        if "result" in last:
            return ScoreResult(**last["result"])
        if "error" in last:
            raise _raised(last["error"])
        complaints.seek(0)
        raise HeldoutError(
            f"the score's process ended with code {code} ({complaints.read()[-300:].strip()})",
            mend="Go on with 'heldout score --resume SCORE'; 'heldout status' names it",
        )


def _converse(
    child: subprocess.Popen[str], message: str, on_progress: OnProgress | None
) -> dict[str, Any]:
    """Hand the message over and follow the child until its last line."""
    last: dict[str, Any] = {}
    assert child.stdin is not None and child.stdout is not None  # noqa: PT018 - pipes were asked for
    try:
        child.stdin.write(message)
        child.stdin.close()
    except BrokenPipeError:
        return last
    for line in child.stdout:
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if not isinstance(data, dict):
            continue
        if "progress" in data and on_progress is not None:
            on_progress(Progress(**data["progress"]))
        elif "result" in data or "error" in data:
            last = data
    return last


def _raised(plain: dict[str, Any]) -> HeldoutError:
    kind = getattr(heldout.errors, str(plain.get("type")), HeldoutError)
    if not (isinstance(kind, type) and issubclass(kind, HeldoutError)):
        kind = HeldoutError
    return kind(str(plain["what"]), where=str(plain["where"]), mend=str(plain["mend"]))


def _request_from(args: argparse.Namespace) -> ScoreRequest:
    pins = {}
    for text in args.pin:
        name, _, value = str(text).partition("=")
        pins[name] = value
    return ScoreRequest(
        model=args.model,
        before=args.before,
        after=args.after,
        set=args.set,
        **wished(
            args.arms.split(",") if args.arms else (),
            blind=args.blind,
            checklist=page_text(args.checklist),
        ),
        nearest=args.nearest,
        job=args.job,
        base_url=args.base_url,
        pins=pins,
        exclude=tuple(args.exclude),
        skip_exhausted=args.skip_exhausted,
        floors=not args.no_floors,
        max_usd=args.max_usd,
        resume=args.resume,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m heldout.score",
        description="Open the held-out half once and compare two brains on it.",
    )
    parser.add_argument("--project", type=Path, default=None)
    parser.add_argument("--stdin", action="store_true", help="settings and request as JSON")
    parser.add_argument("--model", default="")
    parser.add_argument("--before", default="", help="hash of the brain before")
    parser.add_argument("--after", default="", help="hash of the brain after")
    parser.add_argument("--set", default="")
    parser.add_argument("--arms", default="noop", help="further arms, comma-separated, or all")
    parser.add_argument("--blind", default="", help="hash of the brain of a blind tuning job")
    parser.add_argument("--checklist", type=Path, default=None, help="a person's page of Markdown")
    parser.add_argument("--nearest", type=int, default=3, help="solved incidents in the prompt")
    parser.add_argument("--job", default="")
    parser.add_argument("--base-url", default="")
    parser.add_argument("--pin", action="append", default=[], help="name=hash, to be recorded")
    parser.add_argument("--exclude", action="append", default=[], help="incident to leave out")
    parser.add_argument("--skip-exhausted", action="store_true")
    parser.add_argument("--no-floors", action="store_true")
    parser.add_argument("--max-usd", type=float, default=None)
    parser.add_argument("--resume", default="", help="go on with a score that was killed")
    return parser


def _asked(args: argparse.Namespace, stdin: IO[str]) -> tuple[Settings, ScoreRequest]:
    settings = load_settings(args.project)
    try:
        if not args.stdin:
            return settings, _request_from(args)
        data = json.loads(stdin.read())
        plain = settings_from_plain(settings.root, data["settings"])
        request = ScoreRequest.model_validate(data["request"])
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        place = ".".join(str(part) for part in first["loc"]) if first else type(error).__name__
        raise UsageError(
            f"the request does not fit: {place}: {first['msg'] if first else error}",
            where="python -m heldout.score",
            mend="See --help",
        ) from error
    return plain, request


def main(argv: Sequence[str] | None = None) -> int:
    """The child: declare the role, score, and say how it ended on the last line.

    Exit codes: 0 finished (whatever the word), else the error's own code.
    """
    args = _parser().parse_args(argv)
    out = sys.stdout
    try:
        declare_process(ROLE)
        settings, request = _asked(args, sys.stdin)
        with Ledger.open(settings.ledger) as ledger:
            tell: OnProgress = lambda progress: _say(out, {"progress": asdict(progress)})
            score = asyncio.run(
                run_score(settings, ledger, HeldoutAccess(), request, on_progress=tell)
            )
    except HeldoutError as error:
        said = {"type": type(error).__name__, "what": error.what, "where": error.where}
        _say(out, {"error": {**said, "mend": error.mend}})
        return error.exit_code
    _say(out, {"result": asdict(_short(score))})
    return 0


def _short(score: Score) -> ScoreResult:
    return ScoreResult(
        score=score.score,
        outcome=score.outcome,
        sentence=score.verdict(),
        evidence=score.evidence.sentence(),
        fixed=score.traps.count("fixed"),
        broken=score.traps.count("broken"),
        p=score.traps.p,
    )


def _say(out: IO[str], data: dict[str, Any]) -> None:
    out.write(json.dumps(data) + "\n")
    out.flush()
