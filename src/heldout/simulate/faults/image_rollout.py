"""A release carried a defect: the new version refuses part of the traffic."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="image_rollout",
    domain="delivery",
    family="release",
    source="public: scaleapi/llm-engine PR #817 (deploy expects what is not there), own words",
    seat="Service",
    holder=("runs_on>Deployment",),
    field="image",
    said="image",
    values=(("v4.2.0", "v4.3.0"),),
    logs=(
        "handler panicked: column expected by image {new} is missing (row {0})",
        "cannot decode stored record {0}: field unknown since image {new}",
    ),
    gauge=Gauge("handler_panics", "per_min", 0, 140),
    trigger=Trigger(
        on="workload",
        type="pod",
        summary="Rolling update of {name} finished",
        prose="the rollout put the new version in front of all traffic",
    ),
    mechanism=(
        "The release {new} expects a column that the stored records lack, so its handlers fail "
        "since the rollout"
    ),
    terms=(
        ("release", "deploy", "deployment", "version", "rollout", "image", "image_tag"),
        ("column", "schema", "field", "migration"),
        ("missing", "lack", "lacks", "lacking", "unknown", "absent", "not there", "not exist",
         "does not have", "expects", "expected", "decode", "undefined"),
    ),
    fix="Roll back to {old}",
    lends=True,
    harmless="the release serves without errors of its own; failures start below it",
    nears=(
        Near(
            "reads_writes>DbInstance",
            "its tables are as they always were; the release expects another shape",
        ),
        Near(
            "runs_on>Deployment mounts>ConfigMap",
            "no setting takes part; the code asks for what is not stored",
        ),
    ),
)  # fmt: skip
