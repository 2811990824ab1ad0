"""An apply put the declared size back over one that was set by hand in an earlier emergency."""

from heldout.simulate.fault import Effect, Fault, Gauge, Trigger

FAULT = Fault(
    name="drift_reapplied",
    domain="datastore",
    family="cache",
    source=(
        "public: gitpod-io/gitpod #10497 (what was set by hand and what is declared drifted "
        "apart) and mozilla/kitsune PR #3185, own words"
    ),
    seat="Cache",
    holder=(),
    field="shard_count",
    said="{shard count}",
    values=((6, 2), (8, 3), (5, 1)),
    logs=(
        (
            "engine saturated, {0} commands queued: {said}={new} as declared, the {old} shards "
            "set by hand are gone"
        ),
        "slot owners overlap, slowest command {1} ms; declared {said} {new} was put back",
    ),
    gauge=Gauge("engine_busy_share", "ratio", 0.38, 0.99),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="the next peak met the small size again",
        load=1.8,
    ),
    mechanism=(
        "The cache had been scaled to {old} shards by hand; the declared {new} was put back over "
        "it, and the next peak saturated the few shards that were left"
    ),
    terms=(
        ("shard", "shards", "shard_count"),
        (
            "declared",
            "declaration",
            "by hand",
            "hand made",
            "manual",
            "manually",
            "hot fix",
            "hotfix",
            "console",
            "put back",
            "overwritten",
            "reapplied",
            "re applied",
            "reverted",
        ),
        ("saturated", "saturation", "overloaded", "queued", "too few", "too small", "capacity"),
    ),
    fix="Scale to {old} shards again and write {old} into the declaration",
    effects=(Effect("seat", "Drift report of {name}: in line with its declaration ({new})"),),
)
