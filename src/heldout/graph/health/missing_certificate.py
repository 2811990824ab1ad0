"""An Ingress that should present a certificate whose Secret is not there."""

from heldout.graph.health.dangling import UNLISTED, Dangling

CHECK = Dangling(
    name="missing-certificate",
    silent_when=f"no Secret is named (the controller's default certificate is meant); {UNLISTED}",
    kind="Secret",
    holders=("Ingress",),
    text="the controller presents a certificate of its own that callers do not trust",
    grade="warning",
)
