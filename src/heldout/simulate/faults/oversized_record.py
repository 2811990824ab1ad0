"""A topic takes records that are larger than its readers may fetch."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="oversized_record",
    domain="messaging",
    family="size limit",
    source=(
        "public: confluentinc/kafka-rest PR #155 and PostHog PR #54411 (silent stop at a record "
        "above the fetch cap), own words"
    ),
    seat="Service",
    holder=("consumes_from>KafkaTopic",),
    field="config.max_message_bytes",
    said="{max message bytes}",
    values=((1048576, 8388608), (1000000, 5242880), (2097152, 10485760)),
    logs=(
        (
            "partition {0} does not move: next record exceeds the fetch cap of 1048576 bytes "
            "({said} of {holder} is {new})"
        ),
        "offset frozen while the producer advances, lag {0}; {said}={new}",
    ),
    gauge=Gauge("reader_lag", "records", 40, 26000),
    trigger=Trigger(
        on="consumes_from>KafkaTopic",
        type="runtime",
        summary="A bulk export wrote large records to {name}",
        prose="a bulk export wrote records above the readers' cap",
    ),
    mechanism=(
        "The topic's largest message was raised from {old} to {new} bytes while readers fetch at "
        "most 1 MiB; a bulk export wrote a larger record and the readers stopped at it"
    ),
    terms=(
        ("record", "message", "max_message_bytes"),
        ("larger", "size", "byte", "oversized", "too large", "exceeds", "above", "bigger",
         "max_message_bytes"),
        ("fetch", "fetch cap", "reader", "consumer", "frozen", "stuck"),
    ),
    fix=(
        "Lower the topic's limit to {old} or raise the readers' cap, then skip or refetch the "
        "record"
    ),
    effects=(
        Effect(
            "consumes_from>KafkaTopic", "Committed position of a partition of {name} has not moved"
        ),
    ),
    nears=(
        Near("workload", "it reads as it always did; the record is larger than it may fetch"),
        Near(
            "runs_on>Deployment mounts>ConfigMap",
            "the fetch cap in it is as before; the topic went above it",
        ),
    ),
)  # fmt: skip
