"""A ServiceAccount that pods should run as and that is not there."""

from heldout.graph.health.dangling import MAKERS, UNLISTED, Dangling

CHECK = Dangling(
    name="missing-service-account",
    silent_when=(
        "none is named (every namespace has a default one); the holder is scaled to zero, "
        f"suspended or has ended; {UNLISTED}"
    ),
    kind="ServiceAccount",
    holders=MAKERS,
    text="its pods are refused",
)
