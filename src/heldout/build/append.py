"""Appending an incident to a set: it joins one side, and nothing that stood there moves."""

from __future__ import annotations

from dataclasses import replace

from heldout.build.freezing import freeze_incident, store_incident
from heldout.build.topologies import topology_path, write_topology
from heldout.errors import SpecError
from heldout.settings import Settings
from heldout.simulate import Generated
from heldout.split import HeldoutAccess, Side, Split, read_split, write_split
from heldout.truth import Spec


def append_incident(
    settings: Settings,
    set_name: str,
    spec: Spec,
    made: Generated,
    side: Side,
    access: HeldoutAccess,
) -> Spec:
    """Write the world, truth, spec and alert, then the split; return the spec with its digests.

    A set that does not exist is made. A grafted incident's topology is kept with the set, so that
    its world can be made again anywhere. An id that is taken is a :class:`SpecError`. The split is
    written last, so that a process that dies before leaves a set that still reads as it was.
    """
    assert access.role  # Only the roles that may open the test side can hold one.
    directory = settings.set_path(set_name)
    known = (directory / "split.toml").is_file()
    split = read_split(directory) if known else Split(set_name, (), ())
    if spec.id in {*split.train, *split.test}:
        raise SpecError(
            f"the set has an incident '{spec.id}' already",
            where=str(directory),
            mend="Choose another --seed",
        )
    if made.topology is not None:
        write_topology(made.topology, topology_path(directory, spec.id))
    pinned = store_incident(settings, spec, made)
    freeze_incident(directory, pinned, made.alert)
    train = (*split.train, spec.id) if side == "train" else split.train
    test = (*split.test, spec.id) if side == "test" else split.test
    write_split(replace(split, train=train, test=test), directory)
    return pinned
