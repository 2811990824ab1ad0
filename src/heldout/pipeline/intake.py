"""Real material into a project: what was read, and an incident grafted onto it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.errors import IngestError, UsageError
from heldout.graph.files import MANIFEST
from heldout.pipeline.ingesting import world_dir
from heldout.settings import Settings
from heldout.split import Side

if TYPE_CHECKING:
    from heldout.graph.topology import Topology

PREFIX = "imported:"


@dataclass(frozen=True, slots=True)
class Graft:
    """What incident to lay over an import; ``fault`` empty tries each in order of name.

    ``side`` is followed only where nothing in the set resembles the incident.
    """

    set: str
    side: Side | None = None
    fault: str = ""
    seed: int = 1


def ingest_kubernetes(settings: Settings | None, path: Path, graft: Graft | None = None) -> str:
    """Read manifests or dumps at ``path`` and, with ``graft``, append an incident to a set.

    The incident's origin is ``overlay``: real topology, generated fault. The topology is kept with
    the set, so that the world can be made again where the manifests are not.
    """
    from heldout.ingest import kubernetes

    if not path.exists():
        raise IngestError("nothing is there", where=str(path), mend="Name a file or a folder")
    imported = kubernetes.read(path)
    lines = imported.report.lines()
    if graft is None or settings is None:
        return "\n".join(lines)
    made = _grafted(settings, kubernetes.topology(imported), path, graft)
    return "\n".join([*lines, *made, f"Next: heldout run --set {graft.set}"])


@dataclass(frozen=True, slots=True)
class Overlay:
    """Faults to lay over an imported world: by name, ``all``, on their groups' sides."""

    base: str
    faults: str
    set: str
    side: str = ""
    seed: int = 1


def overlay(settings: Settings, wanted: Overlay) -> list[str]:
    """Graft faults onto an imported world and append them to a set; returns what to tell.

    Of the world its topology is kept, and how much happens there. The process must hold a role that
    may open the held-out half. Where no fault fits, that is an :class:`IngestError`.
    """
    from heldout.build.grafts import GraftPlan, graft_faults
    from heldout.build.imported import busyness, topology_of
    from heldout.graph import world_meta
    from heldout.split import HeldoutAccess

    side = named_side(wanted.side)
    names = tuple(one.strip() for one in wanted.faults.split(",") if one.strip())
    if not names:
        raise UsageError("no fault is named", mend="Say --faults all, or names with commas between")
    directory = imported_dir(settings, wanted.base)
    estate = directory.resolve().name
    busy = busyness(directory)
    plan = GraftPlan(
        set=wanted.set,
        source=f"imported world {estate}, {world_meta(directory).digest[:12]}",
        faults=() if names == ("all",) else names,
        side=side,
        seed=wanted.seed,
        knobs=busy,
    )
    done = graft_faults(settings, topology_of(directory, estate), plan, HeldoutAccess())
    measured = ", ".join(f"{value} {knob}" for knob, value in busy.items()) or "too little to tell"
    lines = [
        f"{estate}: its topology as it stands is kept; its own history, logs, metrics and alerts "
        f"are not. How busy it is: {measured}",
        *done.lines(estate),
        f"{len(done.made)} grafted, {len(done.refused)} left out",
    ]
    if not done.made:
        raise IngestError(
            f"no fault of {len(done.refused)} could be grafted; the first: "
            f"{next(iter(done.refused.values()))}",
            where=wanted.base, mend="Name other --faults, or import more of the estate",
        )  # fmt: skip
    return lines


def imported_dir(settings: Settings, base: str) -> Path:
    """The folder of ``imported:WORLD``, as ``heldout ingest --into WORLD`` names it.

    Any other word, and a place without a world, is a :class:`UsageError`.
    """
    name = base.removeprefix(PREFIX)
    if not base.startswith(PREFIX) or not name:
        raise UsageError(
            f"'{base[:60]}' is no base to graft on",
            mend="Say imported:WORLD, with a world made by 'heldout ingest KIND PATH --into WORLD'",
        )
    path = world_dir(name, settings.root)
    if (path / MANIFEST).is_file():
        return path
    known = sorted(one.parent.name for one in (settings.state / "imported").glob(f"*/{MANIFEST}"))
    raise UsageError(
        f"there is no imported world '{name[:60]}'",
        where=base[:80],
        mend=f"Name a world's folder; by name are known: {', '.join(known) or 'none'}",
    )


def named_side(side: str) -> Side | None:
    """``train``, ``test`` or, where nothing is said, ``None``; else a :class:`UsageError`."""
    if not side:
        return None
    if side == "train":
        return "train"
    if side == "test":
        return "test"
    raise UsageError(f"no side '{side[:40]}'", mend="Say train or test")


def _grafted(settings: Settings, topology: Topology, path: Path, graft: Graft) -> list[str]:
    from heldout.build.grafts import GraftPlan, graft_faults
    from heldout.split import HeldoutAccess, declare_process

    declare_process("intake")
    plan = GraftPlan(
        set=graft.set,
        source=f"kubernetes manifests, folder {path.resolve().name}",
        faults=(graft.fault,) if graft.fault else (),
        side=graft.side,
        seed=graft.seed,
        first=True,
    )
    done = graft_faults(settings, topology, plan, HeldoutAccess())
    if not done.made:
        reasons = list(done.refused.values())
        raise IngestError(
            f"no fault fits this material; the last reason: {reasons[-1] if reasons else 'none'}",
            where=str(path),
            mend="Name another --fault, or material with Services that call each other",
        )
    done.refused.clear()
    return done.lines(topology.name)
