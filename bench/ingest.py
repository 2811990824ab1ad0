"""Peak memory and time of importing 200 MB of each kind: ``python -m bench ingest [CASE ...]``.

Each case is a file made here and read by ``heldout ingest`` in a process of its own. The material
is invented and of the usual shape. Budget: 500 MB at the peak.
"""

from __future__ import annotations

import json
import os
import pkgutil
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from heldout.ingest import kinds

SIZE = int(os.environ.get("HELDOUT_BENCH_MB", "200")) * 1_000_000
BUDGET = 500
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
COMMAND = "from heldout.cli.main import run; run()"

Parts = Iterator[str]

WORDS = ("request", "cache", "shard", "lease", "queue", "order", "replica", "token", "page", "tile")
METRICS = ("cpu", "mem", "rps", "latency")
ROLE = "arn:aws:sts::111122223333:assumed-role/reader"
GROUP = "arn:aws:ec2:eu-north-1:111122223333:security-group"
VERBS = ("served", "missed", "moved", "renewed", "drained", "placed", "synced", "issued", "built")


def sentence(chance: random.Random) -> str:
    """A message as services write it, one of a few hundred."""
    return (
        f"{chance.choice(WORDS)} {chance.choice(VERBS)} for {chance.choice(WORDS)} "
        f"id={chance.getrandbits(40):010x} in {chance.randrange(900)} ms"
    )


def stamp(number: int, *, each: float = 0.05) -> str:
    """A time, so many steps after the first; every hundredth is late."""
    late = 3.0 if number % 100 == 0 else 0.0
    moment = NOW - timedelta(days=2) + timedelta(seconds=number * each - late)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z"


def log_text(chance: random.Random) -> Parts:
    """Lines as a container runtime keeps them."""
    for number in range(10**9):
        level = "ERROR" if number % 50 == 0 else "INFO"
        yield f"{stamp(number)} stdout F {level} {sentence(chance)}\n"


def log_json(chance: random.Random) -> Parts:
    """Records as a collector forwards them, of 40 pods."""
    for number in range(10**9):
        pod = {"pod_name": f"web-{number % 40}", "namespace_name": "shop", "container_name": "web"}
        record = {"log": sentence(chance) + "\n", "time": stamp(number), "kubernetes": pod}
        yield json.dumps(record) + "\n"


def log_document(chance: random.Random) -> Parts:
    """The answer to a query, one document."""
    yield '{"status":"success","data":{"resultType":"streams","result":['
    for stream in range(10**6):
        head = json.dumps({"namespace": "shop", "pod": f"web-{stream % 40}"})
        base = int((NOW - timedelta(days=1)).timestamp()) * 10**9 + stream * 10**9
        values = [[str(base + n * 10**6), sentence(chance)] for n in range(2_000)]
        yield f'{"," if stream else ""}{{"stream":{head},"values":{json.dumps(values)}}}'


def range_answer(chance: random.Random) -> Parts:
    """The answer to a range query: series of 2,880 values."""
    yield '{"status":"success","data":{"resultType":"matrix","result":['
    start = int((NOW - timedelta(days=1)).timestamp())
    for series in range(10**6):
        labels = {"__name__": "http_requests_total", "namespace": "shop", "pod": f"p-{series}"}
        values = [[start + 30 * n, str(chance.randrange(10**6))] for n in range(2_880)]
        yield (
            f"{',' if series else ''}"
            f'{{"metric":{json.dumps(labels)},"values":{json.dumps(values)}}}'
        )


def wide_table(chance: random.Random) -> Parts:
    """A table with 400 columns."""
    yield "time," + ",".join(f"service-{n // 4}_{METRICS[n % 4]}" for n in range(400))
    start = int((NOW - timedelta(days=30)).timestamp())
    for row in range(10**9):
        cells = ",".join(str(chance.randrange(1000)) for _ in range(400))
        yield f"\n{start + 15 * row},{cells}"


def long_table(chance: random.Random) -> Parts:
    """A table with one row a value."""
    yield "timestamp,metric,value,pod,namespace\n"
    for row in range(10**9):
        when = stamp(row // 500, each=15)
        yield f"{when},cpu_usage,{chance.random():.4f},web-{row % 500},shop\n"


def kubernetes_list(chance: random.Random) -> Parts:
    """Live pods as ``kubectl get pods -A -o json`` lists them, 20,000 at most, with annotations."""
    yield '{"apiVersion":"v1","kind":"List","items":['
    for number in range(10**7):
        name = f"pod-{number}"
        pod = {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": f"ns-{number % 50}",
                         "labels": {"app": f"app-{number % 300}"},
                         "annotations": {f"note-{n}": sentence(chance) for n in range(120)}},
            "spec": {"nodeName": f"node-{number % 200}", "containers": [
                {"name": "main", "image": f"registry.example/app-{number % 300}:1.{number % 9}"}]},
            "status": {"phase": "Running", "containerStatuses": [
                {"name": "main", "ready": True, "restartCount": number % 3}]},
        }  # fmt: skip
        yield ("," if number else "") + json.dumps(pod)


def trail(chance: random.Random) -> Parts:
    """Records of a trail, one in ten a write."""
    yield '{"Records":['
    for number in range(10**9):
        write = number % 10 == 0
        record = {
            "eventVersion": "1.08", "eventTime": stamp(number, each=1)[:19] + "Z",
            "eventID": f"{chance.getrandbits(128):032x}", "awsRegion": "eu-north-1",
            "eventSource": "ec2.amazonaws.com", "readOnly": not write,
            "eventName": "AuthorizeSecurityGroupIngress" if write else "DescribeInstances",
            "userIdentity": {"type": "AssumedRole", "arn": f"{ROLE}/{number % 30}"},
            "requestParameters": {"groupId": f"sg-{number % 500:08x}", "note": sentence(chance)},
            "responseElements": {"_return": True}, "recipientAccountId": "111122223333",
        }  # fmt: skip
        yield ("," if number else "") + json.dumps(record)


def state(chance: random.Random) -> Parts:
    """A Terraform state of version 4 with as many resources as fit."""
    yield '{"version":4,"terraform_version":"1.7.0","serial":9,"lineage":"a-b","outputs":{},'
    yield '"resources":['
    for number in range(10**7):
        attributes = {
            "id": f"sg-{number:08x}", "arn": f"{GROUP}/sg-{number:08x}", "name": f"group-{number}",
            "description": " ".join(sentence(chance) for _ in range(100)),
        }  # fmt: skip
        resource = {
            "mode": "managed",
            "type": "aws_security_group",
            "name": f"group_{number}",
            "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
            "instances": [{"schema_version": 1, "attributes": attributes}],
        }
        yield ("," if number else "") + json.dumps(resource)


CASES: dict[str, tuple[str, str, Callable[[random.Random], Parts]]] = {
    "text": ("logs", "web.log", log_text),
    "json": ("logs", "web.jsonl", log_json),
    "loki": ("logs", "loki.json", log_document),
    "range": ("metrics", "range.json", range_answer),
    "wide": ("metrics", "wide.csv", wide_table),
    "long": ("metrics", "long.csv", long_table),
    "pods": ("kubernetes", "pods.json", kubernetes_list),
    "trail": ("changes", "trail.json", trail),
    "state": ("terraform", "prod.tfstate", state),
}
"""Importer, file name and maker of each case."""

ENDS = {
    "loki.json": "]}}", "range.json": "]}}", "pods.json": "]}", "trail.json": "]}",
    "prod.tfstate": "]}",
}  # fmt: skip
"""How a document ends that is broken off at a size."""


def write(path: Path, parts: Parts) -> int:
    """Write parts until the size is reached, then what ends the document; the size in bytes."""
    size = 0
    end = ENDS.get(path.name, "")
    with path.open("w", encoding="utf-8") as stream:
        for part in parts:
            size += stream.write(part)
            if size >= SIZE:
                break
        size += stream.write(end)
    return size


def measure(kind: str, path: Path, world: Path) -> tuple[int, float, float, int]:
    """Exit code, CPU and wall seconds and peak MB of one import."""
    begun = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "ingest", kind, str(path), "--into", str(world)],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begun
    return (
        os.waitstatus_to_exitcode(status),
        usage.ru_utime + usage.ru_stime,
        wall,
        usage.ru_maxrss // 1024,
    )


def main(names: tuple[str, ...] = ()) -> None:
    """Print a row for each case whose importer there is."""
    known = {one.name for one in pkgutil.iter_modules(kinds.__path__)}
    print(f"{SIZE // 10**6} MB each, one process each (budget {BUDGET} MB at the peak)")
    for case, (kind, file, make) in CASES.items():
        if kind not in known or (names and case not in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            write(path, make(random.Random(case)))
            code, cpu, wall, peak = measure(kind, path, Path(folder) / "world")
            size = sum(one.stat().st_size for one in (Path(folder) / "world").rglob("*.parquet"))
        ended = "" if code == 0 else f"   ended with {code}"
        print(
            f"  {kind:<11} {file:<13} {peak:5} MB at the peak {cpu:6.1f} CPU-s {wall:6.1f} s "
            f"{size / 10**6:6.1f} MB on disk{ended}",
            flush=True,
        )


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
