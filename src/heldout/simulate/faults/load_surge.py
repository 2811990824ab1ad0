"""More traffic than the estate was ever sized for; nothing changed."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="load_surge",
    domain="capacity",
    family="outside trouble",
    source=(
        "public: LikeLionTeam4/slash-infra #80 (the peak itself, here the only cause), own words"
    ),
    seat="Service",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        (
            "overloaded: {0} requests queued, arrival rate four times the highest of the last "
            "weeks, all replicas busy"
        ),
        "shedding load, queue {0}; autoscaler at work, every setting unchanged",
    ),
    gauge=Gauge("queue_depth", "count", 3, 1400),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Traffic on {name} rose to four times its usual peak",
        prose="an unannounced campaign sent four times the usual traffic",
        load=4.0,
    ),
    mechanism=(
        "Traffic rose to four times its usual peak and overloaded the service; no change caused it"
    ),
    terms=(
        ("traffic", "load", "demand", "arrival rate", "request rate", "arrivals"),
        ("four times", "fourfold", "surge", "overload", "overloaded", "unprecedented",
         "several times", "never seen"),
        ("rose", "highest", "peak", "surge", "spike", "usual", "increase", "increased", "grew",
         "campaign", "jumped", "four times"),
    ),
    fix="Add capacity and shed load at the edge; nothing needs to be reverted",
    cause="none",
    nears=(
        Near(
            "runs_on>Deployment scales<Hpa",
            "it is at work and adds what it may; the traffic outgrew the estate",
        ),
        Near("workload", "every setting of it is unchanged"),
    ),
)  # fmt: skip
