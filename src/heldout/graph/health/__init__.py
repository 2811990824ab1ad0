"""Checks of what is declared and observed, right now, without logs, metrics or history.

A check is one module of this package with a ``CHECK`` (:class:`HealthCheck`); the registry lists
the package, so that a new file is a new check. A check reads observed state only, says in writing
when it stays silent, and must not fire on a legal configuration.

Facts that the checks read, by kind (values are JSON; a fact that is absent silences the check):

``K8sService``      selector {k: v} | null, type, namespace
``Pod``             labels {k: v}, phase, ready (bool), namespace, node_selector {k: v},
                    dns_policy, dns_config (object | null), host_network (bool)
``Node``            labels {k: v}
``NetworkPolicy``   pod_selector (map or matchLabels / matchExpressions), policy_types [..],
                    ingress [..] | null, egress [..] | null, namespace
``ResourceQuota``   hard {"requests.memory": "8Gi", ..}, namespace
``LimitRange``      namespace, default_memory, default_request_memory
workloads           memory_request, memory_limit ("512Mi" | null), replicas, pod_labels, namespace
                    (``Deployment``, ``StatefulSet``, ``DaemonSet``, ``ReplicaSet``, ``Job``)
``Pvc``             access_modes ["ReadWriteOnce"], namespace

Edges: Pod ``controlled_by`` ReplicaSet | workload, ReplicaSet ``controlled_by`` Deployment, Service
``runs_on`` workload, Service ``calls`` Service, Service ``routes_to`` K8sService, Pod ``mounts``
Pvc; entities of one namespace share ``cluster`` and the fact ``namespace``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import NamedTuple, Protocol

from heldout.graph.snapshot import Snapshot


class Finding(NamedTuple):
    """One thing that is wrong: which entity, in words, and the fields that show it."""

    check: str
    entity: str
    severity: str
    text: str
    fields: tuple[str, ...]


class HealthCheck(Protocol):
    """One check. ``silent_when`` says in words which legal configurations it must not report."""

    @property
    def name(self) -> str:
        """Short name, shown in findings."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Fields without which it has nothing to say: where no fact names one, it is not run."""
        ...

    @property
    def silent_when(self) -> str:
        """Why it stays silent on what looks alike and is legal."""
        ...

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """Everything wrong at the snapshot's time, in a stable order."""
        ...


@cache
def registry() -> tuple[HealthCheck, ...]:
    """Every check of this package, by name."""
    checks: list[HealthCheck] = []
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda one: one.name):
        module = import_module(f"{__name__}.{info.name}")
        check = getattr(module, "CHECK", None)
        if check is not None:
            checks.append(check)
    return tuple(sorted(checks, key=lambda one: one.name))


def check_health(snapshot: Snapshot) -> tuple[Finding, ...]:
    """All findings of all checks, by check, then entity name and id."""
    found = [
        finding
        for check in registry()
        if all(map(snapshot.tells, check.needs))
        for finding in check.findings(snapshot)
    ]
    return tuple(
        sorted(found, key=lambda one: (one.check, snapshot.entities[one.entity].name, one.entity))
    )
