"""``blind``: the brain of a real tuning job that saw no failure, of the same budget.

What it gains is what any edits gain that pass the same screens: the part of a tuned brain's gain
that has nothing to do with reading failures. It is never made up: without such a job in the ledger
there is no such arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.errors import UsageError
from heldout.run.arm import Arm
from heldout.score.arms.arm import Made, Supplies, held_against
from heldout.store import Ledger, brain, queries

TUNE, STRATEGY = "tune", "blind"
_FREE = frozenset({"job", "strategy", "recall", "seed", "concurrency", "base_url", "max_invalid"})
"""Options of a job that are no part of its budget; who proposes is one."""
_ENDED = frozenset({"saturated", "budget", "nothing_new"})


@dataclass(frozen=True, slots=True)
class Origin:
    """A tuning job and the brain that it proposed; without a proposal, the one it began with."""

    job: str
    set: str
    before: str
    after: str
    strategy: str
    budget: Mapping[str, Any]

    def differs(self, other: Origin) -> list[str]:
        """Names of the options in which two budgets differ."""
        names = sorted({*self.budget, *other.budget})
        return [name for name in names if self.budget.get(name) != other.budget.get(name)]


class Blind:
    """The placebo of tuning."""

    name = "blind"
    what = "tuned by as large a job that saw no failure: what the screens alone let through"

    def make(self, supplies: Supplies) -> Made:
        """Needs a blind job and the tuned brain's own, in the ledger, with the same budget."""
        request, ledger = supplies.request, supplies.ledger
        known = origins(ledger, request.model)
        tuned = _tuned(supplies, known)
        mine = [one for one in known if one.strategy == STRATEGY and one.before == tuned.before]
        if request.blind:
            mine = [one for one in mine if one.after.startswith(request.blind)]
        same = [one for one in mine if one.set == tuned.set and not one.differs(tuned)]
        if not same:
            raise _missing(tuned, mine, request.blind)
        chosen = same[0]
        found = brain(ledger, chosen.after)
        facts, said = held_against(supplies, found)
        spent = [queries.cost(ledger, job=one.job).investigations for one in (chosen, tuned)]
        kept = "" if chosen.after != chosen.before else " kept no edit, so this is the brain before"
        remark = (
            f"job {chosen.job}{kept}: {spent[0]} investigations where the tuned brain's job "
            f"{tuned.job} had {spent[1]}; {said}"
        )
        return Made(Arm(self.name, found), remark, facts)


def origins(ledger: Ledger, model: str) -> list[Origin]:
    """Ended tuning jobs for a model, newest first, with the brains that they proposed."""
    found = []
    for row in queries.jobs(ledger, model=model, kind=TUNE):
        first = queries.begun(ledger, row.job, TUNE)
        detail = (first.detail or {}) if first is not None else {}
        asked = detail.get("options")
        if row.status not in _ENDED or not asked:
            continue
        proposed = queries.proposals(ledger, job=row.job)
        before = row.before_hash or ""
        budget = {name: one for name, one in asked.items() if name not in _FREE}
        found.append(
            Origin(
                job=row.job,
                set=row.set or "",
                before=before,
                after=proposed[0].after_hash if proposed else before,
                strategy=str(asked.get("strategy", "")),
                budget={**budget, "proposer": detail.get("proposer", "")},
            )
        )
    return found


def _tuned(supplies: Supplies, known: list[Origin]) -> Origin:
    """The job of the brain after: the one named, else the newest that leads to it."""
    job, brains = supplies.request.job, supplies.brains
    for one in known:
        if one.strategy == STRATEGY or one.before != brains.before.hash:
            continue
        if one.job == job or one.after == brains.after.hash:
            return one
    raise UsageError(
        "no tuning job in the ledger leads from the brain before to the one after, so a blind "
        "job's budget cannot be held against it",
        where=f"brain {brains.after.hash[:12]}",
        mend="Score a brain that a job proposed, or leave the arm 'blind' out",
    )


def _missing(tuned: Origin, near: list[Origin], named: str) -> UsageError:
    what = "no blind tuning job of the same budget is in the ledger"
    if named:
        what = f"'{named}' is no brain of a blind tuning job of the same budget"
    other = [one for one in near if one.set != tuned.set]
    if near and not other:
        names = ", ".join(near[0].differs(tuned)[:5])
        what += f" (job {near[0].job} differs in {names})"
    return UsageError(
        what,
        where=f"job {tuned.job}",
        mend="Run 'heldout tune --strategy blind' with its settings, or leave the arm 'blind' out",
    )
