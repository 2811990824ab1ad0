"""A node was drained and replicas came up elsewhere; it was over before anyone looked."""

from heldout.simulate.fault import Effect, Fault, Gauge, Trigger

FAULT = Fault(
    name="drain_blip",
    domain="kubernetes",
    family="passed trouble",
    source=(
        "public: mybinder.org-deploy PR #525 (an outage that was over while it was being looked "
        "into), own words"
    ),
    seat="Service",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        "connection refused while replicas restart elsewhere after a node drain, request {0}",
        "fewer replicas than usual during the drain, {0} requests waited {1} ms",
    ),
    gauge=Gauge("replicas_starting", "count", 0, 3),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Replicas of {name} were evicted by a node drain",
        prose="a node drain moved replicas",
    ),
    mechanism=(
        "A node drain moved replicas and calls failed for a few minutes; the service recovered "
        "by itself once they were up again, nothing is broken now"
    ),
    terms=(
        (
            "recovered",
            "healed",
            "resolved",
            "transient",
            "already over",
            "is over",
            "has passed",
            "back to normal",
            "cleared",
            "self healed",
            "subsided",
        ),
        (
            "node drain",
            "drain of a node",
            "drained node",
            "node was drained",
            "evicted",
            "eviction",
            "rescheduled",
            "moved replicas",
            "restarted elsewhere",
            "restart elsewhere",
        ),
    ),
    fix="Nothing to revert; keep more replicas up during drains",
    cause="recovered",
    effects=(Effect("workload", "Replacements for replicas of {name} are starting", type="pod"),),
)
