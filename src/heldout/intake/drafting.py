"""From a reading to a draft: specs of an incident and its variants, validated, with their side."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from heldout.build.admission import Admitted, admitted, tried
from heldout.build.freezing import forget
from heldout.build.placing import (
    SIDES,
    Placement,
    Standing,
    place,
    refuse_crossing,
    relatives,
    standing,
)
from heldout.build.plans import SetPlan
from heldout.build.pool import Slot
from heldout.build.pool import draft as pool_draft
from heldout.build.sets import known_sets
from heldout.build.similarity import portrait
from heldout.build.variants import MOST, variants
from heldout.errors import IngestError, SpecError, UsageError
from heldout.intake.drafts import Draft, DraftState, Word, states, write_draft, write_state
from heldout.intake.making import shaped, told_otherwise
from heldout.intake.material import Material
from heldout.intake.reading import Reading
from heldout.intake.vocabulary import nearest
from heldout.settings import Settings
from heldout.simulate.fault import fault_named
from heldout.split import HeldoutAccess
from heldout.store import now_us
from heldout.truth import Spec

ATTEMPTS = 10
"""Drafts that are tried until the validity gate is content."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """Into which set, how many variants (the first one included), and how large their estates."""

    set: str
    variants: int = 3
    scale: float = 1.0
    workers: int = 1

    def check(self) -> None:
        """Raise :class:`UsageError` on a number out of range."""
        if not 1 <= self.variants <= MOST:
            raise UsageError(
                f"{self.variants} variants were asked for", mend=f"Ask for 1 to {MOST}"
            )


def draft_incident(
    settings: Settings,
    material: Material,
    reading: Reading,
    how: Drafting,
    access: HeldoutAccess,
    *,
    model: str = "",
) -> Draft:
    """Draft the incident that a report tells of; the draft is kept, and waits for a person.

    A report that no existing fault can express becomes a draft without specs that names the nearest
    faults. One that is a draft or in a set already is a :class:`UsageError`; one whose incident
    finds no valid world or no side an :class:`IngestError` or :class:`SpecError`. Nothing is kept
    of what failed.
    """
    how.check()
    _require_new(settings, material, how.set)
    name = "d-" + hashlib.sha256(f"{material.digest}\0{how.set}".encode()).hexdigest()[:8]
    draft = Draft(
        name, material.name, material.digest, how.set, reading.plain(), model=model,
        near=_nearest_faults(material, reading),
    )  # fmt: skip
    if reading.expressible:
        draft = _filled(settings, draft, reading, how, access)
    write_draft(settings, draft, access)
    word: Word = "drafted" if draft.specs else "no fault"
    write_state(
        settings,
        DraftState(
            name,
            material.name,
            material.digest,
            word,
            now_us(),
            how.set,
            draft.side or "",
            len(draft.specs),
        ),
    )
    return draft


def _require_new(settings: Settings, material: Material, set_name: str) -> None:
    for one in states(settings):
        if one.digest == material.digest and one.set == set_name and one.word in HELD:
            raise UsageError(
                f"this report is {one.word} already, as {one.draft}",
                where=material.name,
                mend=f"See it with 'heldout intake --show {one.draft}'",
            )


HELD = ("drafted", "accepted")


def _nearest_faults(material: Material, reading: Reading) -> tuple[str, ...]:
    if reading.expressible:
        return ()
    first = [one for one in (reading.fault,) if one != "none"]
    names = dict.fromkeys([*first, *reading.near, *(one.fault for one in nearest(material.text))])
    return tuple(list(names)[:5])


def _filled(
    settings: Settings, draft: Draft, reading: Reading, how: Drafting, access: HeldoutAccess
) -> Draft:
    """The draft with specs whose worlds the validity gate let through, on the side they must be."""
    others = standing(settings, settings.set_path(how.set), access)
    candidates, notes = _candidates(draft, reading, how, {one.spec.id for one in others})
    first = candidates[0]
    placement = place(how.set, portrait(first), first.kind, others)
    candidates = [_placed(spec, placement) for spec in candidates]
    made = _validated(settings, candidates, how)
    try:
        for one in made:
            refuse_crossing(how.set, one.entry.portrait, placement.side, others)
    except SpecError:
        forget(settings, [one.spec for one in made])
        raise
    return replace(
        draft,
        specs=tuple(one.spec for one in made),
        alerts={one.spec.id: one.alert for one in made},
        side=placement.side,
        group=placement.group,
        why=placement.why,
        near=(*_told(placement), *_elsewhere(settings, how.set, first, access)),
        notes=(*notes, *told_otherwise(reading)),
    )


def _candidates(
    draft: Draft, reading: Reading, how: Drafting, taken: set[str]
) -> tuple[list[Spec], list[str]]:
    """Drafts of the pool's own kind, with what the report says in place of what is drawn."""
    seed = int(hashlib.sha256(draft.id.encode()).hexdigest()[:12], 16)
    plan = SetPlan(
        how.set, seed=seed, traps=2, scale=how.scale, log_lines=max(500, round(100_000 * how.scale))
    )
    slot = Slot(reading.kind, 0, fault_named(reading.fault))
    found: list[Spec] = []
    notes: list[str] = []
    for attempt in range(ATTEMPTS):
        spec, notes = shaped(pool_draft(plan, slot, attempt), reading)
        # The pool draws ids by place, and this one is the report's own.
        own = f"inc-{hashlib.sha256(f'{draft.id}/{draft.digest}'.encode()).hexdigest()[:6]}"
        if own in taken:
            raise IngestError(
                f"the set has an incident '{own}' already", where=f"set {how.set}",
                mend="Accept it there, or draft into another set",
            )  # fmt: skip
        found.append(replace(spec, id=own, source=f"intake {draft.digest[:16]}"))
    return found, notes


def _placed(spec: Spec, placement: Placement) -> Spec:
    bank = SIDES.index(placement.side)
    return replace(spec, group=placement.group, knobs={**spec.knobs, "bank": bank})


def _validated(settings: Settings, candidates: Sequence[Spec], how: Drafting) -> list[Admitted]:
    """The first candidate that is valid, and its variants."""
    discards: Counter[str] = Counter()
    first = admitted(tried(settings, [candidates], 1), discards)
    if not first:
        why = ", ".join(f"{count} x {reason}" for reason, count in discards.most_common(3))
        raise IngestError(
            f"no valid incident came of it in {len(candidates)} tries ({why})",
            where=f"fault {candidates[0].fault}",
            mend="Ask for fewer traps, or for other values, in the form",
        )
    if how.variants == 1:
        return first
    try:
        further = variants(first[0].spec, how.variants - 1, settings, workers=how.workers)
    except SpecError:
        forget(settings, [one.spec for one in first])
        raise
    return [*first, *further]


def _told(placement: Placement) -> tuple[str, ...]:
    return tuple(f"{one.incident} ({one.side}): it {one.why}" for one in placement.relatives)


def _elsewhere(
    settings: Settings, own: str, spec: Spec, access: HeldoutAccess, most: int = 5
) -> tuple[str, ...]:
    """Near-duplicates in the project's other sets; they bind nothing, but a person should know."""
    found: list[str] = []
    for name in known_sets(settings):
        if name == own:
            continue
        others: list[Standing] = standing(settings, settings.set_dir(name), access)
        found += [
            f"{name}/{one.incident} ({one.side}): it {one.why}"
            for one in relatives(portrait(spec), others)
        ]
    return tuple(found[:most])
