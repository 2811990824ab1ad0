"""Real material into a project: what was read, and an incident grafted onto it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.errors import IngestError
from heldout.settings import Settings
from heldout.split import Side

if TYPE_CHECKING:
    from heldout.graph.topology import Topology


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
