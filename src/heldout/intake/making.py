"""What a reading makes of a spec: knobs and traps in place of those that were drawn."""

from __future__ import annotations

from dataclasses import replace

from heldout.build.pool import AT_ODDS, DECOY, ELSEWHERE, FLEET, LATENT, NOISE, OLDER
from heldout.errors import IngestError
from heldout.intake.reading import Reading
from heldout.intake.vocabulary import TRIGGERS, trigger_of
from heldout.simulate.fault import fault_named
from heldout.simulate.knobs import NUMERIC
from heldout.simulate.trap import trap_named
from heldout.truth import Spec

PARTIAL = "partial_fleet"


def shaped(drawn: Spec, reading: Reading) -> tuple[Spec, list[str]]:
    """A drawn spec with what the report says, and notes on what could not be taken as it stands.

    What the report does not say stays as it was drawn. A cause that bit at once is no trap, which
    is an :class:`IngestError`.
    """
    notes: list[str] = []
    knobs = dict(drawn.knobs)
    chosen = _traps(drawn, reading, notes)
    if LATENT in chosen and reading.cause_days is not None:
        if reading.cause_days < NUMERIC["latency_days"].least:
            raise IngestError(
                f"a cause {reading.cause_days:g} days old did not lie dormant",
                where="cause_days",
                mend="Say kind 'onset_control', or an age of 0.15 days or more",
            )
        knobs["latency_days"] = _within("latency_days", reading.cause_days, notes)
    if DECOY in chosen:
        said = 1 if reading.decoys is None else max(1, reading.decoys)
        knobs["decoys"] = int(_within("decoys", said, notes)) if reading.decoys else (
            knobs.get("decoys", said)
        )  # fmt: skip
    if reading.hops is not None:
        knobs["hops"] = int(_within("hops", reading.hops, notes))
    if ELSEWHERE in chosen:  # There must be an elsewhere.
        knobs["hops"] = max(1, int(float(knobs.get("hops", 1))))
    if NOISE in chosen:
        knobs.setdefault("noise", 1.5)
    if reading.affected is not None:
        knobs["fleet_share"] = _within("fleet_share", reading.affected, notes)
    elif any(trap_named(name).siblings for name in chosen):
        knobs.setdefault("fleet_share", 0.3)
    if any(trap_named(name).siblings for name in chosen):
        knobs["archetype"] = FLEET
    return replace(drawn, traps=tuple(sorted(chosen)), knobs=knobs), notes


def _traps(drawn: Spec, reading: Reading, notes: list[str]) -> set[str]:
    """The traps that the report tells of; those drawn where it tells of none."""
    needed = {"trap": LATENT, "unanswerable": LATENT, "onset_control": OLDER}
    first = needed.get(reading.kind, DECOY)
    chosen = {first, *(reading.traps or drawn.traps)}
    if reading.decoys is not None:
        chosen = (chosen | {DECOY}) if reading.decoys else (chosen - {DECOY} | {first})
    scope = fault_named(reading.fault).scope
    if reading.affected is not None and reading.affected < 1 and scope is None:
        chosen.add(PARTIAL)
    if reading.kind in ("trap", "unanswerable"):
        return chosen - {OLDER}
    odd = sorted((chosen & AT_ODDS) - {first})
    if set(odd) & set(reading.traps):
        notes.append(f"{', '.join(odd)} hides a cause, and a control of this kind hides none")
    return chosen - set(odd)


def _within(knob: str, value: float, notes: list[str]) -> float:
    """The value as far as the knob goes; a note where it goes no further."""
    limits = NUMERIC[knob]
    held = min(limits.most, max(limits.least, value))
    if held != value:
        notes.append(f"{knob} is {held:g}: {value:g} is outside {limits.least:g}-{limits.most:g}")
    return round(held, 2)


def told_otherwise(reading: Reading) -> list[str]:
    """What the report says of the trigger and the fault does otherwise."""
    own = trigger_of(fault_named(reading.fault))
    if reading.trigger in ("unknown", own) or reading.kind == "onset_control":
        return []
    return [
        f"the report says that it was woken by {TRIGGERS[reading.trigger]}; "
        f"this fault is woken by {TRIGGERS[own]}"
    ]
