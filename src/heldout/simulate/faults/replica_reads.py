"""Readers may use a replica however far it lags; a bulk load makes old rows look current."""

from heldout.simulate.fault import Fault, Gauge, Near, Scope, Trigger

_PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="replica_reads",
    domain="datastore",
    family="database setting",
    source=(
        "public: triggerdotdev/trigger.dev PR #4162 (reads of one's own writes went to lagging "
        "replicas and missed silently), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "mounts>ConfigMap"),
    field="data.{replica lag tolerance ms}",
    said="{replica lag tolerance ms}",
    values=((500, 600000), (1000, 900000), (250, 300000)),
    logs=(
        (
            "stale write refused for row {0}: it was read from a replica {1} ms behind, within "
            "{said}={new}"
        ),
        "row {0} written a moment ago is not found by the next read; {said} {new} admits replicas",
    ),
    gauge=Gauge("stale_writes_refused", "per_min", 0, 170),
    trigger=Trigger(
        on="reads_writes>DbInstance",
        type="runtime",
        summary="Bulk load into {name} began",
        prose="a bulk load made the replicas fall behind",
    ),
    mechanism=(
        "The tolerated replica lag was raised from {old} to {new} ms; when a bulk load made the "
        "replicas fall behind, reads still went to them and stale rows came back as current"
    ),
    terms=(
        ("replica", "replicas", "read replica"),
        (
            "tolerance",
            "tolerated",
            "tolerates",
            "lag_tolerance",
            "lag limit",
            "lag threshold",
            "allowed lag",
            "accepted lag",
        ),
        ("stale", "outdated", "old rows", "old data", "behind", "inconsistent"),
    ),
    fix="Set the tolerance back to {old} ms, so that late replicas are passed over",
    lends=True,
    harmless="the replicas are never more than a few milliseconds behind, under either value",
    scope=Scope(
        over=_PODS,
        field="read_pool",
        inside="replica",
        outside="writer",
        share=0.5,
        why="only replicas of the service that read from the replica pool serve old rows",
    ),
    nears=(Near("reads_writes>DbInstance", "the bulk load is ordinary and its replicas catch up"),),
)
