"""A person's word on a proposal, bound to the hash of the exact diff, and what follows from it.

Accepting writes brain files (or a branch) and one row, and nothing else. The files come first: if
the process dies in between, accepting again finds the brain as proposed and adds the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from heldout.brain import Brain, write_brain
from heldout.edit import Edit, apply_edits, diff, diff_hash, edit_from_plain
from heldout.errors import UsageError
from heldout.gate import GateProcess
from heldout.review.branch import commit_to_branch
from heldout.review.rebasing import onto_brain_in_use, require
from heldout.settings import Settings
from heldout.store import Ledger, remember_brain
from heldout.store import brain as stored_brain
from heldout.store.queries import ProposalRow
from heldout.store.queries import proposal as find_proposal

Policy = Literal["person", "auto"]
AUTO = "policy:auto"
"""The name under which the policy ``auto`` decides; every report prints it."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who decides and why. The name is self-declared: on a shared machine use branches."""

    name: str
    reason: str

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.reason.strip():
            raise UsageError(
                "a decision needs a name and a reason", mend="Pass --name and --reason"
            )


@dataclass(frozen=True, slots=True)
class Accepted:
    """What accepting did: the brain's hash before and after, and the commit on a branch."""

    proposal: str
    before: str
    after: str
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal with both of its brains, its diff checked against the stored hash."""

    row: ProposalRow
    before: Brain
    after: Brain
    edits: tuple[Edit, ...]


def open_proposal(ledger: Ledger, proposal_id: str) -> Proposed:
    """Read a proposal; one whose diff is no longer what was hashed is refused."""
    row = find_proposal(ledger, proposal_id)
    before, after = stored_brain(ledger, row.before_hash), stored_brain(ledger, row.after_hash)
    if diff_hash(before, after) != row.diff_hash or diff(before, after) != row.diff:
        raise UsageError(
            "the diff is not the one that was proposed",
            where=row.proposal,
            mend="Do not decide on it; run 'heldout tune' again",
        )
    return Proposed(row, before, after, edits_of(row))


def edits_of(row: ProposalRow) -> tuple[Edit, ...]:
    """A proposal's edits as they were stored; malformed ones are an :class:`EditError`."""
    return tuple(edit_from_plain(_edit_data(one), where=row.proposal) for one in row.edits or [])


def _edit_data(stored: dict[str, object]) -> dict[str, object]:
    """An edit as stored in a proposal may carry its evidence beside it."""
    inner = stored.get("edit", stored)
    assert isinstance(inner, dict)
    fields = ("ops", "reason", "cluster", "expected_effect", "feared_harm", "author")
    return {name: inner[name] for name in fields if name in inner}


def accept(
    settings: Settings,
    ledger: Ledger,
    proposal_id: str,
    reviewer: Reviewer,
    *,
    only: Sequence[str] = (),
    branch: str = "",
    seen: str = "",
) -> Accepted:
    """Accept a proposal, or ``only`` some of its edits, and write the brain (or a ``branch``).

    Part of a proposal is a brain that nobody has gated: it passes the gate first or is refused. So
    does one for a brain in which another model's overlay has changed since. ``seen`` is the hash
    of the diff that the reviewer had on the screen; another is refused.
    """
    proposed = open_proposal(ledger, proposal_id)
    require_open(proposed.row, seen)
    after = _chosen(settings, proposed, only)
    before, after = onto_brain_in_use(settings, proposed.before, after, proposed.row.model or "")
    remember_brain(ledger, before)
    remember_brain(ledger, after)
    commit = ""
    if branch:
        message = f"Accept the brain proposal {proposed.row.proposal}\n\n{reviewer.reason}"
        commit = commit_to_branch(settings.root, after, branch, message)
    else:
        write_brain(after, settings.brain)
    led = {"before": before.hash, "after": after.hash, "commit": commit}
    _decide(ledger, proposed, "accept", reviewer, only, led)
    return Accepted(proposed.row.proposal, before.hash, after.hash, commit)


def reject(ledger: Ledger, proposal_id: str, reviewer: Reviewer, *, seen: str = "") -> str:
    """Reject a proposal; its edits are remembered as refused by a person. Returns its id."""
    proposed = open_proposal(ledger, proposal_id)
    require_open(proposed.row, seen)
    _decide(ledger, proposed, "reject", reviewer, (), {"after": "", "commit": ""})
    return proposed.row.proposal


def require_open(row: ProposalRow, seen: str = "") -> None:
    """Refuse what is decided already, and another diff than the one that ``seen`` is the hash of.

    Without ``seen`` the reviewer named the proposal, whose id holds the hash.
    """
    if row.decision is not None:
        raise UsageError(
            f"already decided: {row.decision.action} by {row.decision.name}",
            where=row.proposal,
            mend="'heldout revert HASH' takes an accepted brain back",
        )
    if seen and seen != row.diff_hash:
        raise UsageError(
            "the diff is not the one that you were shown",
            where=row.proposal,
            mend="Open the proposal again and decide on what it says now",
        )


def _chosen(settings: Settings, proposed: Proposed, only: Sequence[str]) -> Brain:
    if not only:
        return proposed.after
    by_id = {edit.id: edit for edit in proposed.edits}
    wanted = []
    for name in only:
        matching = [key for key in by_id if key.startswith(name)]
        if len(matching) != 1 or not name:
            raise UsageError(
                f"'{name}' names no edit of this proposal, or more than one",
                where=proposed.row.proposal,
                mend=f"It has {', '.join(by_id)}",
            )
        wanted.append(matching[0])
    after = apply_edits(proposed.before, (e for e in proposed.edits if e.id in wanted))
    with GateProcess(settings) as gate:
        require(gate.check(proposed.before, after))
    return after


def _decide(
    ledger: Ledger,
    proposed: Proposed,
    action: str,
    reviewer: Reviewer,
    only: Sequence[str],
    led: Mapping[str, str],
) -> None:
    ledger.append(
        "decisions",
        [
            {
                "proposal": proposed.row.proposal,
                "diff_hash": proposed.row.diff_hash,
                "action": action,
                "edits_json": {"only": list(only), **led},
                "name": reviewer.name,
                "reason": reviewer.reason,
            }
        ],
    )
    ledger.flush()
