"""A cap on calls per client was set below what one batch client sends."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="rate_cap",
    domain="configuration",
    family="rate limit",
    source="public: cloud-platform 2023-01-11 (refused by a limit on logins), own words",
    seat="Service",
    holder=("runs_on>Deployment", "mounts>ConfigMap"),
    field="data.{client rate per second}",
    said="{client rate per second}",
    values=((400, 40), (250, 25), (600, 50)),
    logs=(
        "refused with 429: client {0} above {said}={new}, retry after {1} ms",
        "limiter full for {0} clients, {said} is {new}",
    ),
    gauge=Gauge("refused_by_limiter", "per_min", 2, 540),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Nightly settlement client began sending to {name}",
        prose="a batch client that sends far more than others began its run",
        load=1.4,
    ),
    mechanism=(
        "The limit on calls of one client was lowered from {old} to {new} per second; when the "
        "batch client began its run its calls were refused with 429"
    ),
    terms=(
        ("rate", "429", "limiter", "throttled", "throttling"),
        ("client", "client_rate_per_second", "caller"),
        ("cap", "limit", "lowered", "too low", "reduced", "decreased", "above", "per client",
         "client_rate_per_second"),
    ),
    fix="Restore {old} per second, or give the batch client a limit of its own",
    nears=(
        Near("workload", "its release refuses by a setting, not by a defect"),
        Near(
            "runs_on>Deployment scales<Hpa",
            "more replicas would refuse as well; they are not busy",
        ),
    ),
)  # fmt: skip
