"""Keys written together expire together once nothing spreads their lifetimes."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="ttl_jitter",
    domain="datastore",
    family="cache",
    source=(
        "public: openfga/openfga PR #3033 and justtrackio/gosoline PR #949 (entries of one "
        "warm-up expire at once), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "mounts>ConfigMap"),
    field="data.{cache jitter percent}",
    said="{cache jitter percent}",
    values=((20, 0), (15, 0), (25, 0)),
    logs=(
        (
            "{0} keys expired in the same second and are all rebuilt at once ({said}={new}), "
            "slowest rebuild {1} ms"
        ),
        "hit share near zero for a moment, {0} rebuilds queued; {said} is {new}",
    ),
    gauge=Gauge("rebuilds_in_flight", "count", 4, 760),
    trigger=Trigger(
        on="reads_writes>Cache",
        type="runtime",
        summary="Keys of the last bulk refresh of {name} reached their age",
        prose="keys that one bulk refresh had written together reached their age together",
    ),
    mechanism=(
        "The jitter on cache lifetimes was cut from {old} to {new} percent; keys that one bulk "
        "refresh had written expired in the same second and their rebuilds stampeded the service"
    ),
    terms=(
        ("jitter", "cache_jitter_percent", "spread of lifetimes", "staggering"),
        ("expire", "expired", "expires", "expiry", "expiration"),
        (
            "stampede",
            "stampeded",
            "same second",
            "at once",
            "together",
            "simultaneously",
            "same time",
            "herd",
        ),
    ),
    fix="Set the jitter back to {old} percent",
    lends=True,
    harmless="its keys are written one by one all day, so that they expire apart from each other",
    effects=(Effect("reads_writes>Cache", "Expired keys of {name} rose a hundredfold"),),
    nears=(Near("reads_writes>Cache", "it expires keys as it was told and has room to spare"),),
)
