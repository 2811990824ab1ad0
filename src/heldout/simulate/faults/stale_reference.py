"""Health is judged by a version that somebody wrote down; the next release makes all look ill."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

_PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="stale_reference",
    domain="network",
    family="routing",
    source=(
        "public: mybinder 2022-01-27 (members of a federation were judged by a version that was "
        "not refreshed), own words"
    ),
    seat="Service",
    holder=("routes_to<K8sService",),
    field="annotations.health_reference",
    said="{health reference}",
    values=(("running", "r41"), ("running", "r38"), ("latest", "r52")),
    logs=(
        (
            "out of rotation: health answer carries the running version, {holder} expects {new} "
            "({said}), {0} requests turned away"
        ),
        "healthy and idle: judged by version {new}, {said} is not refreshed; {0} requests lost",
    ),
    gauge=Gauge("members_in_rotation", "count", 4, 1),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Rolling update of {name} finished",
        prose="a routine update changed the version that members answer with",
    ),
    mechanism=(
        "The health check's reference was pinned from {old} to {new}; after the next routine "
        "update healthy members answered with another version than the stale reference and were "
        "taken out of rotation"
    ),
    terms=(
        ("health reference", "health check", "health_reference", "reference"),
        ("version", "versions"),
        (
            "stale",
            "pinned",
            "expects",
            "expected",
            "outdated",
            "frozen",
            "not refreshed",
            "hard coded",
            "fixed to",
        ),
    ),
    fix="Let the reference follow {old} again",
    scope=Scope(
        over=_PODS,
        field="member_role",
        inside="follower",
        outside="primary",
        share=0.7,
        why="only followers are judged by the reference; the primary stays in rotation",
    ),
    effects=(Effect(_PODS, "{name} removed from rotation by its health check", type="pod"),),
    nears=(Near("workload", "its release is sound and only showed that the reference is stale"),),
)
