"""17: every new pod has to be asked of a webhook behind which there is nothing."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

HOOK = "pod-policy.validation.k8s.io"
NAME = "recommendation"


def _inject(cluster: Cluster) -> Cause:
    made = cluster.create(
        0,
        "ValidatingWebhookConfiguration",
        HOOK,
        "",
        webhooks=[
            {
                "name": HOOK,
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "timeoutSeconds": 5,
                "clientConfig": {
                    "service": {
                        "name": "pod-policy-webhook",
                        "namespace": "policy-system",
                        "path": "/validate",
                    }
                },
                "rules": [
                    {
                        "operations": ["CREATE"],
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["pods"],
                    }
                ],
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": "hotel-reservation"}
                },
            }
        ],
    )
    (old,) = cluster.pods[NAME]
    cluster.delete(20, "Pod", old)
    (pod,) = cluster.roll(NAME, ready=False)
    cluster.objects.pop(cluster.key("Pod", pod))
    new = pod.rpartition("-")[0]
    for at in (22, 42, 90, 200, 420, 680):
        cluster.event(
            at,
            "ReplicaSet",
            new,
            "FailedCreate",
            f'Error creating: Internal error occurred: failed calling webhook "{HOOK}": '
            'failed to call webhook: Post "https://pod-policy-webhook.policy-system.svc:443/'
            'validate?timeout=5s": service "pod-policy-webhook" not found',
            component="replicaset-controller",
        )
    cluster.fails(NAME, "rpc error: no healthy upstream: {}", at=25)
    return Cause(
        cluster.key("ValidatingWebhookConfiguration", HOOK, ""),
        changes=(made,),
        affected=(NAME, "frontend"),
        field="webhooks[0].failurePolicy",
    )


FAULT = Fault(
    number=17,
    name="admission_webhook_outage",
    app="hotel-reservation",
    family="admission is out",
    channel="graph",
    rule="DeploymentNotReady",
    inject=_inject,
    mechanism="the validating webhook fails closed and its backend service does not exist, so no pod is created",
    terms=(
        ("webhook", "admission"),
        (
            "service",
            "backend",
            "not found",
            "missing",
            "fail",
            "failurepolicy",
            "unreachable",
            "exist",
        ),
    ),
    telling={
        "pod-policy.validation.k8s.io": "baseline.checks.example.com",
        "pod-policy-webhook": "checks",
        "policy-system": "platform-checks",
    },
)
