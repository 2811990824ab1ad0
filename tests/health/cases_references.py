"""Faults of what objects refer to."""

from __future__ import annotations

from typing import Any

from tests.health.case import (
    Change,
    bare_listing,
    case,
    envs,
    healthy,
    scaled_down,
    unlisted,
    unready,
)
from tests.health.town import Town


def without_settings(town: Town) -> None:
    town.drop("ConfigMap", f"{town.app}-settings")


def optional_settings(town: Town) -> None:
    for one in town.items:
        holder = one.get("spec", {})
        for volume in holder.get("template", {}).get("spec", holder).get("volumes", []):
            if "configMap" in volume:
                volume["configMap"]["optional"] = True
    for env in envs(town):
        env[0]["valueFrom"]["configMapKeyRef"]["optional"] = True


case(
    "missing-config-map",
    without_settings,
    optional=optional_settings,
    not_whole=bare_listing,
)


def pull_secret(town: Town) -> None:
    for spec in town.specs(town.app):
        spec["imagePullSecrets"] = [{"name": "registry"}]


case(
    "missing-secret",
    lambda town: town.drop("Secret", f"{town.app}-keys"),
    pull=healthy(pull_secret),
    optional=lambda town: [
        env[1]["valueFrom"]["secretKeyRef"].update(optional=True) for env in envs(town)
    ],
    scaled_down=lambda town: scaled_down(town, town.app),
    not_listed=unlisted("Secret"),
)


def other_key(town: Town) -> None:
    town.one("ConfigMap", f"{town.app}-settings")["data"] = {"style": "x"}


case(
    "missing-key",
    other_key,
    optional=lambda town: [
        env[0]["valueFrom"]["configMapKeyRef"].update(optional=True) for env in envs(town)
    ],
    scaled_down=lambda town: scaled_down(town, town.app),
    declared_only=bare_listing,
)


def no_claim(town: Town) -> None:
    for spec in town.specs(town.app):
        spec["volumes"].append({"name": "work", "persistentVolumeClaim": {"claimName": "work"}})


case(
    "missing-claim",
    no_claim,
    scaled_down=lambda town: scaled_down(town, town.app),
    not_listed=unlisted("PersistentVolumeClaim"),
)


def account(name: str) -> Change:
    def apply(town: Town) -> None:
        for spec in town.specs(town.app):
            spec["serviceAccountName"] = name

    return apply


case(
    "missing-service-account",
    account("runner"),
    there=lambda town: town.add("ServiceAccount", "runner"),
    not_whole=bare_listing,
)


def priority(name: str) -> Change:
    def apply(town: Town) -> None:
        for spec in town.specs(town.app):
            spec["priorityClassName"] = name

    return apply


case(
    "missing-priority-class",
    priority("urgent"),
    built_in=priority("system-cluster-critical"),
    not_listed=unlisted("PriorityClass"),
)


# What other objects refer to.
def lost_class(town: Town) -> None:
    claim = town.one("PersistentVolumeClaim")
    claim["spec"]["storageClassName"] = "slow"
    claim["status"] = {"phase": "Pending"}


case(
    "missing-storage-class",
    lost_class,
    bound=lambda town: town.one("PersistentVolumeClaim").update(status={"phase": "Bound"}),
    made_by_hand=lambda town: town.add(
        "PersistentVolume", "disk", wide=True, spec={"storageClassName": "slow"}
    ),
)


def ingress_class(town: Town) -> None:
    town.one("Ingress")["spec"]["ingressClassName"] = "gone"


def by_annotation(town: Town) -> None:
    ingress = town.one("Ingress")
    ingress["spec"].pop("ingressClassName")
    ingress["metadata"]["annotations"] = {"kubernetes.io/ingress.class": "gone"}


case(
    "missing-ingress-class",
    ingress_class,
    by_annotation=by_annotation,
    served=lambda town: town.one("Ingress").update(
        status={"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}
    ),
    not_listed=unlisted("IngressClass"),
)


def backend(town: Town) -> dict[str, Any]:
    path = town.one("Ingress")["spec"]["rules"][0]["http"]["paths"][0]
    found: dict[str, Any] = path["backend"]
    return found


case(
    "missing-ingress-service",
    lambda town: backend(town)["service"].update(name="gone"),
    resource=lambda town: [
        backend(town).clear(),
        backend(town).update(resource={"kind": "StorageBucket", "name": "gone"}),
    ],
    not_whole=bare_listing,
)
case(
    "ingress-port-unknown",
    lambda town: backend(town)["service"].update(port={"number": 8443}),
    by_name=lambda town: backend(town)["service"].update(port={"name": "http"}),
    alias=lambda town: backend(town)["service"].update(name="alias"),
)
case(
    "missing-certificate",
    lambda town: town.drop("Secret", f"{town.app}-cert"),
    default_one=lambda town: town.one("Ingress")["spec"].update(tls=[{"hosts": ["a"]}]),
    not_listed=unlisted("Secret"),
)


def hook(town: Town) -> dict[str, Any]:
    found: dict[str, Any] = town.one("ValidatingWebhookConfiguration")["webhooks"][0]
    return found


case(
    "missing-webhook-service",
    lambda town: hook(town)["clientConfig"]["service"].update(name="gone"),
    ignored=lambda town: hook(town).update(failurePolicy="Ignore"),
    by_url=lambda town: hook(town).update(clientConfig={"url": "https://check.example.test"}),
    elsewhere=lambda town: hook(town)["clientConfig"]["service"].update(namespace="not-listed"),
)


case(
    "webhook-without-endpoints",
    lambda town: unready(town, town.caller),
    ignored=lambda town: hook(town).update(failurePolicy="Ignore"),
    one_is_ready=lambda town: town.pods(town.caller)[0]["status"]["conditions"][0].update(
        status="True"
    ),
    kept_elsewhere=lambda town: town.one("Service", town.caller)["spec"].pop("selector"),
)
case(
    "missing-scale-target",
    lambda town: town.one("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"].update(name="gone"),
    own_kind=lambda town: town.one("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"].update(
        kind="Rollout"
    ),
    not_whole=bare_listing,
)
case(
    "missing-governing-service",
    lambda town: town.drop("Service", town.store),
    called_by_nobody=lambda town: [env.pop(2) for env in envs(town)],
    not_whole=bare_listing,
)
case(
    "missing-role",
    lambda town: town.one("RoleBinding")["roleRef"].update(name="gone"),
    nobody=lambda town: town.one("RoleBinding").update(subjects=[]),
    not_listed=unlisted("Role"),
)
case(
    "missing-alias-target",
    lambda town: town.one("Service", "alias")["spec"].update(
        externalName=f"gone.{town.ns}.svc.cluster.local"
    ),
    outside=lambda town: town.one("Service", "alias")["spec"].update(
        externalName="gone.example.test"
    ),
    elsewhere=lambda town: town.one("Service", "alias")["spec"].update(
        externalName="gone.not-listed.svc.cluster.local"
    ),
)
