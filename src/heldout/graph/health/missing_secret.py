"""A Secret that pods need and that is not there."""

from heldout.graph.health.dangling import MAKERS, UNLISTED, Dangling

CHECK = Dangling(
    name="missing-secret",
    silent_when=(
        "it is optional; it is only for pulling images (the kubelet goes on without); the holder "
        f"is scaled to zero, suspended or has ended; {UNLISTED}"
    ),
    kind="Secret",
    holders=MAKERS,
    text="its containers cannot be made",
)
