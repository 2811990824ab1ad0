"""``python flows/tune.py``: the flow from the command line, and the demo in a scratch project."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from heldout.errors import HeldoutError, UsageError
from heldout.pipeline.job import Job, JobResult, settings_of
from heldout.pipeline.progress import show_on
from heldout.pipeline.showing import page_key
from heldout.scaffold import make_project
from heldout.settings import find_root
from heldout.terminal import ProgressLine, clean

DEMO_SET = "demo"
DEMO_REPEATS = 2
"""Investigations per incident: as many as fit into two minutes on two cores."""


def demo_job(
    root: Path,
    repeats: int = DEMO_REPEATS,
    transfer: tuple[str, ...] = (),
    with_set: str = DEMO_SET,
) -> Job:
    """The demo's job: a fresh project under ``.heldout/demo``, policy ``auto``.

    A demo starts from nothing each time, except that worlds of an earlier one are kept: they are
    named by their digests and verified.
    """
    home = root / ".heldout" / "demo"
    kept = root / ".heldout" / "demo-worlds"
    state = home / ".heldout"
    if state.is_dir():
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for name in ("worlds", "truths", "gate", "variants"):
            if (state / name).is_dir():
                shutil.move(state / name, kept / name)
    shutil.rmtree(home, ignore_errors=True)
    make_project(home, with_set=with_set)
    if kept.is_dir():
        shutil.move(kept, home / ".heldout")
    return Job(
        project=str(home),
        review="auto",
        target="base",
        repeats=repeats,
        transfer=transfer,
    )


def job_from_words(words: Sequence[str]) -> Job:
    """The job that the words of the command line ask for."""
    parser = argparse.ArgumentParser(
        prog="python flows/tune.py", description="Tune the brain for one model, as a Prefect flow."
    )
    parser.add_argument("--demo", action="store_true", help="offline, in a scratch project")
    parser.add_argument("--project", default="", help="project folder")
    parser.add_argument("--model", default="", help="provider/name@effort")
    parser.add_argument("--proposer", default="", help="model that proposes edits")
    parser.add_argument("--base-url", default="", help="OpenAI-compatible endpoint")
    parser.add_argument("--set", default="", help="set of incidents")
    parser.add_argument("--review", choices=("wait", "auto", "form"), default="wait")
    parser.add_argument("--target", choices=("overlay", "base"), default="overlay")
    parser.add_argument("--repeats", type=int, default=None)
    args = vars(parser.parse_args(list(words)))
    if args.pop("demo"):
        return demo_job(find_root(Path(args["project"] or Path.cwd())))
    try:
        return Job.model_validate(args)
    except ValidationError as error:
        first = error.errors()[0]
        parser.error(": ".join([*(f"--{part}" for part in first["loc"]), first["msg"]]))


class Served(Protocol):
    """A flow, as Prefect makes one: it can be run, or served on a schedule."""

    def __call__(self, job: Job) -> JobResult:
        """Run it once."""
        ...

    def serve(self, name: str, **more: Any) -> None:
        """Register it with a server and stay, to run it when it is due."""
        ...


def run_from_command_line(flow: Served) -> None:
    """Run or serve the flow by the command line's words; errors are one line and an exit code."""
    show_on(ProgressLine())
    words = sys.argv[1:]
    try:
        if SERVE in words[:1]:
            serve(flow, words[1:])
            return
        job = job_from_words(words)
        if job.review == "form":
            _require_server("a form")
        done = flow(job)
    except HeldoutError as error:
        print(f"error: {clean(error.sentence())}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(done.text)


SERVE = "serve"


def serve(flow: Served, words: Sequence[str]) -> None:
    """``python flows/tune.py serve CRON [options]``: tune on a schedule, one job at a time.

    Needs a server (``PREFECT_API_URL``), and one that runs already; everything else is as for one
    job. Never returns.
    """
    if not words or words[0].startswith("-"):
        raise UsageError(
            "serving needs a schedule", mend="python flows/tune.py serve '0 5 * * 1' --model ..."
        )
    _require_server("serving")
    job = job_from_words(words[1:])
    flow.serve(
        page_key("tune", settings_of(job).models.agent),
        cron=words[0],
        parameters={"job": job.model_dump(mode="json", exclude_defaults=True)},
        limit=1,
        global_limit=1,
    )


def _require_server(what: str) -> None:
    if not os.environ.get("PREFECT_API_URL"):
        raise UsageError(
            f"{what} needs a Prefect server that stays",
            mend="Start one and set PREFECT_API_URL; see docs/how-to/schedule.md",
        )
