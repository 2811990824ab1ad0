"""Admission to a pool: the first of several specs that the validity gate lets through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from heldout.build.freezing import forget, store_incident
from heldout.build.validity import Subject
from heldout.build.validity.entry import Entry, examine
from heldout.build.worlds import mapped, place_of
from heldout.errors import SpecError, WorldError
from heldout.settings import Settings
from heldout.simulate import generate
from heldout.truth import Spec

REFUSED = "replay"
"""What a world is discarded for that cannot be written: the point of the gate that says so."""


class Admitted(NamedTuple):
    """A valid incident whose world and truth lie in the cache.

    ``entry`` is what its set must know of it; ``names`` are those of the alerted service and of
    every accepted entity.
    """

    spec: Spec
    alert: str
    entry: Entry
    names: frozenset[str]


class Trial(NamedTuple):
    """Specs to try in turn, as a worker process gets them."""

    settings: Settings
    candidates: tuple[Spec, ...]


class Result(NamedTuple):
    """What came of a trial, and why the specs before were discarded."""

    admitted: Admitted | None
    discards: tuple[str, ...]


def tried(
    settings: Settings,
    candidates: Iterable[Sequence[Spec]],
    workers: int,
    done: Callable[[int], None] | None = None,
) -> list[Result]:
    """Try each group of candidates, in ``workers`` processes; worlds and truths are cached.

    ``done`` is told how many groups came to an end.
    """
    trials = [Trial(settings, tuple(group)) for group in candidates]
    return mapped(_try, trials, workers, done)


def admitted(results: Iterable[Result], discards: Counter[str]) -> list[Admitted]:
    """Those that found a valid spec; every discard is counted into ``discards``."""
    found = []
    for result in results:
        discards.update(result.discards)
        if result.admitted is not None:
            found.append(result.admitted)
    return found


def _try(trial: Trial) -> Result:
    discards: list[str] = []
    for spec in trial.candidates:
        try:
            made = generate(spec)
            pinned = store_incident(trial.settings, spec, made)
        except SpecError as error:
            discards.append(error.what.split(":")[0])
            continue
        except WorldError as error:
            if error.__cause__ is not None:  # The disk's doing, not the spec's.
                raise
            discards.append(REFUSED)
            continue
        subject = Subject(pinned, made, folder=place_of(trial.settings, pinned).world)
        entry = examine(subject, side=int(float(spec.knobs.get("bank", 0))))
        if not entry.found:
            one = Admitted(pinned, made.alert, entry, shown_names(subject))
            return Result(one, tuple(discards))
        discards.append(entry.found[0].split(":")[0])
        forget(trial.settings, [pinned])
    return Result(None, tuple(discards))


def shown_names(subject: Subject) -> frozenset[str]:
    """Names of the alerted service and of the accepted entities."""
    name = subject.view.name
    shown = (subject.victim, *subject.truth.accepted_entities)
    return frozenset(name[one] for one in shown if one in name)
