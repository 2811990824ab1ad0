"""A volume claim that pods need and that is not there."""

from heldout.graph.health.dangling import MAKERS, UNLISTED, Dangling

CHECK = Dangling(
    name="missing-claim",
    silent_when=(
        "the claim is made with each pod (a claim template); the holder is scaled to zero, "
        f"suspended or has ended; {UNLISTED}"
    ),
    kind="Pvc",
    holders=MAKERS,
    text="its pods cannot be scheduled",
)
