"""A ConfigMap that pods need and that is not there."""

from heldout.graph.health.dangling import MAKERS, UNLISTED, Dangling

CHECK = Dangling(
    name="missing-config-map",
    silent_when=f"it is optional; the holder is scaled to zero, suspended or has ended; {UNLISTED}",
    kind="ConfigMap",
    holders=MAKERS,
    text="its containers cannot be made",
)
