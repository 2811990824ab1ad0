"""One proposal as a page of text: what ten minutes of a reviewer need, in reading order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.behaviour.closed_book import closed_book_sentence
from heldout.behaviour.lines import added
from heldout.behaviour.renaming import survival_sentence
from heldout.behaviour.report import effect_lines, summary_lines, unit_lines
from heldout.edit import Edit
from heldout.gate.consistency import conflicts
from heldout.gate.reviewer import reviewer_lines
from heldout.review.decision import Proposed, open_proposal
from heldout.review.divergence import Divergence, divergence
from heldout.review.flags import Looked, Subject, look
from heldout.stats import harm_upper_bound
from heldout.store import Ledger

SIMULATED = "MECHANISM TEST: the model is simulated, so this shows a mechanism and no gain."
REAL = "REAL MODEL, train half only: what it is worth is shown by the held-out score."
NOT_PROBED = "NOT PROBED: nothing is known of what it does without tools or elsewhere"


@dataclass(frozen=True, slots=True)
class Page:
    """A proposal ready to be shown; ``lines`` are plain text, ``diff`` is a unified diff."""

    proposal: str
    headline: tuple[str, ...]
    looked: tuple[Looked, ...]
    diff: str
    edits: tuple[str, ...]
    measured: tuple[str, ...]
    divergence: Divergence | None

    @property
    def flags(self) -> tuple[str, ...]:
        """What was looked for and found, a line each; every kind is named."""
        return tuple(line for one in self.looked for line in one.lines())

    def text(self) -> str:
        """The whole page without colours."""
        parts = ["\n".join(self.headline), "\n".join(self.flags), self.diff.rstrip()]
        parts += ["\n".join(self.edits), "\n".join(self.measured)]
        if self.divergence is not None:
            parts.append("\n".join(self.divergence.lines()))
        return "\n\n".join(part for part in parts if part) + "\n"


def page(ledger: Ledger, proposal_id: str) -> Page:
    """Read a proposal from the ledger and lay it out; a changed diff is refused."""
    proposed = open_proposal(ledger, proposal_id)
    evidence: Mapping[str, Any] = proposed.row.evidence or {}
    stored = [dict(one) for one in proposed.row.edits or []]
    return Page(
        proposal=proposed.row.proposal,
        headline=_headline(proposed, evidence),
        looked=look(subject(proposed)),
        diff=proposed.row.diff,
        edits=_edits(proposed.edits, stored, evidence),
        measured=tuple(
            [f"behaviour: {said}" for said in _behaviour(evidence)]
            + [f"{name}: {said}" for name, said in measures(evidence)]
        ),
        divergence=divergence(ledger, evidence.get("trace_pair")),
    )


def subject(proposed: Proposed) -> Subject:
    """What a proposal is looked at for; see :func:`heldout.review.flags.look`."""
    stored = [dict(one) for one in proposed.row.edits or []]
    return Subject(
        added=[line.text for line in added(proposed.before, proposed.after)],
        edits=list(zip(proposed.edits, stored, strict=True)),
        evidence=proposed.row.evidence or {},
        conflicts=conflicts(proposed.before, proposed.after),
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


def verdict_sentence(evidence: Mapping[str, Any]) -> str:
    """What the fresh repeats of the train half showed, in one sentence."""
    traps = evidence.get("traps") or {}
    shown = "confirmed" if evidence.get("confirmed") else "NOT confirmed"
    return (
        f"On fresh repeats of the train half: fixed {traps.get('fixed_incidents', '?')}, broken "
        f"{traps.get('broken_incidents', '?')} trap incidents ({shown})."
    )


def evidence_class(evidence: Mapping[str, Any]) -> str:
    """What kind of evidence a proposal rests on; the first line of everything that shows it."""
    return SIMULATED if evidence.get("simulated") else REAL


def state_words(proposed: Proposed) -> str:
    """That it waits, or who decided what and why."""
    decided = proposed.row.decision
    return f"{decided.action} by {decided.name}: {decided.reason}" if decided else "waits"


def _headline(proposed: Proposed, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    row = proposed.row
    failures = (evidence.get("behaviour") or {}).get("failures", ())
    return (
        evidence_class(evidence),
        f"proposal {row.proposal} · {row.model} · set {row.set} · {state_words(proposed)}",
        verdict_sentence(evidence),
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


def _behaviour(evidence: Mapping[str, Any]) -> list[str]:
    behaviour = evidence.get("behaviour")
    return summary_lines(behaviour) if behaviour else [NOT_PROBED]


def measures(evidence: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(what, in words): harm on train controls, size of the prompt, cost of an investigation."""
    found = [("controls", harm_sentence(evidence))]
    size = evidence.get("size")
    if size:
        said = (
            f"{size['lines_before']} -> {size['lines_after']} lines, "
            f"{size['characters_before']} -> {size['characters_after']} characters"
        )
        found.append(
            ("prompt", said + _change(size["characters_before"], size["characters_after"]))
        )
    cost = evidence.get("cost") or {}
    before, after = cost.get("before") or {}, cost.get("after") or {}
    for name, form in (("tokens", ",.0f"), ("calls", ".1f"), ("usd", ".4f"), ("seconds", ".1f")):
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None:
            said = f"{old:{form}} -> {new:{form}}{_change(old, new)}"
            found.append((f"{name} per investigation", said))
        elif name == "usd":
            found.append((f"{name} per investigation", "unknown"))
    return found


def _change(old: float, new: float) -> str:
    return f" ({new / old - 1:+.0%})" if old else ""


def harm_sentence(evidence: Mapping[str, Any]) -> str:
    """What became of train controls, and how large the share that breaks may still be.

    The bound is one-sided, at 95 %, over incidents (:func:`heldout.stats.harm_upper_bound`); on
    train it is a warning and no evidence of safety.
    """
    controls = evidence.get("controls") or {}
    incidents, broken = int(controls.get("incidents", 0)), int(controls.get("broken_incidents", 0))
    if not incidents or not controls.get("pairs", incidents):
        return "none was played: harm is not bounded"
    bound = harm_upper_bound(broken, incidents)
    return (
        f"fixed {controls.get('fixed_incidents', 0)}, broken {broken} of {incidents} on train: at "
        f"most {100 * bound:.0f} % of such incidents break (95 %, one-sided)"
    )
