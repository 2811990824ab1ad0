"""A Service that is another name for a Service that is not there."""

from heldout.graph.health.dangling import UNLISTED, Dangling

CHECK = Dangling(
    name="missing-alias-target",
    silent_when=f"the name is one outside the cluster, or that of a single pod; {UNLISTED}",
    kind="K8sService",
    holders=("K8sService",),
    text="the name does not resolve",
    grade="critical",
)
