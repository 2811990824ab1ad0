"""Real material into a project: what was read, and an incident grafted onto it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.errors import IngestError, SpecError
from heldout.settings import Settings
from heldout.split import Side

if TYPE_CHECKING:
    from heldout.graph.topology import Topology
    from heldout.truth import Spec

ATTEMPTS = 12
"""Seeds tried until a fault finds a place and the validity gate is content."""
TRAPS = ("latent_cause", "onset_decoy", "change_noise")


@dataclass(frozen=True, slots=True)
class Graft:
    """What incident to lay over an import; ``fault`` empty tries each in order of name."""

    set: str
    side: Side = "test"
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
    spec, made_lines = _grafted(settings, kubernetes.topology(imported), path, graft)
    return "\n".join([*lines, *made_lines, f"Next: heldout run --set {graft.set}" * bool(spec)])


def _grafted(
    settings: Settings, topology: Topology, path: Path, graft: Graft
) -> tuple[Spec, list[str]]:
    from heldout.build import append_incident
    from heldout.build.validity import Subject, findings
    from heldout.simulate.grafting import graft as lay_over
    from heldout.split import HeldoutAccess, declare_process

    declare_process("intake")
    named = [graft.fault] if graft.fault else _changes()
    reasons: list[str] = []
    for fault in named:
        for attempt in range(ATTEMPTS):
            spec = _spec(fault, path, graft, attempt)
            try:
                made = lay_over(topology, spec)
            except SpecError as error:  # It finds no place here, and no other seed gives it one.
                reasons.append(error.sentence())
                break
            wrong = findings(Subject(spec, made))
            if wrong:
                reasons.append(f"{fault}: {wrong[0]}")
                continue
            pinned = append_incident(settings, graft.set, spec, made, graft.side, HeldoutAccess())
            where = f"set {graft.set}, {graft.side} side"
            return pinned, [f"grafted incident {pinned.id} onto {topology.name} ({where})"]
    raise IngestError(
        f"no fault fits this material; the last reason: {reasons[-1] if reasons else 'none'}",
        where=str(path),
        mend="Name another --fault, or material with Services that call each other",
    )


def _changes() -> list[str]:
    """The faults that a change of somebody's explains, in order of name."""
    from heldout.simulate.fault import faults

    return [name for name, fault in sorted(faults().items()) if fault.cause == "change"]


def _spec(fault: str, path: Path, graft: Graft, attempt: int) -> Spec:
    from heldout.simulate import GENERATOR
    from heldout.simulate.fault import faults
    from heldout.truth import Spec

    known = faults()
    if fault not in known:
        raise SpecError(f"there is no fault '{fault}'", mend=f"Known: {', '.join(sorted(known))}")
    seed = _number("graft", fault, graft.seed, attempt, graft.set) % 2**48
    name = _number("id", seed)
    return Spec(
        id=f"inc-{name % 16**6:06x}",
        kind="trap",
        domain=known[fault].domain,
        family=known[fault].family,
        fault=fault,
        traps=TRAPS,
        group=f"overlay-{fault}",
        generator=GENERATOR,
        seed=seed,
        canary=f"{_number('canary', seed):032x}"[:32],
        knobs={"latency_days": 4.0, "decoys": 2, "noise": 1.5, "log_lines": 60_000},
        origin="overlay",
        source=f"kubernetes manifests, folder {path.resolve().name}",
    )


def _number(*parts: object) -> int:
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
