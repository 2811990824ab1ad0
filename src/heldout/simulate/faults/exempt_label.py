"""A namespace lost the label that kept an admission policy away from it."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="exempt_label",
    domain="kubernetes",
    family="admission",
    source=(
        "public: cloud-platform 2020-02-25 (exemption label of a namespace removed long before "
        "new nodes needed it), own words"
    ),
    seat="Service",
    holder=("part_of>Namespace",),
    field="labels.admission_exemption",
    said="admission_exemption",
    values=(("node-agents", "unset"), ("platform", "unset"), ("storage", "unset")),
    logs=(
        (
            "replica refused at admission: namespace {holder} is no longer exempt from the "
            "policy ({said}={new}), attempt {0}"
        ),
        (
            "{0} requests queued, too few replicas: pods denied by policy, label {said} of "
            "{holder} is {new}"
        ),
    ),
    gauge=Gauge("replicas_refused", "per_min", 0, 18),
    trigger=Trigger(
        on="workload",
        type="runtime",
        summary="Rolling restart of {name} began to replace its pods",
        prose="a rolling restart asked for new pods",
    ),
    mechanism=(
        "The label that exempts the namespace from the admission policy was removed ({old} to "
        "{new}); running pods were left alone, and once a rolling restart asked for new ones the "
        "policy refused them"
    ),
    terms=(
        ("exempt", "exempts", "exempted", "exemption", "exclusion", "excluded", "opt-out"),
        ("label", "namespace"),
        ("refused", "denied", "denies", "rejected", "rejects", "blocked", "blocks", "refuses"),
    ),
    fix="Set the label back to {old}",
    effects=(
        Effect(
            "runs_on>Deployment controlled_by<ReplicaSet",
            "FailedCreate: admission denied a pod of {name}, namespace {holder} is not exempt",
        ),
    ),
    nears=(
        Near(
            "part_of>Namespace constrains<Webhook",
            "it answers as it always did; namespaces that kept the label are left alone",
        ),
        Near(
            "part_of>Namespace constrains<ResourceQuota",
            "the namespace is far below it; admission refused the pods, not the quota",
        ),
    ),
)
