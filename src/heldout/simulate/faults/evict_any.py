"""A cache may evict anything once it is full, counters without expiry included."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="evict_any",
    domain="datastore",
    family="cache",
    source="public: across-protocol/sdk PR #1470 (counters without expiry evicted), own words",
    seat="Service",
    holder=("reads_writes>Cache",),
    field="maxmemory_policy",
    said="maxmemory_policy",
    values=(
        ("volatile-lru", "allkeys-lru"),
        ("volatile-ttl", "allkeys-random"),
        ("noeviction", "allkeys-lru"),
    ),
    logs=(
        (
            "counter {0} read as zero, key was evicted (maxmemory_policy {new}); write refused by"
            " guard"
        ),
        "{0} guard keys missing after eviction, maxmemory_policy={new}",
    ),
    gauge=Gauge("guard_keys_missing", "count", 0, 480),
    trigger=Trigger(
        on="reads_writes>Cache",
        type="runtime",
        summary="Memory of {name} reached its ceiling",
        prose="a bulk load filled the cache to its memory ceiling",
    ),
    mechanism=(
        "The eviction policy of the cache went from {old} to {new}; when a bulk load filled the "
        "memory, counters without expiry were evicted and read as zero"
    ),
    terms=(
        ("evicted", "evict", "evicts", "eviction"),
        ("policy", "maxmemory_policy", "allkeys", "evict any"),
        ("counter", "guard", "key", "without expiry", "no ttl"),
    ),
    fix="Set the policy back to {old} and rebuild the counters",
    nears=(
        Near("workload", "its release only reads what the cache still holds"),
    ),
)  # fmt: skip
