"""Rules outgrew what one shard holds, and the second one is never loaded."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="second_shard",
    domain="configuration",
    family="size limit",
    source=(
        "public: prometheus-operator #4832 (rules above a size limit went to a second shard that "
        "was not loaded; here rules of a service), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "mounts>ConfigMap"),
    field="data.{routing rules kib}",
    said="{routing rules kib}",
    values=((820, 1180), (760, 1240), (900, 1130)),
    logs=(
        (
            "no rule for request {0}: {said}={new} is above the 1024 of one shard, second shard "
            "not loaded"
        ),
        "rules loaded from one shard only, {0} requests matched nothing; {said} is {new}",
    ),
    gauge=Gauge("requests_without_rule", "per_min", 0, 310),
    trigger=Trigger(
        on="workload",
        type="runtime",
        summary="Rules of {name} were loaded anew",
        prose="the next reload read the rules anew",
    ),
    mechanism=(
        "The rules grew from {old} to {new} KiB, above the 1024 that one shard holds; at the next "
        "reload the second shard was not loaded, and requests whose rule lives there match nothing"
    ),
    terms=(
        ("rule",),
        ("shard", "second part", "second file"),
        ("kib", "size", "limit", "1024", "1 mib", "too large", "volume", "grew", "outgrew"),
        ("not loaded", "never loaded", "one shard only", "missing", "dropped", "ignored", "no rule",
         "without a rule", "match nothing", "matched nothing", "unmatched"),
    ),
    fix="Bring the rules below 1024 KiB, or load the second shard",
    effects=(Effect("workload", "Loaded 1 of 2 rule files in {name}"),),
    nears=(Near("workload", "its release is as before; it loads what one shard holds"),),
)  # fmt: skip
