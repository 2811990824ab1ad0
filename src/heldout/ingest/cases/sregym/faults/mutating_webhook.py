"""5: one of five admission webhooks rewrites the memory of every new pod."""

from __future__ import annotations

from heldout.ingest.cases.sregym.cluster import Body, Cluster, waiting
from heldout.ingest.cases.sregym.fault import Cause, Fault

_DAY = 86_400.0
NAME = "nginx-thrift"
OPS = "platform-ops"
HOOK = "gatekeeper-mutating-webhook-configuration"
INERT = (
    "cert-manager-webhook",
    "istio-sidecar-injector",
    "kyverno-resource-mutating-webhook-cfg",
    "linkerd-proxy-injector-webhook-config",
)


def _hook(name: str, path: str) -> Body:
    return {
        "webhooks": [
            {
                "name": f"{name}.svc",
                "failurePolicy": "Ignore",
                "sideEffects": "None",
                "clientConfig": {
                    "service": {"name": "pod-defaults", "namespace": OPS, "path": path}
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
                    "matchLabels": {"kubernetes.io/metadata.name": "social-network"}
                },
            }
        ]
    }


def _limits(body: Body) -> None:
    container = body["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"memory": "128Mi"}, "limits": {"memory": "256Mi"}}


def _inject(cluster: Cluster) -> Cause:
    # All but the active configuration is days old: recency must not single it out of its kind.
    cluster.patch(-8 * _DAY, "Deployment", NAME, _limits)
    cluster.roll(NAME)
    cluster.create(-7.9 * _DAY, "Namespace", OPS, "", status={"phase": "Active"})
    cluster.create(
        -7.9 * _DAY, "Secret", "pod-defaults-tls", OPS, type="kubernetes.io/tls", data={}
    )
    cluster.create(
        -7.9 * _DAY,
        "ConfigMap",
        "pod-defaults-rules",
        OPS,
        data={
            "rules.yaml": "mutate:\n  - match: app=nginx-thrift\n    set:\n      limits.memory: 16Mi\n",
        },
    )
    cluster.create(
        -7.9 * _DAY,
        "Deployment",
        "pod-defaults",
        OPS,
        spec={
            "replicas": 1,
            "selector": {"matchLabels": {"app": "pod-defaults"}},
            "template": {
                "metadata": {"labels": {"app": "pod-defaults"}},
                "spec": {
                    "containers": [
                        {"name": "server", "image": "registry.internal/pod-defaults:0.9"}
                    ]
                },
            },
        },
    )
    cluster.get("Deployment", "pod-defaults", OPS)["status"] = {"replicas": 1, "readyReplicas": 1}
    cluster.create(
        -7.9 * _DAY,
        "Service",
        "pod-defaults",
        OPS,
        spec={
            "selector": {"app": "pod-defaults"},
            "ports": [{"port": 443, "targetPort": 8443}],
        },
    )
    for number, inert in enumerate(INERT):
        cluster.create(
            -6 * _DAY + number, "MutatingWebhookConfiguration", inert, "", **_hook(inert, "/inert")
        )
    made = cluster.create(0, "MutatingWebhookConfiguration", HOOK, "", **_hook(HOOK, "/mutate"))
    (old,) = cluster.pods[NAME]
    cluster.delete(20, "Pod", old)
    (pod,) = cluster.roll(NAME, ready=False)
    body = cluster.get("Pod", pod)
    body["spec"]["containers"][0]["resources"] = {
        "requests": {"memory": "16Mi"},
        "limits": {"memory": "16Mi"},
    }
    body["status"] = waiting(NAME, "CrashLoopBackOff", restarts=6)
    body["status"]["containerStatuses"][0]["lastState"] = {
        "terminated": {"reason": "OOMKilled", "exitCode": 137}
    }
    for at in (25, 45, 90, 180, 350, 640):
        cluster.event(
            at, "Pod", pod, "BackOff", "Back-off restarting failed container nginx-thrift"
        )
    cluster.moved(NAME, "http_error_ratio", lambda _, calm: 1.0, 20)
    cluster.moved(NAME, "container_memory_mib", lambda since, calm: 16.0 * ((since // 60) % 2), 20)
    return Cause(
        cluster.key("MutatingWebhookConfiguration", HOOK, ""),
        changes=(made,),
        affected=(NAME,),
        field="webhooks[0].clientConfig.service.path",
    )


FAULT = Fault(
    number=5,
    name="mutating_webhook",
    app="social-network",
    family="admission rewrites pods",
    channel="graph",
    rule="KubePodNotReady",
    inject=_inject,
    mechanism="the mutating webhook overwrites the memory limit of pods at creation, and they are OOMKilled",
    terms=(
        ("webhook", "admission", "mutating", "mutates"),
        ("memory", "16mi", "limit", "limits", "oomkilled", "oom"),
    ),
    telling={"gatekeeper-mutating-webhook-configuration": "gatekeeper-webhook-configuration"},
)
