"""An admission webhook that must be asked and whose Service is not there."""

from heldout.graph.health.dangling import UNLISTED, Dangling

CHECK = Dangling(
    name="missing-webhook-service",
    silent_when=(
        "the webhook's failure policy is Ignore; it is called by URL, outside the cluster; "
        f"{UNLISTED}"
    ),
    kind="K8sService",
    holders=("Webhook",),
    text="whatever it has to admit is refused",
    grade="critical",
)
