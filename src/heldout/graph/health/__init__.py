"""Checks of what is declared and observed, right now, without logs, metrics or history.

A check is one module of this package with a ``CHECK`` (:class:`HealthCheck`); the registry lists
the package, so that a new file is a new check. A check reads observed state only, says in writing
when it stays silent, and must not fire on a legal configuration.

Facts that the checks and the rules of status read (values are JSON; a fact that is absent silences
the check), beside a kind's own fields in Kubernetes, in snake case:

``Namespace``, ``Cluster``  listed [kind, ..]: of these kinds everything that is there is known
all that refer to others    references [{kind, name, namespace, via, optional, key, port}, ..]
workloads and ``Pod``       containers [name, ..], container_resources {name: {requests, limits}},
                            container_ports, host_ports, probe_ports, repeated_env, tolerations,
                            node_affinity, node_selector {k: v}, dns_policy, dns_config
``Pod``                     labels {k: v}, phase, ready, node, unschedulable, resized,
                            container_states {name: {state, reason, exit_code, started_at,
                            finished_at, ready, restarts, last_reason, last_exit_code}}
workloads                   replicas, made_replicas, ready_replicas, updated_replicas, paused,
                            progressing {status, reason}, pod_labels, memory_request,
                            memory_limit ("512Mi" | null)
``Job``, ``CronJob``        status, ended_because, active, failed, succeeded · suspend, schedule
``K8sService``              selector {k: v} | null, type, ports, internal_traffic_policy,
                            external_traffic_policy, publish_not_ready
``Ingress``                 routes [[host, path, type], ..], class, merged_by, is_served
``NetworkPolicy``           pod_selector, policy_types [..], ingress [..] | null, egress [..] | null
``ResourceQuota``           hard {"requests.memory": "8Gi", ..}, used, scopes
``LimitRange``              default_memory, default_request_memory, container_max
``Pdb``, ``Hpa``            pod_selector, min_available, max_unavailable · utilization_of [..]
``Pvc``, ``Secret``         access_modes, phase, storage_class · data_written_at
``Node``                    labels, taints, allocatable, unschedulable, pressures [..]
anything                    namespace, deleting_since, finalizers [..]

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

SEVERITIES = ("critical", "warning")
"""Something fails now · something will, or is not as it was meant. Worst first."""


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
def described() -> tuple[tuple[HealthCheck, str], ...]:
    """Every check of this package, by name, each with one sentence about what it finds."""
    found: list[tuple[HealthCheck, str]] = []
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda one: one.name):
        module = import_module(f"{__name__}.{info.name}")
        check = getattr(module, "CHECK", None)
        if check is not None:
            found.append((check, (module.__doc__ or "").strip().partition("\n")[0]))
    return tuple(sorted(found, key=lambda one: one[0].name))


@cache
def registry() -> tuple[HealthCheck, ...]:
    """Every check of this package, by name."""
    return tuple(check for check, _ in described())


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
