"""An admission webhook with one replica was told to fail closed; a drain takes it away."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="webhook_closed",
    domain="kubernetes",
    family="admission",
    source=(
        "public: SREGym PR #758, openshift/addon-operator PR #717 and cozystack #3125 (no pod "
        "can be made while a webhook is away), own words"
    ),
    seat="Service",
    holder=("part_of>Namespace", "constrains<Webhook"),
    field="failure_policy",
    said="{failure policy}",
    values=(("Ignore", "Fail"),),
    logs=(
        (
            "replica not created: webhook {holder} gave no answer and {said}={new} refuses the "
            "pod (attempt {0})"
        ),
        (
            "{0} requests queued, replicas not created while webhook {holder} is unreachable, "
            "{said} is {new}"
        ),
    ),
    gauge=Gauge("pods_not_admitted", "per_min", 0, 26),
    trigger=Trigger(
        on="runs_on>Deployment runs_on>NodeGroup",
        type="node",
        summary="Nodes of {name} were drained in turn",
        prose="a node drain took the webhook's only replica away and asked for new pods",
    ),
    mechanism=(
        "The webhook's failure policy went from {old} to {new}; when a drain took its only "
        "replica away it was unreachable, and every pod of the namespace was refused"
    ),
    terms=(
        ("webhook",),
        ("failure_policy", "fail closed", "fails closed", "failing closed"),
        ("refused", "refuses", "not created", "rejected", "blocked", "denied", "failedcreate",
         "cannot be created", "no pod", "not admitted"),
        ("unreachable", "no answer", "not answer", "could not be reached", "no endpoint", "down",
         "unavailable", "only replica", "not responding", "did not respond"),
    ),
    fix="Set the failure policy back to {old}, or run more than one replica of the webhook",
    effects=(
        Effect(
            "runs_on>Deployment controlled_by<ReplicaSet",
            "FailedCreate: calling webhook {holder} for a pod of {name}: no endpoints available",
        ),
    ),
    nears=(
        Near(
            "part_of>Namespace",
            "its labels and limits are unchanged; pods are refused before they are looked at",
        ),
        Near(
            "runs_on>Deployment runs_on>NodeGroup",
            "draining nodes is routine; it only took the webhook's replica away",
        ),
    ),
)  # fmt: skip
