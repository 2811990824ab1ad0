"""Whether a job could find anything that an earlier one for the same model did not.

A scheduled job asks this before it spends: with the same brain, the same train incidents and the
same settings, and no failure left that an earlier job did not try to answer, there is nothing new.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import heldout
from heldout.agent import prompt_hash
from heldout.brain import Brain, load_brain
from heldout.interface import Interface
from heldout.run.judging import judge_pin
from heldout.run.manifest import tools_hash
from heldout.run.plan import Terms
from heldout.settings import Settings
from heldout.split import read_specs
from heldout.store import Ledger
from heldout.store import brain as stored_brain
from heldout.store.queries import ProposalRow, jobs, proposals, releases
from heldout.tune.options import TuneOptions

CHECK = "check"
"""Kind of the ledger's row that says a job ended before it began."""
_NO_RESULT = frozenset({"job", "concurrency", "max_usd", "max_tokens", "max_seconds"})
"""Options that decide how a job runs, not what it can find."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """Why a further job would find nothing: the earlier job, and a proposal that waits, if any."""

    job: str
    proposal: str
    why: str

    def sentence(self) -> str:
        """What a person should know."""
        return (
            f"Nothing new since job {self.job}: the same brain, train incidents and settings, "
            f"and {self.why}. Nothing was spent."
        )


def standing_of(
    settings: Settings, options: TuneOptions, proposer: str, interface: Interface
) -> str:
    """Hash over everything but brain and incidents that decides what a job can find."""
    terms = Terms.of(settings)
    asked = {name: one for name, one in options.plain().items() if name not in _NO_RESULT}
    reviewer = settings.gate.model_dump(exclude={"reviewer_base_url"})
    checkers = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(settings.checkers.glob("*"))
        if path.is_file()
    }
    plain: dict[str, Any] = {
        "options": asked,
        "proposer": proposer,
        "mode": [terms.mode, terms.notebook_tokens, terms.agent_command],
        "judge": judge_pin(terms),
        "tools": tools_hash(interface),
        "prompts": prompt_hash(),
        "gate": reviewer,
        "checkers": checkers,
        "heldout": heldout.__version__,
    }
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def standstill(
    settings: Settings,
    ledger: Ledger,
    *,
    model: str,
    proposer: str,
    interface: Interface,
    options: TuneOptions,
) -> Standstill | None:
    """The earlier job that makes a further one pointless; ``None`` when there may be something new.

    Only what decides a job is compared: brain files that this model never reads, caps and
    concurrency are not. A job that a cap or its rounds ended left failures untried, and a proposal
    that a reviewer turned down is news itself.
    """
    standing = standing_of(settings, options, proposer, interface)
    specs = read_specs(settings.set_dir(), "train")
    worked_on = sorted([spec.id, spec.world_digest, spec.truth_digest] for spec in specs)
    base = load_brain(settings.brain)
    ended = {row.job: row for row in jobs(ledger, kind="tune", model=model)}
    for job, before, detail in _begun(ledger, model):
        same = detail.get("standing") == standing and detail.get("cases") == worked_on
        if not same or job not in ended:
            continue
        held = base if before == base.hash else stored_brain(ledger, before)
        if not _reads_the_same(held, base, model, interface.name):
            continue
        made = proposals(ledger, job=job)
        if made:
            return _decided(ledger, job, made[0])
        if ended[job].status in {"nothing_new", "saturated"}:
            return Standstill(job, "", str(ended[job].detail.get("reason", "")) or "no proposal")
        return None
    return None


def remember_standstill(ledger: Ledger, found: Standstill, model: str, set_name: str) -> None:
    """Keep that a job was asked for and had nothing to do."""
    row = {
        "job": f"check-{secrets.token_hex(4)}",
        "kind": CHECK,
        "status": "nothing_new",
        "model": model,
        "set": set_name,
        "detail_json": {"like": found.job, "proposal": found.proposal, "reason": found.why},
    }
    ledger.append("jobs", [row])
    ledger.flush()


def _begun(ledger: Ledger, model: str) -> list[tuple[str, str, dict[str, Any]]]:
    """A model's tuning jobs, newest first: id, brain, and what was written down at the start."""
    rows = ledger.read(
        "SELECT job, before_hash, detail_json FROM jobs WHERE kind = 'tune' AND model = ?"
        " AND status = 'started' ORDER BY rowid DESC",
        [model],
    )
    return [(r["job"], r["before_hash"], json.loads(r["detail_json"] or "{}")) for r in rows]


def _reads_the_same(one: Brain, other: Brain, model: str, interface: str) -> bool:
    if one.hash == other.hash:
        return True
    return _read(one, model, interface) == _read(other, model, interface)


def _read(brain: Brain, model: str, interface: str) -> Sequence[object]:
    """What a model can read of a brain, and what of it may be edited."""
    skills = [brain.skill(skill.name, model, interface) for skill in brain.skills()]
    return brain.prompt(model, interface), skills, brain.frozen, brain.load


def _decided(ledger: Ledger, job: str, row: ProposalRow) -> Standstill | None:
    """What became of a job's proposal, if that leaves a further job nothing to do."""
    decision = row.decision
    if decision is None:
        return Standstill(job, row.proposal, f"proposal {row.proposal} waits for a decision")
    if decision.action != "accept":
        return None
    if any(one.action == "revert" and one.at > decision.at for one in releases(ledger)):
        return None
    why = f"proposal {row.proposal} was accepted but is not in the brain in use"
    return Standstill(job, "", why)
