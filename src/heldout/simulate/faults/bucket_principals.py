"""A bucket's own policy no longer lists its reader; warm local copies hide it for a while."""

from heldout.simulate.fault import Fault, Gauge, Near, Scope, Trigger

_PODS = "runs_on>Deployment controlled_by<ReplicaSet controlled_by<Pod"

FAULT = Fault(
    name="bucket_principals",
    domain="identity",
    family="permission",
    source=(
        "public: aws/serverless-application-model #2114 (an edit of a bucket's policy shut its "
        "users out), own words"
    ),
    seat="Service",
    holder=("reads_writes>Bucket",),
    field="policy.read_principals",
    said="{read principals}",
    values=(
        (["apps", "batch"], ["batch"]),
        (["apps", "exports"], ["exports"]),
        (["audit", "apps"], ["audit"]),
    ),
    logs=(
        (
            "object {0} answered 403 AccessDenied by the bucket's own policy: {said} of {holder} "
            "is {new}"
        ),
        "no local copy of object {0} and none to be had; {said}={new} leaves us out",
    ),
    gauge=Gauge("objects_denied", "per_min", 0, 230),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Replicas of {name} were moved and started with empty local copies",
        prose="moved replicas had to read objects that others still hold locally",
    ),
    mechanism=(
        "The bucket's own policy dropped a reader ({old} became {new}); local copies hid it, and "
        "replicas that started without one were denied every object"
    ),
    terms=(
        ("bucket", "object", "objects"),
        (
            "bucket policy",
            "bucket's policy",
            "bucket's own policy",
            "resource policy",
            "principal",
            "principals",
            "read_principals",
        ),
        ("denied", "accessdenied", "access denied", "403", "forbidden", "refused"),
    ),
    fix="List the reader in the bucket's policy again ({old})",
    scope=Scope(
        over=_PODS,
        field="local_copy",
        inside="empty",
        outside="warm",
        share=0.4,
        why="only replicas without a local copy have to read from the bucket",
    ),
    nears=(Near("uses_identity>IamRole", "the role still grants the read; the bucket refuses"),),
)
