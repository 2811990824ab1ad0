"""21: a short burst fills a queue, and the retries of its caller keep it full."""

from __future__ import annotations

from collections.abc import Callable

from heldout.ingest.cases.sregym.cluster import Body, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault


def _with(**values: str) -> Callable[[Body], None]:
    def edit(body: Body) -> None:
        container = body["spec"]["template"]["spec"]["containers"][0]
        container["env"] = [
            *container["env"],
            *({"name": name, "value": value} for name, value in values.items()),
        ]

    return edit


def _inject(cluster: Cluster) -> Cause:
    # Set when the application was deployed: no change near the onset has anything to do with it.
    knobs = {
        "rate": {"QPS_LIMIT": "20", "QUEUE_SIZE": "256", "QUEUE_POLICY": "fifo"},
        "search": {
            "RPC_TIMEOUT_MS": "750",
            "RPC_ATTEMPTS": "3",
            "RPC_BACKOFF_MS": "50",
            "RPC_JITTER_MS": "0",
        },
    }
    for name, values in knobs.items():
        _with(**values)(cluster.get("Deployment", name))
        cluster.roll(name)
    burst = 10.0
    for name in ("frontend", "search"):
        cluster.moved(
            name, "http_requests_per_second", lambda since, calm: 40.0 if since < burst else 8.0
        )
        cluster.moved(name, "http_error_ratio", lambda _, calm: 0.99, 8)
        cluster.moved(name, "request_duration_p99_ms", lambda _, calm: 2450.0, 8)
    cluster.moved("rate", "http_requests_per_second", lambda since, calm: 24.0, 8)
    cluster.moved("rate", "queue_depth", lambda since, _: 253 + (since // 60) % 4, 8)
    cluster.moved("search", "rpc_attempts_per_request", lambda _, calm: 3.0, 8)
    cluster.every(
        12, "search", "ERROR", "rpc error: context deadline exceeded: rate:8084, attempt 3 of 3", 12
    )
    cluster.every(
        12, "rate", "WARN", "request was in the queue for 12.6 s, its caller has gone", 14
    )
    return Cause(
        cluster.key("*", "rate"),
        also=(cluster.key("*", "search"),),
        affected=("search", "frontend"),
    )


FAULT = Fault(
    number=21,
    name="search_rate_retry",
    app="hotel-reservation",
    family="retries keep it down",
    channel="metrics",
    rule="HighRequestLatency",
    inject=_inject,
    domain="capacity",
    mechanism="after a short burst the queue of rate is full, its callers time out and their retries keep "
    "it full: the loop sustains itself",
    terms=(
        ("retry", "retries", "retrying", "attempts", "metastable", "amplification"),
        ("queue", "backlog", "overload", "overloaded", "sustains", "self-sustaining", "loop"),
    ),
    synthetic="all series and lines; their sizes are those reported of the benchmark",
)
