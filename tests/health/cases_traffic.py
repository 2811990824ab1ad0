"""Faults of where traffic goes."""

from __future__ import annotations

import json
from typing import Any

from tests.health.case import Change, case, healthy, scaled_down, server, unready
from tests.health.town import Town


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
