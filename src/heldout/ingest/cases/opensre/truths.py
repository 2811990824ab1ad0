"""What the right answer of each case is: accept sets by hand, from its answer key.

The suites score by keywords over the whole answer, which a copy of the evidence passes too
(a dump of it meets all keywords in 20 of 29 cases). Here an answer must name what is at fault, and
its mechanism must say one term of each group. Cases without a line here are read from their key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from heldout.ingest.cases.case import OVER, truth
from heldout.ingest.cases.opensre.folder import CaseFolder
from heldout.ingest.draft import WorldDraft
from heldout.ingest.objects import mapping, sequence
from heldout.truth import Truth
from heldout.truth.truths import NONE

Terms = tuple[tuple[str, ...], ...]

_REPLICA: Terms = (
    ("replica", "replication", "replay", "replica lag"),
    ("wal", "transaction log", "transaction logs", "write", "writes", "bulk", "batch", "etl",
     "insert", "update"),
)  # fmt: skip
_FULL: Terms = (
    ("storage", "disk", "freestoragespace", "volume"),
    ("full", "exhausted", "exhaustion", "ran out", "out of", "no space", "insufficient", "low",
     "filled", "fills", "depleted", "insert", "bulk"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Key:
    """``at`` and ``also``: whom the answer may name, as ``Kind name`` or ``primary``, ``replica``.

    A name may end on ``*``; the first is the one at fault. ``blames`` begins the summary of the
    change that may be named.
    """

    at: str
    terms: Terms
    also: tuple[str, ...] = ()
    blames: str = ""


KEYS: Mapping[str, Key] = {
    "eks/001-oomkilled-crashloop": Key(
        "Pod payments-api-7f9dd8b6c4-x7gr9",
        (("oom", "oomkilled", "oom killed", "out of memory", "memory"),
         ("limit", "killed", "137", "exceeds", "exceeded", "oomkilled")),
        ("Deployment payments-api", "ReplicaSet payments-api-*"),
    ),
    "eks/002-image-pull-backoff": Key(
        "Deployment payments-api",
        (("image", "tag"), ("pull", "pulled", "manifest", "not found", "imagepullbackoff",
                            "does not exist", "unknown")),
        ("ReplicaSet payments-api-9c1d2e3f4", "Pod payments-api-9c1d2e3f4-*"),
    ),
    "eks/004-liveness-probe-killing": Key(
        "Pod payments-api-7f9dd8b6c4-liv1k",
        (("liveness", "probe", "healthz", "health check"),
         ("500", "fail", "fails", "failed", "failing", "failure", "misconfigured", "wrong")),
        ("Deployment payments-api", "ReplicaSet payments-api-7f9dd8b6c4"),
    ),
    "eks/005-resource-quota-exceeded": Key(
        "ResourceQuota default-quota",
        (("quota",), ("cpu", "exceeded", "exhausted", "full", "limit", "used up", "forbidden")),
        ("Namespace payments", "Deployment payments-api", "ReplicaSet payments-api-7f9dd8b6c4"),
    ),
    "eks/007-node-not-ready": Key(
        "Node ip-10-0-1-73.us-east-1.compute.internal",
        (("node", "kubelet"),
         ("not ready", "notready", "heartbeat", "unknown", "unreachable", "lost", "nodelost",
          "stopped reporting")),
    ),
    "eks/009-noisy-healthy-restart-recovered": Key(
        NONE, (OVER, ("restart", "restarts", "restarted")), ("Pod payments-api-7f9dd8b6c4-x7gr9",)
    ),
    "eks/010-red-herring-old-rollout": Key(
        NONE,
        (OVER, ("old", "previous", "former", "rollout", "rolled out", "terminating", "terminated",
                "replaced")),
        ("Pod payments-api-6c4ab5d9c-old1", "ReplicaSet payments-api-6c4ab5d9c"),
    ),
    "eks/012-pending-recovered": Key(
        NONE,
        (OVER, ("autoscaler", "scaled", "scale up", "new node", "added node", "node was added",
                "scheduled", "running now", "now running")),
        ("Pod payments-api-7f9dd8b6c4-late1",),
    ),
    "eks/013-spurious-alert-storm": Key(
        NONE,
        (OVER, ("flap", "flapped", "flapping", "notready", "not ready", "brief", "30 second",
                "thirty seconds")),
        ("Node ip-10-0-1-73.us-east-1.compute.internal",),
    ),
    "rds_postgres/001-replication-lag": Key("replica", _REPLICA, ("primary",)),
    "rds_postgres/002-connection-exhaustion": Key(
        "primary",
        (("connection", "connections", "session", "sessions"),
         ("idle", "leak", "leaked", "leaks", "exhausted", "exhaustion", "max_connections", "pool",
          "too many", "slots")),
    ),
    "rds_postgres/003-storage-full": Key("primary", _FULL),
    "rds_postgres/005-failover": Key(
        "primary",
        (("failover", "fail over", "failed over"),
         ("health check", "primary host", "host", "multi-az", "standby", "hardware")),
        blames="Multi-AZ instance failover initiated",
    ),
    "rds_postgres/006-replication-lag-cpu-redherring": Key("replica", _REPLICA, ("primary",)),
    "rds_postgres/008-storage-full-missing-metric": Key("primary", _FULL),
    "rds_postgres/010-replication-lag-missing-metric": Key("replica", _REPLICA, ("primary",)),
    "rds_postgres/012-replication-lag-misleading-events": Key("replica", _REPLICA, ("primary",)),
    "rds_postgres/013-storage-recovery-false-alert": Key(
        NONE,
        (OVER, ("autoscaling", "autoscaled", "autoscale", "expanded", "expansion", "storage")),
        ("primary",),
    ),
}  # fmt: skip


def truth_of(case: CaseFolder, draft: WorldDraft, changes: Mapping[str, str]) -> Truth:
    """The truth of a case in the ids of its draft; ``changes`` are ids by their summaries."""
    said = _cause(case)
    key = KEYS.get("/".join(case.key.split("/")[-2:])) or _from_answer(case)
    entities = [one for name in (key.at, *key.also) for one in _named(name, case, draft)]
    at = "" if key.at == NONE or not entities else entities[0]
    accepted = tuple(entities) if at else (NONE, *entities)
    blamed = next(
        (one for summary, one in sorted(changes.items())
         if key.blames and summary.startswith(key.blames)),
        "",
    )  # fmt: skip
    found = truth(at, said, key.terms, accepted=accepted)
    if blamed:
        found = replace(found, culprit_change=blamed, accepted_changes=(blamed, NONE))
    return found


def _cause(case: CaseFolder) -> str:
    """The cause in a sentence, as the answer key's reference answer gives it."""
    text = str(case.answer.get("model_response") or "")
    first = next((line for line in text.splitlines() if line.startswith("ROOT_CAUSE:")), "")
    return first.removeprefix("ROOT_CAUSE:").strip() or str(case.scenario.get("failure_mode"))


def _from_answer(case: CaseFolder) -> Key:
    """For a case without accept sets: what it is about, and each required keyword on its own."""
    terms = tuple((str(word),) for word in sequence(case.answer.get("required_keywords")))
    if case.answer.get("root_cause_category") == "healthy":
        return Key(NONE, (OVER,))
    if case.suite == "rds":
        return Key("primary", terms, ("replica",))
    return Key(
        f"Deployment {case.scenario.get('workload_name')}", terms,
        ("Pod *", "ReplicaSet *", "Node *", "ResourceQuota *"),
    )  # fmt: skip


def _named(name: str, case: CaseFolder, draft: WorldDraft) -> list[str]:
    primary = str(case.scenario.get("db_instance_identifier") or "")
    if name == NONE:
        return []
    if name == "primary":
        return draft.find(kind="DbInstance", name=primary)
    if name == "replica":
        said = " ".join(map(str, mapping(case.alert.get("commonAnnotations")).values()))
        return [
            one
            for one in draft.find(kind="DbInstance")
            if draft.value(one, "replica_of") == primary and draft.title(one) in said
        ]
    kind, _, called = name.partition(" ")
    if called.endswith("*"):
        return [one for one in draft.find(kind=kind) if draft.title(one).startswith(called[:-1])]
    return draft.find(kind=kind, name=called)
