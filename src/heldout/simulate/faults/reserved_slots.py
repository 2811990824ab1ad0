"""A function keeps too few slots for itself; the next burst is turned away."""

from heldout.simulate.fault import Effect, Fault, Gauge, Trigger

FAULT = Fault(
    name="reserved_slots",
    domain="capacity",
    family="concurrency limit",
    source=(
        "public: ed-donner/production PR #166 and HumanCellAtlas/data-store #1118 (parallel "
        "calls of a function refused at its reserved number), own words"
    ),
    seat="Function",
    holder=(),
    field="reserved_concurrency",
    said="{reserved concurrency}",
    values=((200, 5), (120, 4), (80, 2)),
    logs=(
        "invocation {0} throttled: {said}={new} all busy, refused with 429 after {1} ms",
        "{0} invocations turned away in this minute, {said} is {new}",
    ),
    gauge=Gauge("invocations_throttled", "per_min", 0, 410),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Invocations of {name} rose above their daily peak",
        prose="a burst needed more parallel invocations than are reserved",
        load=1.8,
    ),
    mechanism=(
        "The function's reserved concurrency was lowered from {old} to {new}; at the next burst "
        "all of it was busy and further invocations were throttled"
    ),
    terms=(
        ("reserved concurrency", "reserved_concurrency", "reserved", "function concurrency"),
        ("throttled", "throttling", "throttle", "throttles", "429", "turned away"),
    ),
    fix="Reserve {old} again",
    effects=(Effect("seat", "Invocations of {name} are throttled"),),
)
