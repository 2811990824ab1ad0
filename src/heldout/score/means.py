"""Whether a score can be paid for, asked before a look is counted, and what a cap leaves of it."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.errors import CapReached
from heldout.run.caps import Budget, require_priced
from heldout.run.month import Month
from heldout.run.plan import RunResult
from heldout.run.reduce import run_status
from heldout.settings import Settings


def require_means(settings: Settings, model: str, budget: Budget, *, priced: bool) -> None:
    """Refuse what cannot be paid for or capped, while nothing of the held-out half is open.

    A month that is used up is a :class:`CapReached`; a cap in USD on a model without a price a
    :class:`ConfigError`, unless the client itself says what it costs (``priced``).
    """
    if isinstance(budget.within, Month):
        budget.within.require()
    if priced:
        return
    judges = settings.judge.models if settings.judge.by == "llm" else ()
    agent = () if settings.agent.command else (model,)
    require_priced(settings, (*agent, *judges), *budget.usd_caps)


def require_month(month: Month | None, score: str, results: Sequence[RunResult]) -> None:
    """Raise :class:`CapReached` where the month's cap cut a score short.

    Such a score has no result: it can be gone on with, and its look stays counted once.
    """
    why = month.reached() if month is not None else ""
    stopped = any(
        run_status(result.outcomes, result.plan, result.absent) == "capped" for result in results
    )
    if why and stopped:
        raise CapReached(
            why,
            where=f"score {score}",
            mend=f"Go on with 'heldout score --resume {score}' next month, or raise the cap in "
            "heldout.toml's [month]; the look is counted once",
        )
