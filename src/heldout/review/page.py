"""One proposal as a page of text: what ten minutes of a reviewer need, in reading order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.agent.trace import Step
from heldout.behaviour.closed_book import closed_book_sentence
from heldout.behaviour.renaming import survival_sentence
from heldout.behaviour.report import effect_lines, summary_lines, unit_lines
from heldout.compare import call_text
from heldout.edit import Edit
from heldout.errors import StoreError
from heldout.gate.reviewer import reviewer_lines
from heldout.review.decision import Proposed, open_proposal
from heldout.run import outcomes
from heldout.store import Ledger

SIMULATED = "MECHANISM TEST: the model is simulated, so this shows a mechanism and no gain."
REAL = "REAL MODEL, train half only: what it is worth is shown by the held-out score."
NOT_PROBED = "behaviour: NOT PROBED: nothing is known of what it does without tools or elsewhere"


@dataclass(frozen=True, slots=True)
class Divergence:
    """One investigation before and after, at its first different tool call."""

    incident: str
    step: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Page:
    """A proposal ready to be shown; ``lines`` are plain text, ``diff`` is a unified diff."""

    proposal: str
    headline: tuple[str, ...]
    diff: str
    edits: tuple[str, ...]
    measured: tuple[str, ...]
    divergence: Divergence | None

    def text(self) -> str:
        """The whole page without colours."""
        parts = ["\n".join(self.headline), self.diff.rstrip(), "\n".join(self.edits)]
        parts.append("\n".join(self.measured))
        if self.divergence is not None:
            parts.append("\n".join(divergence_lines(self.divergence)))
        return "\n\n".join(part for part in parts if part) + "\n"


def page(ledger: Ledger, proposal_id: str) -> Page:
    """Read a proposal from the ledger and lay it out; a changed diff is refused."""
    proposed = open_proposal(ledger, proposal_id)
    evidence: Mapping[str, Any] = proposed.row.evidence or {}
    stored = [dict(one) for one in proposed.row.edits or []]
    return Page(
        proposal=proposed.row.proposal,
        headline=_headline(proposed, evidence),
        diff=proposed.row.diff,
        edits=_edits(proposed.edits, stored, evidence),
        measured=_measured(evidence),
        divergence=_divergence(ledger, evidence.get("trace_pair")),
    )


def _edits(
    edits: Sequence[Edit], stored: Sequence[Mapping[str, Any]], evidence: Mapping[str, Any]
) -> tuple[str, ...]:
    """Each edit with what is known of it; a change that is no list of edits, line by line."""
    if not edits:
        units = (evidence.get("behaviour") or {}).get("units", ())
        return tuple(line for unit in units for line in effect_lines(unit["lines"]))
    return tuple(
        line for edit, one in zip(edits, stored, strict=True) for line in _edit_lines(edit, one)
    )


def _headline(proposed: Proposed, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    row = proposed.row
    traps = evidence.get("traps") or {}
    shown = "confirmed" if evidence.get("confirmed") else "NOT confirmed"
    decided = row.decision
    state = f"{decided.action} by {decided.name}: {decided.reason}" if decided else "waits"
    failures = (evidence.get("behaviour") or {}).get("failures", ())
    return (
        SIMULATED if evidence.get("simulated") else REAL,
        f"proposal {row.proposal} · {row.model} · set {row.set} · {state}",
        f"On fresh repeats of the train half: fixed {traps.get('fixed_incidents', '?')}, broken "
        f"{traps.get('broken_incidents', '?')} trap incidents ({shown}).",
        f"brain {row.before_hash[:12]} -> {row.after_hash[:12]} · diff {row.diff_hash[:12]}",
        *(f"BEHAVIOUR NOT PASSED: {why}" for why in failures),
    )


def _edit_lines(edit: Edit, stored: Mapping[str, Any]) -> list[str]:
    target = stored.get("target") or {}
    regression = stored.get("regression") or {}
    unit = stored.get("behaviour") or {}
    effects = unit_lines(unit)
    lines = [f"edit {edit.id} answers: {edit.cluster or 'no cluster named'}"]
    for line in edit.added_lines():
        lines.append(f"  + {line}")
        said = effects.get(line.strip())
        lines += [f"      {said}"] if said else []
    lines.append(f"  why: {edit.reason}")
    if edit.expected_effect:
        lines.append(f"  expected: {edit.expected_effect}")
    if edit.feared_harm:
        lines.append(f"  feared: {edit.feared_harm}")
    lines.append(
        f"  screened: fixed {target.get('fixed', '?')}, broken {target.get('broken', '?')} of "
        f"{target.get('pairs', '?')} investigations that failed; elsewhere broken "
        f"{regression.get('broken', '?')} of {regression.get('pairs', '?')}"
    )
    if stored.get("closed_book"):
        lines.append(f"  {closed_book_sentence(stored['closed_book'])}")
    if unit.get("rename"):
        lines.append(f"  {survival_sentence(unit['rename'])}")
    return lines + [f"  {said}" for said in reviewer_lines(stored.get("review") or {})]


def _measured(evidence: Mapping[str, Any]) -> tuple[str, ...]:
    behaviour = evidence.get("behaviour")
    lines = (
        [f"behaviour: {said}" for said in summary_lines(behaviour)] if behaviour else [NOT_PROBED]
    )
    controls = evidence.get("controls")
    if controls:
        lines.append(
            f"controls: fixed {controls.get('fixed_incidents')}, broken "
            f"{controls.get('broken_incidents')} of {controls.get('incidents')}"
        )
    size = evidence.get("size")
    if size:
        lines.append(
            f"prompt: {size['lines_before']} -> {size['lines_after']} lines, "
            f"{size['characters_before']} -> {size['characters_after']} characters"
        )
    cost = evidence.get("cost") or {}
    before, after = cost.get("before") or {}, cost.get("after") or {}
    for name, form in (("tokens", ",.0f"), ("calls", ".1f"), ("usd", ".4f"), ("seconds", ".1f")):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            if name == "usd":
                lines.append("usd per investigation: unknown")
            continue
        change = f" ({new / old - 1:+.0%})" if old else ""
        lines.append(f"{name} per investigation: {old:{form}} -> {new:{form}}{change}")
    return tuple(lines)


def _divergence(ledger: Ledger, pair: Mapping[str, Any] | None) -> Divergence | None:
    if not pair:
        return None
    found: dict[str, Sequence[Step]] = {}
    try:
        for one in outcomes(ledger, str(pair["run"])):
            same = (one.incident, one.repeat) == (pair["incident"], pair["repeat"])
            attempt = pair.get(f"{one.arm}_attempt")
            if same and one.attempt == attempt and one.trace is not None:
                found[one.arm] = one.trace.steps
    except StoreError:
        return None
    step = int(pair["step"])
    return Divergence(
        str(pair["incident"]),
        step,
        call_text(found.get("before", ()), step),
        call_text(found.get("after", ()), step),
    )


def divergence_lines(one: Divergence) -> tuple[str, ...]:
    """The divergence as three lines."""
    return (
        f"{one.incident}, first different tool call (step {one.step + 1}):",
        f"  before: {one.before}",
        f"  after:  {one.after}",
    )
