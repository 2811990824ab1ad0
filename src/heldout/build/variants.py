"""Variants: one incident again with other names, values, times, decoys and topology.

Fault, kind, traps and the knobs of difficulty stay; the seed is another. Who solved the original by
its names fails on its variants.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from heldout.build.admission import Admitted, shown_names, tried
from heldout.build.freezing import Frozen, forget, refuse_frozen, staged_set
from heldout.build.pool import reseeded
from heldout.build.validity import Subject
from heldout.errors import SpecError, UsageError
from heldout.settings import Settings
from heldout.simulate import generate
from heldout.simulate.streams import token
from heldout.split import HeldoutAccess, Side, Split, read_split
from heldout.truth import Spec, read_spec

ATTEMPTS = 12
MOST = 50


def variants(
    spec: Spec, n: int, settings: Settings, *, bank: int | None = None, workers: int = 1
) -> list[Admitted]:
    """``n`` valid variants of a spec, their worlds in the cache.

    No variant shares the name of its alerted service or of a right answer with the original or with
    another variant. They keep the original's half of the stock of names unless ``bank`` says
    otherwise. Only a generated incident can be varied; that and a fault which finds no ``n`` valid
    places are a :class:`SpecError`, ``n`` out of range is a :class:`UsageError`.
    """
    if not 1 <= n <= MOST:
        raise UsageError(f"{n} variants were asked for", mend=f"Ask for 1 to {MOST}")
    if spec.origin != "simulated":
        raise SpecError(
            f"its world is {spec.origin}, so it cannot be rendered with other names",
            where=f"incident {spec.id}",
            mend="Vary an incident that was generated",
        )
    discards: Counter[str] = Counter()
    found: list[Admitted] = []
    taken = set(shown_names(Subject(spec, generate(spec))))
    start = 0
    while len(found) < n and start < n * ATTEMPTS:
        groups = [[_variant(spec, start + at, bank)] for at in range(n - len(found))]
        start += len(groups)
        for result in tried(settings, groups, workers):
            discards.update(result.discards)
            one = result.admitted
            if one is None:
                continue
            if taken & one.names:
                discards["shared name"] += 1
                forget(settings, [one.spec])
                continue
            taken |= one.names
            found.append(one)
    if len(found) < n:
        forget(settings, [one.spec for one in found])
        reasons = ", ".join(f"{count} x {why}" for why, count in discards.most_common(3))
        raise SpecError(
            f"only {len(found)} of {n} variants are valid ({reasons})",
            where=f"incident {spec.id}",
            mend="Ask for fewer",
        )
    return found


def _variant(spec: Spec, number: int, bank: int | None) -> Spec:
    names = ("vary", spec.id, spec.seed, number)
    knobs = spec.knobs if bank is None else {**spec.knobs, "bank": bank}
    fresh = replace(
        spec, id=f"{spec.id}-{token(*names, digits=4)}", knobs=knobs, world_digest="",
        truth_digest="",
    )  # fmt: skip
    return reseeded(fresh, *names)


def find_spec(settings: Settings, set_name: str, incident: str, access: HeldoutAccess) -> Spec:
    """The spec of one incident of a set, whichever side it is on; an unknown id is a UsageError."""
    assert access.role  # Only the roles that may open the test side can hold one.
    directory = settings.set_dir(set_name)
    split = read_split(directory)
    if incident not in {*split.train, *split.test}:
        raise UsageError(
            f"there is no incident '{incident[:60]}'",
            where=f"set {set_name}",
            mend=f"Its incidents are the files of {directory / 'specs'}",
        )
    return read_spec(directory / "specs" / f"{incident}.toml")


def vary(
    settings: Settings,
    set_name: str,
    incident: str,
    n: int,
    *,
    into: Path | None = None,
    workers: int = 1,
) -> Path:
    """Make ``n`` variants of an incident and freeze them as a set of their own; return its folder.

    They stand on the side of their original. The folder is ``<set>-vary-<id>`` beside the set, or
    ``into``; one that holds a set already is a :class:`SpecError`.
    """
    spec = find_spec(settings, set_name, incident, HeldoutAccess())
    directory = into or settings.set_path(f"{set_name}-vary-{incident}")
    refuse_frozen(directory)
    side: Side = read_split(settings.set_dir(set_name)).side_of(incident)
    made = variants(spec, n, settings, workers=workers)
    ids = tuple(one.spec.id for one in made)
    split = Split(directory.name, ids if side == "train" else (), ids if side == "test" else ())
    with staged_set(settings, directory, split, [Frozen(one.spec, one.alert) for one in made]):
        return directory
