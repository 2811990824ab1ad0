"""Another stack's apply took a policy away from a role that shared it."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="policy_detach",
    domain="identity",
    family="permission",
    source=(
        "public: terraform-provider-aws #2014 and terraform #5483 (exclusive attachment detaches "
        "the others), own words"
    ),
    seat="Service",
    holder=("uses_identity>IamRole",),
    field="attached_policies",
    said="attached_policies",
    values=(
        (["base", "object-read"], ["base"]),
        (["base", "queue-send"], ["base"]),
        (["audit", "object-read"], ["audit"]),
    ),
    logs=(
        (
            "AccessDenied: role {holder} may not perform the operation, attached_policies={new} "
            "(request {0})"
        ),
        "role {holder} has fewer rights: attached_policies is {new}, {0} operations denied",
    ),
    gauge=Gauge("operations_denied", "per_min", 0, 160),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Role sessions of {name} were renewed",
        prose="cached role sessions ran out and were renewed",
    ),
    mechanism=(
        "A policy was detached from the role ({old} to {new}); sessions issued before kept their "
        "rights, and once they were renewed every operation that needed it was denied"
    ),
    terms=(
        ("detached", "detach", "attachment", "attached", "attached_policies", "took away",
         "taken away"),
        ("role", "iam", "policy"),
        ("denied", "denies", "accessdenied", "access denied", "rights", "permission",
         "unauthorized", "forbidden"),
    ),
    fix="Attach the policy again ({old})",
    nears=(
        Near(
            "runs_on>Deployment uses_identity>ServiceAccount",
            "it assumes the same role as before; the role has fewer rights",
        ),
        Near("workload", "its release calls what it always called"),
    ),
)  # fmt: skip
