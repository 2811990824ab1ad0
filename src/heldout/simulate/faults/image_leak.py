"""A release leaks what it opens; a month-end run makes it show."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="image_leak",
    domain="delivery",
    family="memory",
    source="public: SREGym file_descriptor_exhaustion (what is opened is never closed), own words",
    seat="Service",
    holder=("runs_on>Deployment",),
    field="image",
    said="image",
    values=(("v4.2.0", "v4.3.0"),),
    logs=(
        "no handle left for request {0}: image {new} leaks one per import, {1} open",
        "handles leak since image {new}, memory never given back, {1} open",
    ),
    gauge=Gauge("open_handles", "count", 400, 64000),
    trigger=Trigger(
        on="seat",
        type="runtime",
        summary="Month-end imports started sending to {name}",
        prose="month-end imports opened more than the process could ever leak before",
        load=1.5,
    ),
    mechanism=(
        "The release {new} never closes what it opens; each import leaks a handle and its memory, "
        "and the month-end imports used up the rest, so requests found no handle left"
    ),
    terms=(
        ("release", "image", "version", "deploy", "deployment", "rollout"),
        ("leak", "leaks", "leaking", "leaked", "never closes", "never closed", "not closed",
         "does not close", "not released", "never given back"),
        ("handle", "descriptor", "memory", "socket", "session", "connection"),
    ),
    fix="Roll back to {old}",
    effects=(Effect(PODS, "Container in {name} restarted, it had no handle left", type="pod"),),
    nears=(
        Near("runs_on>Deployment mounts>ConfigMap", "its limits are as before"),
        Near("reads_writes>DbInstance", "it has room and answers; the leak is on the near side"),
    ),
)  # fmt: skip
