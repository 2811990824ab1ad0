"""For each check: the change that makes its fault in a healthy town, and look-alikes of it.

A fault starts from the healthy town. A look-alike is applied to a town with or without the fault,
and must leave nothing to find.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.health.town import EARLY, RECENT, Town

Change = Callable[[Town], Any]


@dataclass(frozen=True)
class Case:
    """A check, its fault, how often it is told, and legal things that look like it."""

    check: str
    fault: Change
    alike: dict[str, Change]
    """What each look-alike is, with what is changed on top of the fault."""


CASES: list[Case] = []


def case(check: str, fault: Change, **alike: Change) -> None:
    """Add a case."""
    CASES.append(Case(check, fault, alike))


def healthy(*changes: Change) -> Change:
    """A look-alike that needs no fault: the marker makes the test start from a healthy town."""

    def apply(town: Town) -> None:
        for change in changes:
            change(town)

    apply.from_healthy = True  # type: ignore[attr-defined]
    return apply


def scaled_down(town: Town, name: str) -> None:
    """A workload with no pods by choice."""
    for pod in town.pods(name):
        town.items.remove(pod)
    for maker in town.makers(name):
        maker["spec"]["replicas"] = 0
        maker["status"] = {}


def unlisted(kind: str) -> Change:
    """As if this kind had not been asked for at all."""

    def apply(town: Town) -> None:
        town.items[:] = [one for one in town.items if one["kind"] != kind]

    return apply


def envs(town: Town) -> list[list[dict[str, Any]]]:
    return [spec["containers"][0]["env"] for spec in town.specs(town.app)]


def server(town: Town, name: str) -> list[dict[str, Any]]:
    return [spec["containers"][0] for spec in town.specs(name)]


# What pods refer to.
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


def bare_listing(town: Town) -> None:
    """A listing without anything that shows it to be whole."""
    town.drop("ConfigMap", "kube-root-ca.crt")
    town.drop("ServiceAccount", "default")


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


def unready(town: Town, name: str) -> None:
    for pod in town.pods(name):
        pod["status"]["conditions"][0]["status"] = "False"
    for maker in town.makers(name):
        maker["status"]["readyReplicas"] = 0


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


# Where traffic goes.
def no_selector_match(town: Town) -> None:
    town.one("Service", town.app)["spec"]["selector"] = {"app": town.app, "version": "2"}


case(
    "service-without-endpoints",
    no_selector_match,
    external=lambda town: town.one("Service", town.app)["spec"].update(type="ExternalName"),
    scaled_down=lambda town: scaled_down(town, town.app),
)


def picks_caller(town: Town) -> None:
    town.one("Service", town.app)["spec"]["selector"] = {"app": town.caller}


case(
    "wrong-pods-selected",
    picks_caller,
    declares_none=lambda town: [one.update(ports=[], readinessProbe={})
                                for one in server(town, town.caller)],
    nobody_else=lambda town: [one.update(ports=[{"name": "web", "containerPort": 7000}])
                              for one in server(town, town.app)],
)  # fmt: skip


def target(value: Any) -> Change:
    def apply(town: Town) -> None:
        town.one("Service", town.app)["spec"]["ports"][0]["targetPort"] = value

    return apply


case(
    "target-port-unnamed",
    target("grpc"),
    number=target(18080),
    named_so=target("web"),
    no_ready_pod=lambda town: unready(town, town.app),
)
case(
    "probe-port-unknown",
    lambda town: [
        one["readinessProbe"]["httpGet"].update(port="health") for one in server(town, town.app)
    ],
    number=lambda town: [
        one["readinessProbe"]["httpGet"].update(port=18080) for one in server(town, town.app)
    ],
    scaled_down=lambda town: scaled_down(town, town.app),
)


def local_traffic(town: Town) -> None:
    town.one("Service", town.app)["spec"]["internalTrafficPolicy"] = "Local"
    for pod in town.pods(town.app):
        pod["spec"]["nodeName"] = town.nodes[0]


def spread(town: Town) -> None:
    for pod, node in zip(town.pods(town.app), town.nodes, strict=True):
        pod["spec"]["nodeName"] = node


case(
    "local-traffic-without-pods",
    local_traffic,
    spread=spread,
    cluster_wide=lambda town: town.one("Service", town.app)["spec"].update(
        internalTrafficPolicy="Cluster"
    ),
    no_caller=lambda town: [
        spec["containers"][0].update(env=[]) for spec in town.specs(town.caller)
    ],
)


def deny(**spec: Any) -> Change:
    def apply(town: Town) -> None:
        town.add("NetworkPolicy", f"policy-{len(town.items)}", apiVersion="networking.k8s.io/v1",
                 spec={"podSelector": {}, "policyTypes": ["Ingress"], **spec})  # fmt: skip

    return apply


case(
    "denying-policy",
    deny(),
    with_allows=deny(ingress=[{"from": [{"podSelector": {}}]}]),
    other_pods=healthy(deny(podSelector={"matchLabels": {"app": "nobody"}})),
)


def other_ingress(town: Town) -> dict[str, Any]:
    copy = town.add("Ingress", f"{town.app}-z", apiVersion="networking.k8s.io/v1",
                    spec={"ingressClassName": "edge",
                          "rules": town.one("Ingress", town.app)["spec"]["rules"]})  # fmt: skip
    copy["spec"] = json.loads(json.dumps(copy["spec"]))
    copy["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] = town.caller
    return copy


case(
    "contested-route",
    other_ingress,
    canary=lambda town: town.one("Ingress", f"{town.app}-z")["metadata"].update(
        annotations={"example.test/canary": "true"}
    ),
    other_path=lambda town: town.one("Ingress", f"{town.app}-z")["spec"]["rules"][0]["http"][
        "paths"
    ][0].update(path="/new"),
)


# What pods are and hold.
def no_dns(town: Town) -> None:
    for spec in town.specs(town.app):
        spec["dnsPolicy"] = "None"


case(
    "dns-policy-none",
    no_dns,
    own_servers=lambda town: [
        spec.update(dnsConfig={"nameservers": ["10.0.0.10"]}) for spec in town.specs(town.app)
    ],
)


def shadow(value: Any) -> Change:
    def apply(town: Town) -> None:
        for env in envs(town):
            env[:] = [one for one in env if one["name"] != "SIZE"]
            env.append({"name": "SIZE", "value": "20"})
            env.append({"name": "SIZE", **value})

    return apply


case(
    "shadowed-variable",
    shadow({"value": "2"}),
    same=shadow({"value": "20"}),
    own_field=shadow({"valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['size']"}}}),
    unresolved=shadow({"value": "$(MODE)"}),
    scaled_down=lambda town: scaled_down(town, town.app),
)


def rotated(at: str) -> Change:
    def apply(town: Town) -> None:
        secret = town.one("Secret", f"{town.app}-keys")
        secret["metadata"]["managedFields"][0]["time"] = at

    return apply


def as_files(town: Town) -> None:
    for spec in town.specs(town.app):
        spec["containers"][0]["env"].pop(1)
        spec["volumes"].append({"name": "keys", "secret": {"secretName": f"{town.app}-keys"}})


case(
    "stale-credential",
    rotated("2026-03-04T10:00:00Z"),
    before_start=rotated("2026-03-04T07:00:00Z"),
    as_files=as_files,
    unknown=lambda town: town.one("Secret", f"{town.app}-keys")["metadata"].pop("managedFields"),
)


def job_pod(town: Town) -> dict[str, Any]:
    return town.one("Pod", f"{town.job}-x")


def ended(at: str, code: int = 0) -> Change:
    def apply(town: Town) -> None:
        job_pod(town)["status"]["containerStatuses"][0]["state"] = {
            "terminated": {"exitCode": code, "finishedAt": at}
        }

    return apply


def native_sidecar(town: Town) -> None:
    pod = job_pod(town)
    pod["spec"]["initContainers"] = [{**pod["spec"]["containers"].pop(), "restartPolicy": "Always"}]
    pod["status"]["initContainerStatuses"] = [pod["status"]["containerStatuses"].pop()]


case(
    "sidecar-blocks-completion",
    ended(EARLY),
    just_now=ended(RECENT),
    failed=ended(EARLY, 1),
    native=native_sidecar,
    no_job=lambda town: job_pod(town)["metadata"].update(ownerReferences=[]),
)


def limit_of(items: list[dict[str, Any]], value: str | None) -> None:
    for spec in items:
        limits = spec["containers"][0]["resources"]["limits"]
        limits.pop("memory")
        if value:
            limits["memory"] = value


case(
    "rewritten-memory-limit",
    lambda town: limit_of([pod["spec"] for pod in town.pods(town.app)], "96Mi"),
    raised=lambda town: limit_of([pod["spec"] for pod in town.pods(town.app)], "256Mi"),
    template_without=lambda town: limit_of(
        [one["spec"]["template"]["spec"] for one in town.makers(town.app)], None
    ),
    autoscaled=lambda town: [
        pod["metadata"].update(annotations={"vpaUpdates": "limits"}) for pod in town.pods(town.app)
    ],
)


# What may run, and where.
def undeclared(town: Town) -> None:
    for spec in town.specs(town.app):
        for group in ("requests", "limits"):
            spec["containers"][0]["resources"][group].pop("memory")


case(
    "undeclared-memory",
    undeclared,
    defaulted=lambda town: town.one("LimitRange")["spec"]["limits"][0].update(
        default={"memory": "64Mi"}
    ),
    other_quota=lambda town: town.one("ResourceQuota").update(spec={"hard": {"pods": "20"}}),
    scoped=lambda town: town.one("ResourceQuota")["spec"].update(scopes=["Terminating"]),
)


def first_waits(town: Town) -> dict[str, Any]:
    for maker in town.makers(town.app):
        maker["status"]["readyReplicas"] = 1
    return town.wait(town.pods(town.app)[0])


def waits_for(pool: str) -> Change:
    def apply(town: Town) -> None:
        first_waits(town)["spec"]["nodeSelector"] = {"pool": pool}

    return apply


case(
    "unsatisfiable-node-selector",
    waits_for("gpu"),
    fits=lambda town: town.pods(town.app)[0]["spec"].update(nodeSelector={"pool": town.pool}),
    bound=lambda town: town.pods(town.app)[0]["spec"].update(nodeName=town.nodes[0]),
)


def taint(effect: str) -> Change:
    def apply(town: Town) -> None:
        first_waits(town)
        for node in town.nodes:
            taint = {"key": "spare", "value": "yes", "effect": effect}
            town.one("Node", node)["spec"]["taints"] = [taint]

    return apply


case(
    "untolerated-taints",
    taint("NoSchedule"),
    preferred=taint("PreferNoSchedule"),
    tolerated=lambda town: town.pods(town.app)[0]["spec"].update(
        tolerations=[{"key": "spare", "operator": "Exists"}]
    ),
    one_is_free=lambda town: town.one("Node", town.nodes[0])["spec"].pop("taints"),
    not_said=lambda town: town.wait(town.pods(town.app)[0], unschedulable=False),
)


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity(values: list[str], rule: str = REQUIRED) -> Change:
    def apply(town: Town) -> None:
        terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": values}]}]
        said = {"nodeSelectorTerms": terms} if rule == REQUIRED else terms
        first_waits(town)["spec"]["affinity"] = {"nodeAffinity": {rule: said}}

    return apply


case(
    "unsatisfiable-affinity",
    affinity(["z9"]),
    fits=affinity(["z9", "z1"]),
    preferred=affinity(["z9"], PREFERRED),
)


def asks(memory: str) -> Change:
    def apply(town: Town) -> None:
        pod = first_waits(town)
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1", "memory": memory}}

    return apply


case(
    "request-beyond-nodes",
    asks("20Gi"),
    fits_when_empty=asks("15Gi"),
    unknown_room=lambda town: town.one("Node", town.nodes[1])["status"].pop("allocatable"),
)


def host_port(protocol: str = "TCP") -> Change:
    def apply(town: Town) -> None:
        waiting = first_waits(town)
        for pod in (waiting, *town.pods(town.caller)):
            own = protocol if pod is waiting else "TCP"
            port = {"name": "web", "containerPort": 9090, "hostPort": 9090, "protocol": own}
            pod["spec"]["containers"][0]["ports"] = [port]

    return apply


case(
    "host-port-taken",
    host_port(),
    other_protocol=host_port("UDP"),
    one_is_free=lambda town: town.pods(town.caller)[0]["spec"]["containers"][0].update(
        ports=[{"name": "web", "containerPort": 9090}]
    ),
)


def full(used: str) -> Change:
    def apply(town: Town) -> None:
        town.one("ResourceQuota")["status"] = {"used": {"pods": used, "requests.memory": "1Gi"}}
        for maker in town.makers(town.app):
            maker["spec"]["replicas"] = 3

    return apply


case(
    "quota-full",
    full("20"),
    room=full("19"),
    all_there=lambda town: [m["spec"].update(replicas=2) for m in town.makers(town.app)],
    scoped=lambda town: town.one("ResourceQuota")["spec"].update(scopes=["BestEffort"]),
)
case(
    "refused-by-limit-range",
    lambda town: limit_of(town.specs(town.app), "2Gi"),
    other_type=lambda town: town.one("LimitRange")["spec"]["limits"][0].update(type="Pod"),
    scaled_down=lambda town: scaled_down(town, town.app),
)


def volume(mode: str = "ReadWriteOnce", phase: str = "Pending") -> Change:
    def apply(town: Town) -> None:
        town.one("PersistentVolumeClaim")["spec"]["accessModes"] = [mode]
        name = f"{town.store}-copy"
        if not any(one["metadata"]["name"] == name for one in town.items):
            claim = {"persistentVolumeClaim": {"claimName": f"{town.store}-data"}}
            town.add("Pod", name, metadata={"labels": {"app": "copy"}},
                     spec={"containers": [{"name": "copy"}], "volumes": [claim]})  # fmt: skip
        town.one("Pod", name)["status"] = {"phase": phase}

    return apply


case(
    "volume-held-elsewhere",
    volume(),
    shared=volume("ReadWriteMany"),
    ended=volume(phase="Succeeded"),
)


# Who scales, evicts and deletes.
def second_scaler(kind: str = "Deployment") -> Change:
    def apply(town: Town) -> None:
        name = f"{town.app}-z"
        town.items[:] = [one for one in town.items if one["metadata"]["name"] != name]
        town.add("HorizontalPodAutoscaler", name, spec={
            "scaleTargetRef": {"kind": kind, "name": town.app},
            "metrics": [{"type": "External"}]})  # fmt: skip

    return apply


case(
    "rival-autoscalers",
    second_scaler(),
    other_kind=second_scaler("Rollout"),
    other_target=lambda town: town.one("HorizontalPodAutoscaler", f"{town.app}-z")["spec"][
        "scaleTargetRef"
    ].update(name=town.caller),
)


def no_cpu(town: Town) -> None:
    for spec in town.specs(town.app):
        for group in ("requests", "limits"):
            spec["containers"][0]["resources"][group].pop("cpu", None)


case(
    "autoscaler-without-request",
    no_cpu,
    limit_counts=lambda town: [
        spec["containers"][0]["resources"]["limits"].update(cpu="1")
        for spec in town.specs(town.app)
    ],
    absolute=lambda town: town.one("HorizontalPodAutoscaler")["spec"]["metrics"][0]["resource"][
        "target"
    ].update(type="AverageValue"),
    defaulted=lambda town: [
        pod["spec"]["containers"][0]["resources"]["requests"].update(cpu="50m")
        for pod in town.pods(town.app)
    ],
)


def second_budget(app: str = "") -> Change:
    def apply(town: Town) -> None:
        selector = {"matchLabels": {"app": app or town.app}}
        town.add("PodDisruptionBudget", f"{town.app}-z",
                 spec={"maxUnavailable": 1, "selector": selector})  # fmt: skip

    return apply


case(
    "overlapping-budgets",
    second_budget(),
    other_pods=healthy(second_budget("nobody")),
)


def cordoned(**budget: Any) -> Change:
    def apply(town: Town) -> None:
        town.one("Node", town.nodes[0])["spec"]["unschedulable"] = True
        spec = town.one("PodDisruptionBudget")["spec"]
        town.one("PodDisruptionBudget")["spec"] = {"selector": spec["selector"], **budget}

    return apply


case(
    "drain-blocked",
    cordoned(maxUnavailable=0),
    allows_one=cordoned(minAvailable=1),
    half=cordoned(maxUnavailable="50%"),
    takes_pods=lambda town: town.one("Node", town.nodes[0])["spec"].pop("unschedulable"),
)


def deleted(at: str, *finalizers: str) -> Change:
    def apply(town: Town) -> None:
        town.one("ConfigMap", f"{town.app}-settings")["metadata"].update(
            deletionTimestamp=at, finalizers=list(finalizers)
        )

    return apply


def claim_in_use(town: Town) -> None:
    town.one("PersistentVolumeClaim")["metadata"].update(
        deletionTimestamp=EARLY, finalizers=["kubernetes.io/pvc-protection"]
    )


case(
    "stuck-deletion",
    deleted(EARLY, "example.test/cleanup"),
    just_now=deleted(RECENT, "example.test/cleanup"),
    no_finalizer=deleted(EARLY),
    in_use=healthy(claim_in_use),
)
