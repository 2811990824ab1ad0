"""7: a record that cannot be read stops a consumer, whose pods stay ready."""

from __future__ import annotations

from heldout.ingest.cases.sregym.apps import Service
from heldout.ingest.cases.sregym.cluster import ENDS, Cluster
from heldout.ingest.cases.sregym.fault import Cause, Fault

_DAY = 86_400.0
TOPIC = "orders-fulfillment"


def _inject(cluster: Cluster) -> Cause:
    cluster.create(
        -9 * _DAY,
        "ConfigMap",
        "orders-scripts",
        data={
            "stream.py": "one record every 2 s to orders-fulfillment",
            "validate.py": "reads orders-fulfillment in order, commits after each record",
        },
    )
    kafka = cluster.app.services["kafka"]
    env = [
        {"name": "KAFKA_ADDR", "value": f"kafka:{kafka.port}"},
        {"name": "TOPIC", "value": TOPIC},
    ]
    for name in ("order-stream", "orders-validator"):
        cluster.deploy(
            Service(name, name, 8080, f"registry.internal/{name}", "address", ("kafka",)),
            env=list(env),
        )
    at = -600.0
    while at < ENDS:
        cluster.log(at, "order-stream", "INFO", f"sent record to {TOPIC}")
        if at < 0:
            cluster.log(
                at + 1,
                "orders-validator",
                "INFO",
                f"committed {TOPIC}[0] offset {int(at + 640) // 32}",
            )
        at += 32
    cluster.log(0, "order-stream", "INFO", f"sent record to {TOPIC}")
    cluster.every(
        5,
        "orders-validator",
        "ERROR",
        f"cannot decode record at {TOPIC}[0] offset 20: Unterminated string starting at: "
        "line 1 column 17; not committed, trying again",
        2,
    )
    cluster.moved("orders-validator", "kafka_consumer_lag_records", lambda since, _: 0.5 * since, 0)
    return Cause(
        cluster.key("*", "orders-validator"),
        also=(cluster.key("*", "kafka"),),
        affected=("orders-validator",),
    )


FAULT = Fault(
    number=7,
    name="kafka_poison_pill",
    app="astronomy-shop",
    family="consumer is stuck",
    channel="logs",
    rule="MessageConsumerLag",
    inject=_inject,
    domain="messaging",
    mechanism="a truncated record at offset 20 of orders-fulfillment cannot be decoded, the committed "
    "offset is frozen and the consumer lag grows",
    terms=(
        ("record", "message", "poison", "malformed", "truncated", "undecodable"),
        (
            "offset",
            "decode",
            "deserialise",
            "deserialize",
            "deserialization",
            "parse",
            "lag",
            "blocked",
            "blocks",
        ),
    ),
    synthetic="the lag series; its slope follows from the source's rate of one record in 2 s",
    telling={"orders-validator": "orders-reader"},
)
