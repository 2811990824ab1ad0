"""Appending an incident to a set: it joins one side, and nothing that stood there moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from heldout.build.freezing import freeze_incident, store_incident
from heldout.build.placing import refuse_crossing, standing, telling_ids
from heldout.build.similarity import portrait
from heldout.build.topologies import topology_path, write_topology
from heldout.errors import SpecError
from heldout.settings import Settings
from heldout.simulate import Generated
from heldout.split import HeldoutAccess, Side, Split, read_split, write_split
from heldout.truth import Spec


class Addition(NamedTuple):
    """A spec without digests, and what it made."""

    spec: Spec
    made: Generated


def append_incident(
    settings: Settings,
    set_name: str,
    spec: Spec,
    made: Generated,
    side: Side,
    access: HeldoutAccess,
) -> Spec:
    """Append one incident, as :func:`append_incidents` does; return the spec with its digests."""
    return append_incidents(settings, set_name, [Addition(spec, made)], side, access)[0]


def append_incidents(
    settings: Settings,
    set_name: str,
    additions: Sequence[Addition],
    side: Side,
    access: HeldoutAccess,
) -> list[Spec]:
    """Write worlds, truths, specs and alerts, then the split; return the specs with their digests.

    A set that does not exist is made. A grafted incident's topology is kept with the set, so that
    its world can be made again anywhere. An id that is taken, and an incident that resembles one of
    the other side, are a :class:`SpecError` before anything is written. The split is written last,
    once for all of them, so that a process that dies before leaves a set that reads as it was.
    """
    directory = settings.set_path(set_name)
    known = (directory / "split.toml").is_file()
    split = read_split(directory) if known else Split(set_name, (), ())
    others = standing(settings, directory, access)
    for spec, made in additions:
        if spec.id in {*split.train, *split.test}:
            raise SpecError(
                f"the set has an incident '{spec.id}' already",
                where=str(directory),
                mend="Choose another --seed",
            )
        own = portrait(spec, made.truth, made.alert, telling_ids(made.truth))
        refuse_crossing(set_name, own, side, others)
    pinned = []
    for spec, made in additions:
        if made.topology is not None:
            write_topology(made.topology, topology_path(directory, spec.id))
        pinned.append(store_incident(settings, spec, made))
        freeze_incident(directory, pinned[-1], made.alert)
    ids = tuple(spec.id for spec in pinned)
    train = (*split.train, *ids) if side == "train" else split.train
    test = (*split.test, *ids) if side == "test" else split.test
    write_split(replace(split, train=train, test=test), directory)
    return pinned
