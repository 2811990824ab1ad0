"""A binding to a Role or ClusterRole that is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.dangling import UNLISTED, Dangling
from heldout.graph.snapshot import Entity, Snapshot


def _binds_nobody(snapshot: Snapshot, entity: Entity, said: Mapping[str, Any]) -> bool:
    return not snapshot.fact(entity.id, "subjects")


@dataclass(frozen=True, slots=True)
class MissingRole:
    """Fires when a binding with subjects names a role that is not there."""

    name: str = "missing-role"
    needs: tuple[str, ...] = ("references", "listed")
    silent_when: str = f"the binding has no subjects; {UNLISTED}"

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such binding."""
        for kind in ("Role", "ClusterRole"):
            yield from Dangling(
                name=self.name,
                silent_when=self.silent_when,
                kind=kind,
                holders=("RoleBinding", "ClusterRoleBinding"),
                text="it grants nothing",
                excused=_binds_nobody,
                grade="warning",
            ).findings(snapshot)


CHECK = MissingRole()
