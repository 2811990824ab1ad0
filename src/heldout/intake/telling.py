"""Drafts and the folder in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heldout.intake.drafts import Draft, DraftState, states
from heldout.intake.dropped import Dropped, dropped
from heldout.intake.reading import FITS
from heldout.intake.vocabulary import plain_mechanism
from heldout.settings import Settings
from heldout.simulate.fault import fault_named, faults
from heldout.terminal import visible

SHOWN = 6
"""How many near-duplicates are told."""


def draft_lines(draft: Draft) -> list[str]:
    """Everything of a draft that a person needs to say yes or no."""
    if not draft.specs:
        return _unexpressed(draft)
    first = draft.specs[0]
    record = fault_named(first.fault)
    knobs = ", ".join(f"{name} {value}" for name, value in sorted(first.knobs.items()))
    lines = [
        f"{draft.id}: draft of {draft.report}, {len(draft.specs)} incidents for set {draft.set}",
        f"  fault     {first.fault} ({record.family}): {plain_mechanism(record)}",
        f"  woken by  {record.trigger.prose}",
        f"  kind      {first.kind}; traps {', '.join(first.traps)}",
        f"  knobs     {knobs}",
        f"  side      {draft.side}: {draft.why}",
        f"  valid     {', '.join(spec.id for spec in draft.specs)} passed the validity gate",
    ]
    lines += [f"  resembles {one}" for one in draft.near[:SHOWN]]
    if len(draft.near) > SHOWN:
        lines.append(f"  resembles {len(draft.near) - SHOWN} more")
    lines += [f"  note      {one}" for one in draft.notes]
    if said := visible(draft.reading.get("note", ""), 200):
        lines.append(f"  said      {said}")
    if draft.model:
        lines.append(f"  read by   {draft.model}; a person should compare it with the report")
    return [*lines, f"Next: heldout intake --accept {draft.id}, or --drop {draft.id}"]


def _unexpressed(draft: Draft) -> list[str]:
    fits = str(draft.reading.get("fits", "no"))
    known = faults()
    why = FITS[fits] if draft.reading.get("fault") != "none" else "none breaks in this way"
    return [
        f"{draft.id}: no existing fault can express {draft.report} ({why})",
        *(f"  nearest   {name}: {plain_mechanism(known[name])}" for name in draft.near
          if name in known),
        f"Next: add a fault (docs/how-to/faults.md), then heldout intake --drop {draft.id}",
    ]  # fmt: skip


def draft_plain(draft: Draft) -> dict[str, Any]:
    """A draft as plain data, without canaries and seeds."""
    return {
        "draft": draft.id, "report": draft.report, "digest": draft.digest, "set": draft.set,
        "expressible": bool(draft.specs), "reading": dict(draft.reading), "side": draft.side,
        "group": draft.group, "why": draft.why, "near": list(draft.near),
        "notes": list(draft.notes), "model": draft.model,
        "incidents": [
            {"id": spec.id, "fault": spec.fault, "kind": spec.kind, "traps": list(spec.traps),
             "knobs": dict(spec.knobs)}
            for spec in draft.specs
        ],
    }  # fmt: skip


def dropped_lines(folder: str, files: Sequence[Dropped]) -> list[str]:
    """What lies in the folder, one a line, led by a count of what is new."""
    if not files:
        return []
    new = sum(one.word == "new" for one in files)
    lines = [f"{folder}/: {len(files)} dropped in, {new} new"]
    return lines + [f"  {one.word:<10} {one.sort:<7} {one.name}{_further(one)}" for one in files]


def _further(one: Dropped) -> str:
    if one.draft:
        return f" ({one.draft})"
    return " (its form waits to be filled)" if one.form else ""


def state_lines(drafts: Sequence[DraftState]) -> list[str]:
    """Every draft, one a line; nothing that tells of a cause."""
    return [
        f"{one.draft} {one.word:<9} {one.report}"
        + (f": {one.count} incidents, {one.side} side of {one.set}" if one.count else "")
        for one in drafts
    ]


def waiting_lines(settings: Settings) -> list[str]:
    """For a project's status: what was dropped in and how far it is, and drafts that wait."""
    files = dropped(settings)
    lines = dropped_lines(settings.intake.folder, files)
    lines += [
        f"waits for you: heldout intake --show {one.draft} ({one.report})"
        for one in states(settings)
        if one.word == "drafted"
    ]
    if any(one.word == "new" for one in files):
        lines.append(f"Next: heldout intake {settings.intake.folder}/FILE")
    return lines
