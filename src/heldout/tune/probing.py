"""A job's probes: the alert alone before an edit is kept, all of them before a reviewer sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.behaviour import Bench, closed_book, probe, units, whole
from heldout.behaviour.report import TELLS, report_lines, unit_failure
from heldout.brain import Brain
from heldout.edit import Edit, apply_edit
from heldout.errors import EditError
from heldout.propose import remembered
from heldout.tune.context import Context, State
from heldout.tune.log import Entry
from heldout.tune.results import Accepted

BY = "behaviour"
"""The kind of refusal that a probe gives."""
HOW = f"{TELLS}: it tells what is wrong, not how to find out"


def bench_of(job: Context) -> Bench:
    """What the probes of a job work with."""
    return Bench(
        plays=job.player,
        settings=job.player.settings,
        model=job.model,
        interface=job.player.interface,
        cases=job.cases,
        options=job.options.probes,
        seed=job.options.derived_seed,
        say=lambda text: job.tell("probed", text),
    )


async def alert_only(job: Context, state: State, edit: Edit, after: Brain) -> dict[str, Any]:
    """What one edit makes the model say with the alert alone; empty when switched off."""
    if not job.options.probes.closed_book:
        return {}

    async def ask() -> dict[str, Any]:
        return (await closed_book(bench_of(job), state.brain, after, after.hash)).plain()

    entry = Entry(f"round/{state.round}/{edit.id}/alert-only", "probed", edit.id, state.round)
    detail = await job.log.once(entry, ask)
    return {name: value for name, value in detail.items() if name != "key"}


async def probe_accepted(job: Context, state: State, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Every probe of everything accepted; ``evidence`` is the confirmation of the same brain."""
    measured = _measured(evidence)

    async def ask() -> dict[str, Any]:
        edits = [(one.edit, one.targets) for one in state.accepted]
        made = units(job.base, state.brain, edits)
        # An edit whose lines a later one took out again has nothing left that could be dropped.
        parts = [one for one in made if one.without.hash != state.brain.hash]
        return (await probe(bench_of(job), job.base, state.brain, parts, measured)).plain()

    entry = Entry(f"probed/{state.brain.hash[:12]}", "probed", round=state.round)
    detail = await job.log.once(entry, ask)
    job.tell("probed", "\n".join(report_lines(detail)), detail)
    return {name: value for name, value in detail.items() if name != "key"}


async def probe_whole(job: Context, after: Brain, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Every probe of a change that nobody split into edits."""
    parts = [whole(job.base, after)]
    report = await probe(bench_of(job), job.base, after, parts, _measured(evidence))
    job.tell("probed", report.text())
    return report.plain()


def _measured(evidence: Mapping[str, Any]) -> dict[str, list[tuple[bool, bool]]]:
    return {
        str(one["incident"]): list(zip(one["before"], one["after"], strict=True))
        for one in evidence["incidents"]
    }


def withdraw(job: Context, state: State, plain: Mapping[str, Any]) -> bool:
    """Take out what a probe decided against, and what cannot stand without it; true if any was.

    The reason is remembered; it names no incident.
    """
    lost = {unit["name"]: why for unit in plain["units"] if (why := unit_failure(unit))}
    if not lost:
        return False
    kept: list[Accepted] = []
    brain = job.base
    for one in state.accepted:
        why = lost.get(one.edit.id, "")
        try:
            after = brain if why else apply_edit(brain, one.edit)
        except EditError:
            why = "it builds on an edit that a probe refused"
        if why:
            _refuse(job, state, one, why)
            continue
        brain = after
        kept.append(one)
    state.accepted, state.brain = kept, brain
    return True


def _refuse(job: Context, state: State, one: Accepted, why: str) -> None:
    state.refuse(BY, remembered(one.edit, why))
    entry = Entry(f"probed/{one.edit.id}/rejected", "rejected", one.edit.id, one.round)
    detail = {"by": BY, "reason": why, "cluster": one.edit.cluster}
    job.log.record(entry, {**detail, "target": one.target, "regression": one.guard})
    job.tell("rejected", f"edit {one.edit.id} taken out: {why}")


def beside(accepted: Accepted, plain: Mapping[str, Any]) -> dict[str, Any]:
    """An edit for the proposal, with what the probes say of it and of its lines."""
    named = {unit["name"]: unit for unit in plain.get("units", ())}
    mine: Mapping[str, Any] = named.get(accepted.edit.id, {})
    return {**accepted.plain(), "behaviour": mine}
