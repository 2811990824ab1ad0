"""CPU of writing, loading and asking one world: ``python bench/tools.py [LOG_LINES]``.

The world is noise of the size of a real one (no incident in it). Budgets: write with its digest
0.5 CPU-s, a tool call 15 ms at the 95th percentile, a log search on 400,000 lines 45 ms.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from heldout.graph import WorldInterface, write_world
from heldout.graph.schema import OPEN_END, LogBlock, MetricBlock, WorldTables

DAY = 86_400_000_000
NOW = 1_772_625_600_000_000
START = NOW - 14 * DAY
KINDS = ("Service", "Deployment", "Pod", "Pod", "Pod", "ConfigMap", "DbInstance", "Node")
BUDGET, LOG_BUDGET = 15.0, 45.0
FIELDS = ("image", "replicas", "max_connections", "timeout_ms", "memory_limit", "labels.team")


def noise_world(
    lines: int = 100_000, *, entities: int = 1_500, changes: int = 7_000
) -> WorldTables:
    """A world of the given size whose rows mean nothing."""
    rng = np.random.Generator(np.random.PCG64(7))
    ids = [f"e-{index:08x}" for index in range(1, entities + 1)]
    kinds = [KINDS[index % len(KINDS)] for index in range(entities)]
    columns: dict[str, dict[str, Any]] = {
        "entity": {
            "id": ids,
            "kind": kinds,
            "name": [f"{kind.lower()}-{index}" for index, kind in enumerate(kinds)],
            "external_id": [""] * entities,
            "cluster": [f"cluster-{index % 4}" for index in range(entities)],
            "first_seen": [START] * entities,
            "last_seen": [NOW] * entities,
        }
    }
    columns["edge"] = _edges(rng, ids, kinds)
    columns["fact"] = _facts(ids)
    columns.update(_changes(rng, ids, changes))
    series = [f"m-{index:08x}" for index in range(400)]
    columns["metric_series"] = {
        "id": series,
        "entity_id": [ids[index * 3 % entities] for index in range(400)],
        "name": [f"metric_{index % 7}" for index in range(400)],
        "unit": ["ms"] * 400,
    }
    values = rng.gamma(3.0, 20.0, (400, 4032)).astype(np.float32)
    return WorldTables(
        columns=columns,
        logs=(_log_block(rng, ids, lines),),
        metrics=(MetricBlock(series, START, 300, values),),
        now=NOW,
        start=START,
        meta={"made_by": "bench"},
    )


def _stamps(count: int) -> dict[str, Any]:
    return {
        "valid_from": [START] * count,
        "valid_to": [OPEN_END] * count,
        "observed_at": [START] * count,
        "provenance": ["declared"] * count,
        "confidence": [0.9] * count,
        "source": ["k8s"] * count,
        "event_id": [""] * count,
    }


def _edges(rng: np.random.Generator, ids: list[str], kinds: list[str]) -> dict[str, Any]:
    services = [one for one, kind in zip(ids, kinds, strict=True) if kind == "Service"]
    rows = [
        (services[int(a)], "calls", services[int(b)])
        for a, b in rng.integers(0, len(services), (620, 2))
        if a != b
    ]
    rows += [(one, "part_of", ids[index // 8 * 8]) for index, one in enumerate(ids) if index % 8]
    return {
        "src": [row[0] for row in rows],
        "pred": [row[1] for row in rows],
        "dst": [row[2] for row in rows],
        **_stamps(len(rows)),
    }


def _facts(ids: list[str]) -> dict[str, Any]:
    rows = [(one, field, json.dumps(index)) for index, one in enumerate(ids) for field in FIELDS]
    return {
        "entity_id": [row[0] for row in rows],
        "field": [row[1] for row in rows],
        "value_json": [row[2] for row in rows],
        **_stamps(len(rows)),
    }


def _changes(rng: np.random.Generator, ids: list[str], count: int) -> dict[str, dict[str, Any]]:
    events = [f"c-{index:08x}" for index in range(count)]
    ts = np.sort(rng.integers(START, NOW, count))
    targets = [ids[int(x)] for x in np.minimum(rng.zipf(1.3, count), len(ids)) - 1]
    diffs = [
        (event, targets[i], FIELDS[(i + k) % 6]) for i, event in enumerate(events) for k in (0, 1)
    ]
    return {
        "change_event": {
            "id": events,
            "ts": ts,
            "observed_at": ts,
            "type": [
                ("deploy", "config", "iac_apply", "pod", "scale")[i % 5] for i in range(count)
            ],
            "actor": [f"person-{i % 40}" for i in range(count)],
            "actor_kind": ["person"] * count,
            "source": ["git"] * count,
            "pr": [f"#{i}" for i in range(count)],
            "repo": ["infra"] * count,
            "commit": [f"{i:07x}" for i in range(count)],
            "summary": [f"Update settings of item {i}" for i in range(count)],
        },
        "change_target": {
            "event_id": events,
            "entity_id": targets,
            "role": ["target"] * count,
        },
        "change_diff": {
            "event_id": [row[0] for row in diffs],
            "entity_id": [row[1] for row in diffs],
            "field": [row[2] for row in diffs],
            "old_json": ["1"] * len(diffs),
            "new_json": ["2"] * len(diffs),
            "redacted": [False] * len(diffs),
        },
    }


def _log_block(rng: np.random.Generator, ids: list[str], lines: int) -> LogBlock:
    count = 700
    weights = 1.0 / np.arange(1, count + 1) ** 1.2
    return LogBlock(
        ts=np.sort(rng.integers(NOW - DAY, NOW, lines)),
        template=rng.choice(count, lines, p=weights / weights.sum()).astype(np.int32),
        arg0=rng.integers(0, 10**9, lines),
        arg1=rng.integers(1, 5_000, lines),
        templates=[f"request {{0}} for route {i} took {{1}} ms" for i in range(count)],
        template_entity=[ids[i * 2 % len(ids)] for i in range(count)],
        template_level=[("INFO", "INFO", "WARN", "ERROR")[i % 4] for i in range(count)],
    )


def _calls() -> dict[str, list[dict[str, Any]]]:
    """A few argument sets for each tool, wide and narrow."""
    since, until = "2026-02-25T12:00:00Z", "2026-03-04T12:00:00Z"
    hour = "2026-03-04T11:00:00Z"
    one, two = "e-00000001", "e-000000c9"
    return {
        "search_entities": [{"query": "service-88"}, {"query": "srvce-1x0"}, {"query": ""}],
        "get_entity": [{"id": one}, {"id": one, "as_of": since}],
        "get_neighbors": [{"id": one, "depth": 2, "limit": 50}, {"id": one}],
        "find_paths": [{"src": one, "dst": two}],
        "list_changes": [
            {"since": since, "until": until},
            {"since": hour, "until": until, "around": {"id": one, "depth": 2}},
            {"since": since, "until": until, "entity_ids": [one], "field": "max_connections"},
        ],
        "get_change": [{"id": "c-00000100"}],
        "get_field_history": [{"entity": one, "field": "max_connections"}],
        "compare_state": [{"entity": one, "entity_b": two}, {"entity": one, "t1": since}],
        "search_logs": [
            {"query": "route 77"},
            {"query": "route 7[0-9]* took [0-9]{4}", "mode": "regex"},
            {"query": "", "entity": one, "level": "ERROR"},
            {"query": "no such text"},
        ],
        "log_patterns": [{"since": hour, "until": until}, {"since": since, "until": until}],
        "query_metrics": [{"entity": one, "since": since, "until": until}],
        "list_alerts": [{"since": since, "until": until}],
        "check_health": [{}],
    }


def _measure(session: Any, rounds: int) -> None:
    print(f"{'tool':20} {'p50':>6} {'p95':>6}  CPU ms over {rounds} rounds")
    for tool, variants in _calls().items():
        spent: list[float] = []
        for _ in range(rounds):
            for args in variants:
                began = time.process_time()
                answer = session.call(tool, args)
                spent.append((time.process_time() - began) * 1000)
                if answer.is_error:
                    raise SystemExit(f"{tool} {args}: {answer.text}")
        p50, p95 = np.percentile(spent, (50, 95))
        budget = LOG_BUDGET if tool in ("search_logs", "log_patterns") else BUDGET
        print(f"{tool:20} {p50:6.1f} {p95:6.1f}{'' if p95 <= budget else '  over budget'}")


def main(lines: int = 100_000, rounds: int = 30) -> None:
    """Print the figures for a world with ``lines`` log lines."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "world"
        for turn in ("first", "again"):
            tables = noise_world(lines)
            began = time.process_time()
            write_world(tables, directory)
            print(f"write, {turn}: {time.process_time() - began:.3f} CPU-s")
        size = sum(path.stat().st_size for path in directory.iterdir())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"on disk {size / 1e6:.1f} MB, peak memory {peak:.0f} MB")
        interface = WorldInterface(kept_answers=0)
        for turn in ("first", "again"):
            began = time.process_time()
            session = interface.open(str(directory), 1)
            print(f"open, {turn}: {(time.process_time() - began) * 1000:.1f} CPU-ms")
        _measure(session, rounds)
        session.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
