"""Retention became shorter than a reader's pause."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="retention_cut",
    domain="messaging",
    family="message flow",
    source=(
        "public: PostHog PR #54411 (readers stop silently; here records were deleted first), own "
        "words"
    ),
    seat="Service",
    holder=("consumes_from>KafkaTopic",),
    field="config.retention_hours",
    said="{retention hours}",
    values=((168, 6), (72, 4), (120, 8)),
    logs=(
        (
            "offset {0} out of range: segment already deleted ({said} of {holder} is {new}), "
            "position lost"
        ),
        "skipped {0} records that were deleted before they were read, {said}={new}",
    ),
    gauge=Gauge("records_lost", "per_min", 0, 3200),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Readers of {name} resumed after a pause",
        prose="readers resumed after a pause longer than the retention",
    ),
    mechanism=(
        "The topic's retention was cut from {old} to {new} hours; readers that paused longer "
        "found their offset deleted and lost records"
    ),
    terms=(
        ("retention", "retention_hours"),
        ("offset", "position", "deleted", "out of range", "lost", "skipped"),
        ("cut", "shortened", "shorter", "lowered", "reduced", "decreased", "deleted", "already",
         "too short", "expired"),
    ),
    fix="Set retention back to {old} hours and replay the lost records",
    nears=(
        Near("workload", "a pause of its readers was harmless as long as records were kept"),
    ),
)  # fmt: skip
