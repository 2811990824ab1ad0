"""Incident recipes from public reports, in our own words, with what a person fills into the form."""

from __future__ import annotations

from typing import Any, NamedTuple


class Recipe(NamedTuple):
    """A report's text, and the reading that a person makes of it."""

    name: str
    text: str
    reading: dict[str, Any]


def _one(name: str, text: str, fault: str, **more: Any) -> Recipe:
    return Recipe(name, text, {"fault": fault, **more})


RECIPES = (
    _one(
        "rotated password",
        "During a traffic peak services failed to authenticate against the database. The managed "
        "master password had been rotated automatically hours earlier; environment variables are "
        "fixed when a pod starts, and pooled connections hid it. Only pods started before the "
        "rotation failed. The load test was blamed first.",
        "rotated_secret", cause_days=0.4, trigger="restart", decoys=2, affected=0.4,
    ),
    _one(
        "registry login",
        "Image pulls failed with a login error. In a clean-up of credentials days before, the "
        "registry password had been changed; nodes still cached the old login. Running pods fine.",
        "registry_login", cause_days=5, trigger="restart", decoys=1, affected=0.5,
    ),
    _one(
        "policy detached",
        "A function got access denied. Another stack's apply used an exclusive policy attachment "
        "and detached the managed policy from every other role.",
        "policy_detach", cause_days=2, decoys=1,
    ),
    _one(
        "rules revoked",
        "New connections to the database timed out while old ones survived: an update of the "
        "security group revoked its rules and adding them again failed at an earlier apply.",
        "rule_revoked", cause_days=1.5, decoys=1,
    ),
    _one(
        "route table",
        "Nothing in one network could be reached: a forgotten change that was merged while the "
        "pipeline was paused ran when it resumed, and removed the route table of the subnets.",
        "route_unlinked", cause_days=3, decoys=2,
    ),
    _one(
        "wrong target",
        "A certificate name mismatch on one cluster: the pipeline ignores the context switch for "
        "some resource types, so a certificate was applied to the wrong target.",
        "wrong_target", cause_days=6, decoys=1,
    ),
    _one(
        "host names vanish",
        "At a weekend host names vanished: the DNS controller cannot write because one ingress "
        "lacks its weight annotation. A clean-up job was suspected.",
        "record_weight", cause_days=4, decoys=1,
    ),
    _one(
        "resolver",
        "Intermittent lookups and a flood of NXDOMAIN: a search domain and a high ndots; when load "
        "grew the resolver crossed its limit. Restarts fixed it for a while.",
        "lookup_dots", cause_days=10, trigger="load", decoys=1,
    ),
    _one(
        "exempt label",
        "During an upgrade new nodes never became ready: the exemption label of the namespace for "
        "the admission policy had been removed earlier.",
        "exempt_label", cause_days=7, decoys=1,
    ),
    _one(
        "closed webhook",
        "No pod could be created after a node drain: a fail-closed admission webhook with a single "
        "replica had been installed long before.",
        "webhook_closed", cause_days=12, trigger="node", decoys=1,
    ),
    _one(
        "role narrowed",
        "An operator crash-loops: a permission tightening merged earlier removed a read from its "
        "role that it needs at start; pods restarted after the change are forbidden.",
        "role_narrowed", cause_days=3, trigger="restart", affected=0.4, decoys=1,
    ),
    _one(
        "token age",
        "An agent gets 401 from the API: an upgrade switched to tokens that expire after ninety "
        "days, and old pods never read the token again.",
        "token_age", cause_days=90, trigger="event", affected=0.3, decoys=1,
    ),
    _one(
        "renewed and not read",
        "TLS handshakes fail: the certificate was renewed in its Secret in time and the process "
        "still serves the old one. Issuer and certificate look healthy.",
        "unread_renewal", cause_days=9, affected=0.4, decoys=1,
    ),
    _one(
        "quota",
        "A rollout is stuck below its replicas: a memory quota was put on the namespace days "
        "before; running pods are unaffected, the ReplicaSet reports FailedCreate.",
        "memory_quota", cause_days=5, trigger="load", decoys=1,
    ),
    _one(
        "rules per load balancer",
        "Short outages of some ingresses: an upgrade adds two rules per load balancer and crosses "
        "a hard limit of the provider.",
        "balancer_rules", cause_days=2, decoys=1,
    ),
    _one(
        "node image",
        "JVM pods are killed for memory with limits unchanged for months: the node image moved to "
        "cgroup v2; heaps by percentage read another limit, on the new nodes only.",
        "node_image", cause_days=4, affected=0.2, decoys=1,
    ),
    _one(
        "root disk",
        "Image pulls fail, no space left on device: a module's major version cut the nodes' root "
        "disk from 100 to 20 GB; new nodes only, found in the middle of a drain.",
        "root_disk", cause_days=2, trigger="node", affected=0.4, decoys=1,
    ),
    _one(
        "retired hardware",
        "Monitoring went down with its instance: the provider's retirement notice had been mailed "
        "two weeks earlier. No change of ours.",
        "retired_host", kind="no_change",
    ),
    _one(
        "address prefix",
        "Pods stay in creation on six nodes: the network add-on's prefix setting was lost in an "
        "earlier upgrade, so addresses ran out.",
        "prefix_lost", cause_days=6, trigger="load", affected=0.3, decoys=1,
    ),
    _one(
        "packet size",
        "Large replies hang while probes are fine: a network module upgrade forced an MTU of 1500 "
        "on an interface that needs 1450.",
        "link_mtu", cause_days=3, decoys=1,
    ),
    _one(
        "self-heal",
        "Replicas flap: self-heal of the GitOps application resets replicas, as the ignore rule was "
        "forgotten.",
        "self_heal", cause_days=4, trigger="load", decoys=1,
    ),
    _one(
        "schema lock",
        "Every request stalls at a deploy: the schema change waits for an exclusive lock and the "
        "lock timeout is off.",
        "migration_lock", cause_days=2, decoys=1,
    ),
    _one(
        "evicted counters",
        "A watchdog acts on false zeros: the cache evicts any key at its memory ceiling, counters "
        "without a lifetime too.",
        "evict_any", cause_days=8, decoys=1,
    ),
    _one(
        "flag fallback",
        "After a release some traffic is on a slow path: the flag provider was degraded and "
        "containers started then took default values.",
        "flag_fallback", cause_days=1, affected=0.4, decoys=1,
    ),
    _one(
        "oversized record",
        "Lag grows on some partitions: a message larger than the consumer's fetch cap, after the "
        "producer's cap was raised; the read comes back silently empty.",
        "oversized_record", cause_days=3, decoys=1,
    ),
    _one(
        "expected columns",
        "Errors right after a deploy: the new image expects columns that are not there; fixed by a "
        "rollback.",
        "image_rollout", kind="onset_control",
    ),
    _one(
        "firewall rules",
        "Logins are rejected after this morning's deploy of the ingress: its new rule set blocks a "
        "header. A beta eighteen days earlier was suspected.",
        "header_block", kind="onset_control",
    ),
    _one(
        "second shard",
        "Rules are silently missing: their volume crossed a size limit, and the second shard is not "
        "loaded.",
        "second_shard", cause_days=6, decoys=1,
    ),
    _one(
        "stale reference",
        "All other members of a federation lose traffic for hours: health is judged by a reference "
        "version that was not refreshed.",
        "stale_reference", cause_days=2, trigger="restart", affected=0.5, decoys=1,
    ),
    _one(
        "volume lock",
        "A stateful pod cannot start: a lost node still holds the single-writer claim of its "
        "volume.",
        "volume_lock", cause_days=1, trigger="node", affected=0.3, decoys=1,
    ),
)  # fmt: skip

UNCOVERED = (
    (
        "hot address",
        "A quarter of requests is slow: a race of the provider's health checks left one bad "
        "address of three behind a load balancer.",
    ),
)
"""Told by no fault: the nearest ones are of the same family and break in another way."""
