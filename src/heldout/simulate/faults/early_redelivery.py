"""A queue shows messages again before their work is done, so work is done twice."""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="early_redelivery",
    domain="messaging",
    family="message flow",
    source=(
        "public: demisto/content PR #19125 and cloud-platform-environments PR #5385 (messages "
        "came back while they were still being processed), own words"
    ),
    seat="Service",
    holder=("consumes_from>Queue",),
    field="visibility_timeout_s",
    said="{visibility timeout s}",
    values=((300, 5), (600, 10), (900, 8)),
    logs=(
        (
            "message {0} handled twice: {holder} showed it again before its work was done "
            "({said}={new})"
        ),
        "duplicate refused by the ledger for message {0}, first run took {1} ms; {said} is {new}",
    ),
    gauge=Gauge("messages_seen_twice", "per_min", 0, 210),
    trigger=Trigger(
        on="consumes_from>Queue",
        type="runtime",
        summary="Long jobs of the monthly run arrived in {name}",
        prose="the monthly run brought jobs that take longer than the queue waits",
    ),
    mechanism=(
        "The queue's visibility timeout was cut from {old} to {new} s; when jobs took longer than "
        "that, messages came back while they were being worked on and were handled twice"
    ),
    terms=(
        ("visibility", "visibility_timeout"),
        (
            "twice",
            "duplicate",
            "duplicates",
            "duplicated",
            "redelivered",
            "redelivery",
            "again",
            "reappeared",
            "came back",
            "second time",
        ),
    ),
    fix="Set the visibility timeout back to {old} s and drop the duplicates",
    effects=(Effect("holder", "Receive count of messages in {name} rose above 2"),),
    nears=(
        Near(
            "consumes_from>Queue publishes_to<Service",
            "it sent each message once; the queue showed them again",
        ),
    ),
)
