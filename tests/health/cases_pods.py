"""Faults of what pods hold, where they may run, and who scales, evicts and deletes."""

from __future__ import annotations

from typing import Any

from tests.health.case import Change, case, envs, healthy, scaled_down
from tests.health.town import EARLY, RECENT, Town


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
