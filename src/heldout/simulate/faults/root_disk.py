"""New nodes come with a small root disk; images no longer fit."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger

NODES = "runs_on>Deployment runs_on>NodeGroup controlled_by<Node"

FAULT = Fault(
    name="root_disk",
    domain="capacity",
    family="size limit",
    source=(
        "public: cloud-platform 2023-09-18 (a module's major version cut the root disk), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment", "runs_on>NodeGroup"),
    field="launch_template.root_volume_gib",
    said="root_volume_gib",
    values=((100, 20), (120, 24), (80, 16)),
    logs=(
        (
            "replica cannot start: no space left on device while pulling image "
            "(root_volume_gib={new} on its node)"
        ),
        "{0} requests queued, new nodes have no space for images; root_volume_gib is {new}",
    ),
    gauge=Gauge("replicas_waiting", "count", 0, 7),
    trigger=Trigger(
        on="runs_on>Deployment runs_on>NodeGroup",
        type="node",
        summary="Nodes of {name} were replaced by fresh ones",
        prose="scheduled node replacement brought in the first nodes with the small disk",
    ),
    mechanism=(
        "The launch template's root volume was cut from {old} to {new} GiB; once nodes were "
        "replaced, images no longer fit on the new ones and replicas could not start"
    ),
    terms=(
        ("disk", "root_volume_gib", "root volume", "storage"),
        ("space", "no space", "full", "small", "smaller", "fit", "too small"),
        ("image", "node", "pull"),
    ),
    fix="Set the root volume back to {old} GiB and replace the nodes",
    effects=(
        Effect(NODES, "Image pull on {name} ended: no space left on its disk", type="node"),
    ),
    scope=Scope(
        NODES,
        "joined_at",
        inside="@since",
        outside="@before",
        share=0.4,
        why="nodes that joined before the change have the larger disk and run replicas",
    ),
    nears=(
        Near("workload", "its image is as large as ever; the disk under it is smaller"),
        Near(
            "runs_on>Deployment scales<Hpa",
            "it asks for the right number; nodes cannot hold the image",
        ),
    ),
)  # fmt: skip
