"""A topic stopped checking shapes; the next release of a publisher writes what nobody reads."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="shape_unchecked",
    domain="messaging",
    family="message flow",
    source=(
        "public: confluentinc/schema-registry #438 (a shape that old readers cannot decode was "
        "let in), own words"
    ),
    seat="Service",
    holder=("consumes_from>KafkaTopic",),
    field="config.schema_compatibility",
    said="{schema compatibility}",
    values=(("BACKWARD", "NONE"), ("FULL", "NONE"), ("BACKWARD_TRANSITIVE", "NONE")),
    logs=(
        (
            "cannot decode record {0}: its shape has no default for a dropped field, {said} of "
            "{holder} is {new}"
        ),
        "record {0} set aside: incompatible with the shape we read, let in under {said}={new}",
    ),
    gauge=Gauge("records_set_aside", "per_min", 0, 880),
    trigger=Trigger(
        on="consumes_from>KafkaTopic",
        type="runtime",
        summary="A new shape of records was registered for {name}",
        prose="a publisher registered a shape that its readers cannot decode",
    ),
    mechanism=(
        "The topic's schema compatibility check was taken from {old} to {new}; when a publisher "
        "registered an incompatible shape it was let in, and readers could not decode the records"
    ),
    terms=(
        ("compatibility", "compatible", "incompatible", "schema_compatibility"),
        (
            "decode",
            "decoded",
            "decoding",
            "deserialize",
            "deserialise",
            "deserialization",
            "cannot read",
            "unreadable",
            "parse",
        ),
        ("schema", "shape", "shapes"),
    ),
    fix="Set compatibility back to {old}, register a shape with a default, replay what was skipped",
    effects=(Effect("holder", "Shape registered for {name} without a check ({new})"),),
    nears=(
        Near(
            "consumes_from>KafkaTopic publishes_to<Service",
            "it wrote what the topic let in; the check that would have refused it was off",
        ),
    ),
)
