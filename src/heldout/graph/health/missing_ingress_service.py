"""An Ingress that sends requests to a Service that is not there."""

from heldout.graph.health.dangling import UNLISTED, Dangling

CHECK = Dangling(
    name="missing-ingress-service",
    silent_when=f"the backend is a resource of another kind; {UNLISTED}",
    kind="K8sService",
    holders=("Ingress",),
    text="requests for it are answered with an error",
    grade="critical",
)
