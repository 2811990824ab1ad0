"""``python flows/tune.py``: the flow from the command line, and the demo in a scratch project."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from heldout.errors import HeldoutError
from heldout.pipeline.job import Job, JobResult
from heldout.pipeline.progress import show_on
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
    parser.add_argument("--review", choices=("wait", "auto"), default="wait")
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


def run_from_command_line(flow: Callable[[Job], JobResult]) -> None:
    """Run the flow with the command line's words; errors are one line and an exit code."""
    show_on(ProgressLine())
    try:
        done = flow(job_from_words(sys.argv[1:]))
    except HeldoutError as error:
        print(f"error: {clean(error.sentence())}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(done.text)
