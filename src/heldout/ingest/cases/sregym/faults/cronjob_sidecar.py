"""1: a CronJob whose second container never ends, so that no Job of it completes."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import MINUTE, Body, Cluster, iso_at
from heldout.ingest.cases.sregym.fault import Cause, Fault

_DAY = 86_400.0
NAME = "audit-log-archiver"


def _inject(cluster: Cluster) -> Cause:
    archiver = {
        "name": "archiver",
        "image": "registry.internal/archiver:1.4",
        "command": ["archive"],
    }
    spec = {
        "schedule": "* * * * *",
        "concurrencyPolicy": "Allow",
        "jobTemplate": {
            "spec": {
                "template": {
                    "spec": {
                        "restartPolicy": "Never",
                        "containers": [archiver],
                    }
                }
            }
        },
    }
    # The job itself is older than the trouble: only its second container came now.
    cluster.create(-9 * _DAY, "CronJob", NAME, spec=spec)

    def edit(body: Body) -> None:
        body["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"].append(
            {"name": "fluent-bit-sidecar", "image": "registry.internal/fluent-bit:3.1"}
        )

    made = cluster.patch(0, "CronJob", NAME, edit)
    for number in range(12):
        job = f"{NAME}-{29553847 + number}"
        cluster.put(
            "Job",
            job,
            metadata={"ownerReferences": [{"kind": "CronJob", "name": NAME}]},
            spec={
                "completions": 1,
                "parallelism": 1,
            },
            status={"active": 1, "succeeded": 0},
        )
        cluster.put(
            "Pod",
            f"{job}-x{number}",
            metadata={
                "ownerReferences": [{"kind": "Job", "name": job}],
            },
            spec={"nodeName": "worker-1", "containers": [archiver, {"name": "fluent-bit-sidecar"}]},
            status={
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "False"}],
                "containerStatuses": [
                    {
                        "name": "archiver",
                        "ready": False,
                        "restartCount": 0,
                        "state": {
                            "terminated": {
                                "exitCode": 0,
                                "reason": "Completed",
                                "finishedAt": iso_at(60 * number + 5),
                            }
                        },
                    },
                    {
                        "name": "fluent-bit-sidecar",
                        "ready": True,
                        "restartCount": 0,
                        "state": {"running": {"startedAt": iso_at(60 * number + 2)}},
                    },
                ],
            },
        )
        cluster.event(
            number * MINUTE + 1,
            "CronJob",
            NAME,
            "SuccessfulCreate",
            f"Created job {job}",
            component="cronjob-controller",
            type="Normal",
        )
    return Cause(
        cluster.key("CronJob", NAME),
        changes=(made,),
        field="spec.jobTemplate.spec.template.spec.containers",
    )


FAULT = Fault(
    number=1,
    name="cronjob_sidecar",
    app="hotel-reservation",
    family="job never completes",
    channel="graph",
    rule="PodStatusError",
    inject=_inject,
    mechanism="a regular sidecar container never ends, so the Jobs never complete and pile up",
    terms=(
        ("sidecar", "second container", "fluent-bit", "fluentbit"),
        (
            "complete",
            "completes",
            "completed",
            "completion",
            "finish",
            "finishes",
            "terminate",
            "never ends",
            "keeps running",
            "pile up",
        ),
    ),
    telling={"audit-log-archiver": "nightly-copy", "fluent-bit-sidecar": "fluent-bit-agent"},
)
