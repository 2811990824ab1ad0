"""A sync that heals drift takes the autoscaler's replicas away again."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="self_heal",
    domain="delivery",
    family="autoscaling",
    source=(
        "public: open-bank-oss PR #273 (self-heal resets replicas where the ignore rule is "
        "missing), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "declared_in>GitOpsApplication"),
    field="sync_policy.ignore_replicas",
    said="ignore_replicas",
    values=((True, False),),
    logs=(
        (
            "{0} requests shed: replicas set back to the declared number by sync of {holder} "
            "({said}={new})"
        ),
        "replica stopped {1} ms after it was ready, sync of {holder} heals replicas: {said} {new}",
    ),
    gauge=Gauge("replica_flaps", "per_h", 0, 34),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose above its daily peak",
        prose="a traffic peak made the autoscaler add replicas, which each sync took away",
        load=1.9,
    ),
    mechanism=(
        "The application no longer ignores replicas ({old} to {new}), so its self-healing sync "
        "reset them to the declared number each time the autoscaler had added some at the peak"
    ),
    terms=(
        ("sync", "gitops", "self-heal", "self-healing", "reconcile", "reconciled", "argo",
         "application", "ignore_replicas"),
        ("replica",),
        ("set back", "reset", "resets", "reverted", "reverts", "overwritten", "overwrites",
         "undone", "undoes", "flap", "flaps", "flapping", "heals", "took away", "scaled back"),
    ),
    fix="Let the application ignore replicas again",
    effects=(
        Effect("workload", "Scaled down {name} to the number that {holder} declares"),
        Effect(
            "runs_on>Deployment scales<Hpa", "Rescaled target of {name} three times", type="scale"
        ),
    ),
    nears=(
        Near(
            "runs_on>Deployment scales<Hpa",
            "it asks for enough replicas; what it adds is taken away",
        ),
        Near("workload", "nobody edited its replicas; the sync writes them"),
    ),
)  # fmt: skip
