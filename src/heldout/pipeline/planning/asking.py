"""Plans as text for a command: the ledger is only read, and only where there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import get_args

from heldout.errors import UsageError
from heldout.pipeline.job import Job, settings_of
from heldout.pipeline.planning.scoring import plan_scoring
from heldout.pipeline.planning.text import render_plan
from heldout.pipeline.planning.tuning import plan_tuning
from heldout.pipeline.verbs import Scoring
from heldout.score.request import ExtraArm, wished
from heldout.settings import Settings
from heldout.store import Ledger


def tuning_plan(job: Job) -> str:
    """What a tuning job would take and could show."""
    with _read(settings_of(job)) as ledger:
        return render_plan(plan_tuning(job, ledger))


def scoring_plan(settings: Settings, asked: Scoring) -> str:
    """What a score would take and could show. Brains and pages of text are not looked at."""
    arms = wished(asked.arms, blind=asked.blind, checklist="given" if asked.checklist else "")
    with _read(settings) as ledger:
        plan = plan_scoring(
            settings,
            ledger,
            model=asked.model,
            arms=_known(arms["arms"]),
            set_name=asked.set,
            skip_exhausted=asked.skip_exhausted,
            max_usd=asked.max_usd,
        )
        return render_plan(plan)


def _known(arms: Sequence[str]) -> Sequence[str]:
    every = get_args(ExtraArm)
    for arm in arms:
        if arm not in every:
            raise UsageError(
                f"--arms: there is no arm '{arm[:40]}'", mend=f"Arms: {', '.join(every)}"
            )
    return arms


@contextmanager
def _read(settings: Settings) -> Iterator[Ledger | None]:
    if not settings.ledger.is_file():
        yield None
        return
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        yield ledger
