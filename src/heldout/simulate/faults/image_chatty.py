"""A release asks its store once per row instead of once per page."""

from heldout.simulate.fault import Fault, Gauge, Near, Trigger

FAULT = Fault(
    name="image_chatty",
    domain="delivery",
    family="release",
    source=(
        "public: otoDB/otoDB PR #362 (a merge undid batching: hundreds of queries where there "
        "were eight), own words"
    ),
    seat="Service",
    holder=("runs_on>Deployment",),
    field="image",
    said="image",
    values=(("v4.2.0", "v4.3.0"),),
    logs=(
        "request {0} given up after {1} ms: image {new} sent one query per row, rows still left",
        "{0} queries for a single page since image {new}, one per row",
    ),
    gauge=Gauge("queries_per_request", "count", 4, 2100),
    trigger=Trigger(
        on="reads_writes>DbInstance",
        type="runtime",
        summary="A large tenant was loaded into {name}",
        prose="a tenant with many rows was loaded, so that one page became thousands of queries",
    ),
    mechanism=(
        "The release {new} sends one query per row where the former sent one per page; with a "
        "large tenant loaded, a single request became thousands of queries and ran out of time"
    ),
    terms=(
        ("release", "image", "version", "deploy", "deployment", "rollout"),
        ("query", "queries", "n+1", "round trip", "statement"),
        ("per row", "each row", "every row", "per item", "per record", "n+1", "one by one",
         "thousands", "multiplied", "instead of one"),
    ),
    fix="Roll back to {old}, or fetch a page with one query",
    nears=(
        Near("reads_writes>DbInstance", "each query is as fast as ever; there are just far more"),
        Near(
            "reads_writes>DbInstance constrains<DbParameterGroup",
            "its parameters play no part; the store is not at a limit",
        ),
    ),
)  # fmt: skip
