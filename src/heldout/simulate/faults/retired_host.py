"""The provider retires a piece of hardware, as it had announced; nothing of ours changed."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="retired_host",
    domain="external",
    family="outside trouble",
    source=(
        "public: cloud-platform 2022-11-15 (a retirement notice from two weeks before, taken for "
        "another cluster's), own words"
    ),
    seat="DbInstance",
    holder=(),
    field="",
    said="",
    values=(("", ""),),
    logs=(
        "host is being retired by the provider: storage detached, {0} sessions ended",
        "no answer from the underlying hardware for {1} ms, settings as they always were",
    ),
    gauge=Gauge("host_check_failures", "per_min", 0, 12),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Provider retired the hardware under {name}",
        prose="the provider retired the hardware on the announced day",
    ),
    mechanism=(
        "The provider retired the hardware under the store, as a notice had announced days "
        "before; no change of ours caused it"
    ),
    terms=(
        ("hardware", "host", "underlying host", "machine"),
        ("retired", "retirement", "retires", "retiring", "decommissioned"),
    ),
    fix="Start the store on other hardware; nothing of ours needs to be reverted",
    cause="none",
    effects=(
        Effect(
            "seat", "Provider notice: hardware under {name} is scheduled for retirement", days=9
        ),
    ),
    nears=(Near("constrains<DbParameterGroup", "no parameter was applied; the host went away"),),
)
