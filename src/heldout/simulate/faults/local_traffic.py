"""A service's traffic stays on the caller's node, where there is no replica."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="local_traffic",
    domain="kubernetes",
    family="routing",
    source=(
        "public: SREGym internal_traffic_policy_local (traffic kept on nodes without a "
        "replica), own words"
    ),
    seat="Service",
    holder=("routes_to<K8sService",),
    field="internal_traffic_policy",
    said="{internal traffic policy}",
    values=(("Cluster", "Local"),),
    logs=(
        "caller {0} found no endpoint on its own node ({said}={new}), connection refused",
        "{0} callers on nodes without a replica; {said} is {new}, other nodes have some",
    ),
    gauge=Gauge("callers_without_endpoint", "count", 0, 48),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Replicas of {name} were packed onto fewer nodes",
        prose="replicas were packed onto fewer nodes, so most callers had none beside them",
    ),
    mechanism=(
        "The service's traffic policy went from {old} to {new}, so a caller reaches only replicas "
        "on its own node; once they were packed onto fewer nodes, callers elsewhere found no "
        "endpoint although every replica was ready"
    ),
    terms=(
        ("traffic policy", "internal_traffic_policy", "internaltrafficpolicy", "local"),
        ("node",),
        ("no endpoint", "without endpoint", "no replica", "without a replica", "no backend",
         "no pod", "not reach", "unreachable", "refused"),
    ),
    fix="Set the traffic policy back to {old}",
    effects=(Effect("holder", "{name} has no endpoint on some nodes"),),
    nears=(
        Near("workload", "all of its replicas are ready; some callers cannot reach them"),
        Near("part_of>Namespace constrains<NetworkPolicy", "it allows the callers as before"),
    ),
)  # fmt: skip
