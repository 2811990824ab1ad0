"""Pods ask the node's resolver, which does not know the names inside the cluster."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="resolver_policy",
    domain="kubernetes",
    family="name resolution",
    source="public: SREGym wrong_dns_policy (pods that bypass the cluster resolver), own words",
    seat="Service",
    holder=("runs_on>Deployment",),
    field="dns_policy",
    said="dns_policy",
    values=(("ClusterFirst", "Default"),),
    logs=(
        (
            "internal name unknown: the node's resolver was asked ({said}={new}), NXDOMAIN for "
            "lookup {0}"
        ),
        "peers inside cannot be resolved, {said} is {new}; outside names resolve in {1} ms",
    ),
    gauge=Gauge("internal_nxdomain", "per_min", 0, 360),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Pods of {name} were replaced one by one",
        prose="pods were replaced, and the new ones took the new policy",
    ),
    mechanism=(
        "The pods' dns policy went from {old} to {new}, so they ask the node's resolver, which "
        "knows no internal names; once pods were replaced lookups of peers inside failed"
    ),
    terms=(
        ("dns_policy", "dnspolicy", "clusterfirst", "resolver policy"),
        ("node's resolver", "node resolver", "host resolver", "host's resolver", "internal name",
         "cluster name", "names inside", "inside", "cluster dns", "coredns", "service name"),
        ("resolve", "resolved", "resolution", "lookup", "nxdomain", "unknown", "name"),
    ),
    fix="Set the policy back to {old}",
    effects=(
        Effect(PODS, "Readiness of {name}: a peer's name is not known", type="pod", field="ready",
               value=False),
    ),
    scope=Scope(
        PODS,
        "started_at",
        inside="@trigger",
        outside="@before",
        share=0.5,
        why="pods that were not yet replaced still ask the cluster's resolver",
    ),
    nears=(
        Near("part_of>Namespace constrains<NetworkPolicy", "it lets lookups out as before"),
        Near("runs_on>Deployment mounts>ConfigMap", "the names in it are right"),
    ),
)  # fmt: skip
