"""Shortening what the tuning added, once there is much of it; kept only if it harms nothing."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from heldout.edit import edit_from_plain
from heldout.propose import SHORTEN, grown, no_shortening, remembered, shorten
from heldout.tune.context import Context, State
from heldout.tune.drafting import admit
from heldout.tune.log import Entry
from heldout.tune.screening import clear


async def compress(job: Context, state: State) -> None:
    """Try once to shorten the lines, if they are more than the job's ``compress_above``.

    The shorter brain is held against the longer one on every solved train incident.
    """
    lines = grown(job.base, state.brain, job.target_file)
    if len(lines) <= job.options.compress_above:
        return
    job.tell("compress", f"{len(lines)} tuned lines: trying to shorten them")

    async def ask() -> dict[str, Any]:
        seed = job.options.derived_seed("shorten", state.round)
        answer = await shorten(job.client, job.target_file, lines, seed=seed)
        job.player.budget.add(answer.spent.usd, answer.spent.tokens)
        return {
            "cluster": SHORTEN,
            "incidents": [],
            "strategy": SHORTEN,
            "edits": [answer.value.plain()] if answer.value else [],
            "failure": answer.failure,
            "spent": asdict(answer.spent),
        }

    entry = Entry(f"round/{state.round}/shorter", "asked", round=state.round)
    detail = await job.log.once(entry, ask)
    if detail["failure"]:
        job.tell("draft", f"no shorter text: {detail['failure']}")
    for plain in detail["edits"]:
        edit = edit_from_plain(plain)
        candidate = await admit(job, state, edit, SHORTEN, len(lines))
        if candidate is None:
            return
        why = no_shortening(candidate.edit, job.target_file, lines)
        if why:
            state.refuse("form", remembered(candidate.edit, why))
            entry = Entry(
                f"round/{state.round}/{SHORTEN}/rejected", "rejected", edit.id, state.round
            )
            job.log.record(entry, {"by": "form", "reason": why, "cluster": SHORTEN})
            job.tell("rejected", f"edit {edit.id} refused (form): {why}")
            return
        everything = replace(job, options=replace(job.options, batch=len(job.cases)))
        if await clear(everything, state, candidate, SHORTEN):
            state.brain = candidate.brain
            state.stale.clear()
