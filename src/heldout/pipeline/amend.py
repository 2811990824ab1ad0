"""Amending a proposal: a person's patch on top is gated, measured on train and proposed anew."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import UsageError
from heldout.pipeline.progress import SILENT, Say, tell
from heldout.pipeline.stages import build_worlds
from heldout.settings import Settings

if TYPE_CHECKING:
    from heldout.brain import Brain
    from heldout.review import Proposed, Reviewer


def amend_by_name(
    settings: Settings, proposal: str, patch: Path, reviewer: Reviewer, say: Say = SILENT
) -> str:
    """Apply ``patch`` to the proposed brain; returns what became of it.

    The old proposal is decided as amended only when the new one stands in the ledger.
    """
    build_worlds(settings)
    return asyncio.run(_amend(settings, proposal, patch, reviewer, say))


async def _amend(
    settings: Settings, proposal: str, patch: Path, reviewer: Reviewer, say: Say
) -> str:
    from heldout.build import cases
    from heldout.edit import read_patch
    from heldout.environments import open_environment
    from heldout.gate import GateProcess
    from heldout.review import open_proposal, require
    from heldout.split import declare_process
    from heldout.store import Ledger
    from heldout.tune import TuneOptions, remeasure

    declare_process("tune")
    with Ledger.open(settings.ledger) as ledger, GateProcess(settings) as gate:
        old = open_proposal(ledger, proposal)
        if old.row.decision is not None:
            raise UsageError("already decided", where=old.row.proposal, mend="Amend another one")
        after = read_patch(patch, old.after)
        if after.hash in {old.after.hash, old.before.hash}:
            raise UsageError("the patch leaves nothing new", where=str(patch), mend="Change a line")
        require(await asyncio.to_thread(gate.check, old.before, after))
        name = old.row.set or settings.set
        evidence = await remeasure(
            settings,
            ledger,
            model=old.row.model or settings.models.agent,
            before=old.before,
            after=after,
            cases=cases(settings, name, "train"),
            gate=gate,
            interface=open_environment(settings.agent.tools),
            options=TuneOptions.of(settings, job=old.row.job or ""),
            on_event=lambda event: tell(say, event),
        )
        made = _store(ledger, old, after, patch, reviewer, evidence)
    shown = "confirmed" if evidence["confirmed"] else "NOT confirmed"
    return (
        f"Amended {old.row.proposal} into {made} ({shown} on fresh repeats).\n"
        f"Next: heldout review {made}"
    )


def _store(
    ledger: Any, old: Proposed, after: Brain, patch: Path, reviewer: Reviewer, evidence: Any
) -> str:
    """Write the new proposal and the old one's decision together; return the new id."""
    from heldout.edit import diff, diff_hash
    from heldout.store import remember_brain

    bound = diff_hash(old.before, after)
    made = "p-" + hashlib.sha256(f"{old.row.proposal}\0{bound}".encode()).hexdigest()[:12]
    remember_brain(ledger, after)
    ledger.append_group(
        {
            "proposals": [
                {
                    "proposal": made,
                    "job": old.row.job,
                    "model": old.row.model,
                    "set": old.row.set,
                    "before_hash": old.before.hash,
                    "after_hash": after.hash,
                    "diff": diff(old.before, after),
                    "diff_hash": bound,
                    # Its lines no longer stand one by one, so it is decided on as a whole.
                    "edits_json": [],
                    "evidence_json": {**evidence, "amends": old.row.proposal},
                }
            ],
            "decisions": [
                {
                    "proposal": old.row.proposal,
                    "diff_hash": old.row.diff_hash,
                    "action": "amend",
                    "edits_json": {"into": made},
                    "name": reviewer.name,
                    "reason": reviewer.reason,
                }
            ],
        }
    )
    ledger.flush()
    return made
