"""A worker pool was cut: fine for a deploy-time check, short under traffic."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="worker_count",
    domain="capacity",
    family="concurrency limit",
    source="public: cloud-platform 2020-10-06 (a routine change crosses a hard limit), own words",
    seat="Service",
    holder=("runs_on>Deployment", "mounts>ConfigMap"),
    field="data.{worker threads}",
    said="{worker threads}",
    values=((32, 4), (24, 3), (16, 2)),
    logs=(
        "all workers busy ({said}={new}), request {0} waited {1} ms and was dropped",
        "backlog {0}, {said} is {new}",
    ),
    gauge=Gauge("worker_busy_share", "ratio", 0.4, 1.0),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Rolling update of {name} finished",
        prose="the rollout put the setting in use",
    ),
    mechanism=(
        "The number of workers was cut from {old} to {new}, so requests queued and were dropped "
        "as soon as the setting was in use"
    ),
    terms=(
        ("worker", "worker_threads", "thread"),
        ("cut", "too few", "lowered", "reduced", "decreased", "busy", "fewer", "worker_threads"),
        ("queued", "queue", "dropped", "waited", "busy", "backlog", "exhausted", "saturated"),
    ),
    fix="Set the workers back to {old}",
    lends=True,
    harmless=(
        "the remaining workers are never all busy in the metrics and no request is dropped there"
    ),
    nears=(
        Near(
            "runs_on>Deployment scales<Hpa",
            "it sees idle processors; the workers are what ran out",
        ),
        Near(
            "reads_writes>DbInstance",
            "it answers as fast as ever; requests wait before they reach it",
        ),
    ),
)  # fmt: skip
