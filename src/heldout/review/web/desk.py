"""What the pages do: read a proposal, take a decision, start an amendment.

The ledger is opened for one request and closed again: a job may need it in between, and while one
writes, a page says so instead of waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from heldout.errors import GateRejected, HeldoutError, LedgerBusy
from heldout.review.decision import (
    Proposed,
    Reviewer,
    accept,
    open_proposal,
    reject,
    require_open,
)
from heldout.review.sheet import Sheet, sheet
from heldout.review.web.amending import Amendment, amended, editable_files
from heldout.review.web.guarding import Keys
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store.queries import ProposalRow, proposals

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """What happened, for a page: a heading and lines below it; ``proposal`` is the one at hand."""

    status: int
    heading: str
    lines: tuple[str, ...] = ()
    proposal: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """What a page sent: each field with its values, in order."""

    fields: Mapping[str, Sequence[str]]

    def one(self, name: str) -> str:
        """A field's first value; empty where it was not sent."""
        return (self.fields.get(name) or [""])[0]

    def many(self, name: str) -> list[str]:
        """All of a field's values."""
        return list(self.fields.get(name) or ())


@dataclass(slots=True)
class Desk:
    """One person's desk; ``name`` is written into the forms."""

    settings: Settings
    keys: Keys
    name: str = ""
    amendment: Amendment | None = None
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def listed(self) -> list[ProposalRow]:
        """Every proposal, newest first."""
        return self._with(proposals)

    def known(self, proposal: str) -> bool:
        """Whether there is a proposal of exactly this id."""
        return any(row.proposal == proposal for row in self.listed())

    def sheet(self, proposal: str) -> Sheet:
        """One proposal for the screen."""
        return self._with(lambda ledger: sheet(self.settings, ledger, proposal))

    def proposed(self, proposal: str) -> Proposed:
        """One proposal with its brains."""
        return self._with(lambda ledger: open_proposal(ledger, proposal))

    def files(self, proposal: str) -> dict[str, str]:
        """The files that an amendment may change."""
        return editable_files(self.proposed(proposal))

    def decide(self, proposal: str, form: Form) -> Answer:
        """Accept or reject, as the form says; whatever is wrong is an answer too."""
        if not self._fits(proposal, form):
            return _FOREIGN
        try:
            return self._with(lambda ledger: self._decided(ledger, proposal, form), write=True)
        except HeldoutError as error:
            return refusal(error, proposal)

    def _decided(self, ledger: Ledger, proposal: str, form: Form) -> Answer:
        who = Reviewer(form.one("name"), form.one("reason"))
        seen = form.one("diff_hash")
        if form.one("action") == "reject":
            reject(ledger, proposal, who, seen=seen)
            return Answer(
                200, f"Rejected {proposal}",
                ("The brain is as it was; the next job knows that you turned these edits down.",),
                proposal,
            )  # fmt: skip
        if form.one("action") != "accept":
            return Answer(400, "That is no decision", ("Accept or reject.",), proposal)
        offered, wanted = form.many("offered"), form.many("edit")
        if offered and not wanted:
            return Answer(
                400, "No edit is chosen", ("Choose at least one, or reject all.",), proposal
            )
        only = wanted if len(wanted) < len(offered) else []
        done = accept(
            self.settings, ledger, proposal, who,
            only=only, branch=form.one("branch").strip(), seen=seen,
        )  # fmt: skip
        part = f"{len(only)} of {len(offered)} edits of " if only else ""
        where = f"on a branch, commit {done.commit[:12]}" if done.commit else "in brain/"
        return Answer(
            200, f"Accepted {part}{proposal}",
            (f"The brain {done.after[:12]} stands {where}.",
             "What it is worth is shown by the held-out half: run 'heldout score'.",
             f"'heldout revert {done.before[:12]}' puts the old brain back."),
            proposal,
        )  # fmt: skip

    def amend(self, proposal: str, form: Form) -> Answer:
        """Start an amendment from the texts in the form."""
        if not self._fits(proposal, form):
            return _FOREIGN
        try:
            who = Reviewer(form.one("name"), form.one("reason"))
            proposed = self.proposed(proposal)
            require_open(proposed.row, form.one("diff_hash"))
            names = form.many("file")
            brain = amended(proposed, dict(zip(names, form.many("text"), strict=False)))
            with self._turn:
                if self.amendment is not None:
                    if self.amendment.state == "running":
                        return Answer(409, "Another amendment is being measured", (), proposal)
                    self.amendment.stop()
                self.amendment = Amendment.start(self.settings.root, proposed, brain, who)
        except HeldoutError as error:
            return refusal(error, proposal)
        return Answer(202, f"Amending {proposal}", (), proposal)

    def close(self) -> None:
        """End what still runs."""
        if self.amendment is not None:
            self.amendment.stop()

    def _fits(self, proposal: str, form: Form) -> bool:
        return self.keys.fits(form.one("token"), proposal, form.one("diff_hash"))

    def _with(self, work: Callable[[Ledger], T], *, write: bool = False) -> T:
        with self._turn, Ledger.open(self.settings.ledger, read_only=not write) as ledger:
            return work(ledger)


_FOREIGN = Answer(
    403, "This form was not made for this diff", ("Open the proposal again and decide there.",)
)


def refusal(error: HeldoutError, proposal: str = "") -> Answer:
    """An error as an answer: what was refused, and nothing was changed."""
    status, heading = 409, "Nothing was changed"
    if isinstance(error, LedgerBusy):
        status, heading = 503, "A job is writing; try again in a moment"
    elif isinstance(error, GateRejected):
        status, heading = 422, "The gate refuses this part; nothing was changed"
    return Answer(status, heading, tuple(error.sentence().splitlines()), proposal)
