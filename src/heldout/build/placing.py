"""Which side of a set a further incident joins: the side of its group, never the one it is wished.

An incident that is akin or nearly the same as one that stands in the set belongs to that one's
group, and a group stands on one side. A new group joins the smaller side, so that nobody chooses
what is tuned on and what is only scored.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from heldout.build.similarity import THRESHOLD, Portrait, akin, crossings, portrait, similarity
from heldout.build.worlds import place_of, read_alert
from heldout.errors import SpecError
from heldout.settings import Settings
from heldout.split import HeldoutAccess, Side, read_specs
from heldout.truth import Spec, Truth, read_truth
from heldout.truth.specs import Kind

SIDES: tuple[Side, Side] = ("train", "test")
TELLING = ("fault", "group", "report", "chain", "seed")


class Standing(NamedTuple):
    """An incident of a set, its side and what is compared of it."""

    spec: Spec
    side: Side
    portrait: Portrait


class Relative(NamedTuple):
    """An incident that a new one resembles: how much (0 to 1), and why they belong together."""

    incident: str
    side: Side
    group: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an incident goes: its side, its group, why, and the relatives that decided it.

    ``bound`` is false for a new group, which any side could take.
    """

    side: Side
    group: str
    why: str
    relatives: tuple[Relative, ...] = ()
    bound: bool = False


def standing(settings: Settings, directory: Path, access: HeldoutAccess) -> list[Standing]:
    """Every incident of the set in ``directory``, both sides; none where there is no set yet.

    What is compared comes from its truth where that lies in the cache, else from its fault's
    record.
    """
    assert access.role  # Only the roles that may open the test side can hold one.
    if not (directory / "split.toml").is_file():
        return []
    return [
        Standing(spec, side, _portrait(settings, directory, spec))
        for side in SIDES
        for spec in read_specs(directory, side, access)
    ]


def _portrait(settings: Settings, directory: Path, spec: Spec) -> Portrait:
    alert = read_alert(directory, spec.id)
    path = place_of(settings, spec).truth
    if not spec.truth_digest or not path.is_file():
        return portrait(spec, None, alert)
    truth = read_truth(path, digest=spec.truth_digest)
    return portrait(spec, truth, alert, telling_ids(truth))


def telling_ids(truth: Truth) -> list[str]:
    """The ids that give a cause away; on an imported estate they are the same in every incident."""
    ids = (truth.culprit_entity, *truth.accepted_entities, truth.culprit_change)
    return [one for one in ids if one.startswith(("e-", "c-"))]


def relatives(one: Portrait, others: Iterable[Standing]) -> list[Relative]:
    """The incidents that must stand on the side of ``one``: kin first, then by likeness."""
    found = []
    for other in others:
        score = similarity(one, other.portrait)
        kin = akin(one, other.portrait)
        if kin or score >= THRESHOLD:
            shared = one.lineage & other.portrait.lineage
            why = f"shares {min(shared, key=_telling)}" if kin else f"is {score:.2f} alike"
            held = Relative(other.spec.id, other.side, other.spec.group, round(score, 2), why)
            found.append((not kin, -score, other.spec.id, held))
    return [held for *_, held in sorted(found)]


def _telling(lineage: str) -> tuple[int, str]:
    """The plainest reason first: of two incidents of one fault nobody asks for their chain."""
    return TELLING.index(lineage.split(" ", 1)[0]), lineage


def place(
    name: str, one: Portrait, kind: Kind, others: Sequence[Standing], wanted: Side | None = None
) -> Placement:
    """The side and group of a new incident in the set called ``name``.

    ``wanted`` is followed only by a new group. Another side than that of its group, or relatives on
    both sides, are a :class:`SpecError`: the incident cannot join the set.
    """
    near = relatives(one, others)
    sides = {relative.side for relative in near}
    if len(sides) > 1:
        pair = [next(r for r in near if r.side == side) for side in SIDES]
        raise SpecError(
            f"it resembles incidents of both sides: {_said(pair[0])}; {_said(pair[1])}",
            where=f"set {name}",
            mend="Put it into another set: here it would carry one side's answer to the other",
        )
    if not near:
        return _new_group(one, kind, others, wanted)
    first = near[0]
    if wanted is not None and wanted != first.side:
        raise SpecError(
            f"its group '{first.group}' stands on the {first.side} side, not on {wanted}: "
            f"it {_said(first)}",
            where=f"set {name}",
            mend=f"Leave the side out, or say {first.side}",
        )
    why = f"it {_said(first)}, of group '{first.group}', which stands on the {first.side} side"
    return Placement(first.side, first.group, why, tuple(near), bound=True)


def _said(one: Relative) -> str:
    return f"{one.why} with {one.incident} ({one.side})"


def _new_group(
    one: Portrait, kind: Kind, others: Sequence[Standing], wanted: Side | None
) -> Placement:
    fault = next((word[6:] for word in one.lineage if word.startswith("fault ")), one.id)
    if wanted is not None:
        return Placement(wanted, fault, "nothing in the set resembles it, and this side was asked")
    of_kind = Counter(other.side for other in others if other.spec.kind == kind)
    every = Counter(other.side for other in others)
    toss = int(hashlib.sha256(fault.encode()).hexdigest(), 16) % 2
    side = min(SIDES, key=lambda side: (of_kind[side], every[side], SIDES.index(side) != toss))
    counts = f"{of_kind['train']} of its kind on train, {of_kind['test']} on test"
    return Placement(side, fault, f"nothing in the set resembles it; the smaller side ({counts})")


def refuse_crossing(name: str, one: Portrait, side: Side, others: Iterable[Standing]) -> None:
    """Raise :class:`SpecError` where an incident on ``side`` resembles one of the other side."""
    for other in others:
        if other.side == side or other.spec.id == one.id:
            continue
        wrong = crossings([one, other.portrait], {one.id: side, other.spec.id: other.side})
        if wrong:
            raise SpecError(
                wrong[0],
                where=f"set {name}",
                mend=f"Append it to the {other.side} side, or to another set",
            )
