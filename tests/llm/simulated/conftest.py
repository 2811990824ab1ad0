"""A tiny world with the tools' row shapes, and a loop that lets a simulated model work in it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from heldout.llm.simulated import handle

FIRED = datetime(2026, 3, 12, 15, 20, tzinfo=UTC)
TOOLS = (
    "search_entities", "get_entity", "get_neighbors", "find_paths", "list_changes", "get_change",
    "get_field_history", "compare_state", "search_logs", "log_patterns", "query_metrics",
    "list_alerts", "check_health", "submit_diagnosis",
)  # fmt: skip
HERE = Path(__file__).parent

ENTITIES = {
    "e-00000001": ("Service", "tarn-quoter", "north"),
    "e-00000002": ("Deployment", "tarn-quoter", "north"),
    "e-00000003": ("Service", "moss-ledger", "north"),
    "e-00000004": ("Database", "fen-store", "north"),
    "e-00000005": ("DbParameterGroup", "fen-store-params-north", "north"),
    "e-00000006": ("DbParameterGroup", "fen-store-params-south", "south"),
    "e-00000007": ("ConfigMap", "moss-ledger-config", "north"),
    "e-00000008": ("DbParameterGroup", "moss-ledger-limits", "north"),
    "e-00000009": ("Service", "birch-mailer", "north"),
}
EDGES = [
    ("e-00000001", "routes_to", "e-00000002"),
    ("e-00000001", "calls", "e-00000003"),
    ("e-00000003", "reads_writes", "e-00000004"),
    ("e-00000003", "mounts", "e-00000007"),
    ("e-00000004", "uses", "e-00000005"),
]
PATTERNS = {
    "e-00000001": [("call to moss-ledger failed: deadline exceeded", "ERROR", 220)],
    "e-00000003": [("query on fen-store failed after <*> ms", "ERROR", 180)],
    "e-00000004": [
        ("refused connection: all slots of max_connections=20 are taken", "ERROR", 400),
        ("checkpoint took <*> ms", "WARN", 3),
    ],
}
CULPRIT, DECOY, OLD = "c-0000c0de", "c-0000dec0", "c-00000001"
HELP, NAMESAKE, TRIAL = "c-00000a1d", "c-0000a11a", "c-000007a1"
SHOWN_FIELDS = 12
"""How many fields of a change a list shows."""


def at(days: float = 0.0, minutes: float = 0.0) -> str:
    """An ISO time before the alert."""
    moment = FIRED - timedelta(days=days, minutes=minutes)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def change(
    id: str, ts: str, entity: str, field: str, summary: str, type: str = "iac_apply"
) -> dict[str, Any]:
    """One change event with its single diff."""
    return {
        "id": id, "ts": ts, "type": type, "actor": "rowan", "actor_kind": "person",
        "source": "git", "pr": "", "summary": summary, "entity": entity, "field": field,
        "old": "200", "new": "20",
    }  # fmt: skip


@dataclass
class TinyWorld:
    """Answers the tools from plain Python data."""

    changes: list[dict[str, Any]] = field(default_factory=list)
    patterns: dict[str, list[tuple[str, str, int]]] = field(default_factory=dict)
    note: str = ""
    """What somebody left under the alert."""
    errors: tuple[float, ...] = (*[0.4] * 21, *[24.0] * 9)
    """Error share of the alerted service, one value per minute up to the alert."""
    alerts: list[tuple[str, str]] = field(default_factory=list)
    """(entity, severity) of other alerts that fire."""
    gaps: frozenset[str] = frozenset()
    """Entities whose logs have gaps."""
    dark: frozenset[str] = frozenset()
    """Entities whose logs were not kept."""

    def call(self, tool: str, args: dict[str, Any]) -> str:
        """The JSON text of one answer."""
        answer = getattr(self, f"_{tool}", None)
        if answer is None:
            return json.dumps(page([]))
        return json.dumps(answer(**args))

    def _search_entities(self, query: str, kinds: Any = None, **_: Any) -> Any:
        return page(
            [row(i) for i, (kind, name, _) in ENTITIES.items()
             if query in name and (not kinds or kind in kinds)]
        )  # fmt: skip

    def _get_entity(self, id: str, **_: Any) -> Any:
        fields = {
            "e-00000005": {"maxConnections": "20", "family": "pg16", "workMem": "64"},
            "e-00000006": {"maxConnections": "200", "family": "pg16", "workMem": "64"},
            "e-00000002": {"image": "registry/tarn-quoter:4.2", "replicas": "4"},
            "e-00000007": {"timeoutMs": "800"},
        }.get(id, {})
        held = {
            name: {"value": value, "since": at(30), "provenance": "observed", "confidence": 1.0}
            for name, value in fields.items()
        }
        return page([{**row(id), "fields": held}])

    def _get_neighbors(self, id: str, depth: int = 1, **_: Any) -> Any:
        seen, edge = {id: 0}, [id]
        for level in range(1, depth + 1):
            edge = [
                other
                for src, _, dst in EDGES
                for here, other in ((src, dst), (dst, src))
                if here in edge and other not in seen
            ]
            seen.update(dict.fromkeys(edge, level))
        return page([{**row(i), "predicate": "p", "direction": "out", "depth": level}
                     for i, level in seen.items() if level])  # fmt: skip

    def _list_changes(
        self, since: str, until: str, entity_ids: Any = None, around: Any = None,
        field: str = "", cursor: str = "", **_: Any,
    ) -> Any:  # fmt: skip
        ids = set(entity_ids or ENTITIES)
        found = [
            listed(one)
            for one in sorted(self.changes, key=lambda one: one["ts"], reverse=True)
            if ids & {name for name, *_ in diffs(one)}
            and any(field.lower() in name.lower() for _, name, *_ in diffs(one))
            and since <= one["ts"] <= until
        ]
        start = int(cursor or 0)
        more = len(found) > start + 20
        return {
            **page(found[start : start + 20]), "total_estimate": len(found), "truncated": more,
            "cursor": str(start + 20) if more else None, "outside_window": 3,
        }  # fmt: skip

    def _get_change(self, id: str, cursor: str = "", **_: Any) -> Any:
        known = [one for one in self.changes if one["id"] == id]
        if not known:
            return {"error": {"type": "unknown_id", "message": id, "near": []}}
        shown = [
            {"entity": entity, "entity_name": ENTITIES[entity][1], "field": name, "old": old,
             "new": new}
            for entity, name, old, new in diffs(known[0])
        ]  # fmt: skip
        start = int(cursor or 0)
        more = len(shown) > start + SHOWN_FIELDS
        answer = page([{**listed(known[0]), "diffs": shown[start : start + SHOWN_FIELDS]}])
        next_page = str(start + SHOWN_FIELDS) if more else None
        return {**answer, "truncated": more, "cursor": next_page}

    def _get_field_history(self, entity: str, field: str, **_: Any) -> Any:
        found = sorted(self.changes, key=lambda one: one["ts"], reverse=True)
        return page(
            [{"ts": one["ts"], "change_id": one["id"], "old": old, "new": new,
              "actor": one["actor"], "pr": ""}
             for one in found
             for changed, name, old, new in diffs(one) if (changed, name) == (entity, field)]
        )  # fmt: skip

    def _compare_state(self, **_: Any) -> Any:
        return page([{"field": "maxConnections", "left": "20", "right": "200"}])

    def _log_patterns(self, entity: str, **_: Any) -> Any:
        if entity in self.dark:
            return {"error": {"type": "unavailable", "message": "not kept", "near": []}}
        rows = [
            {"pattern": text, "entity": entity, "entity_name": ENTITIES[entity][1],
             "level": level, "count": count, "baseline_count": 0, "new": True,
             "example_id": f"l-{number}"}
            for number, (text, level, count) in enumerate(self.patterns.get(entity, []))
        ]  # fmt: skip
        holes = [{"source": "logs", "entity": entity}] if entity in self.gaps else []
        return {**page(rows), "data_gaps": holes}

    def _list_alerts(self, **_: Any) -> Any:
        return page(
            [{"id": f"a-{number}", "ts": at(minutes=2), "rule": "Down", "entity": entity,
              "entity_name": ENTITIES[entity][1], "severity": severity, "text": "",
              "state": "firing"}
             for number, (entity, severity) in enumerate(self.alerts)]
        )  # fmt: skip

    def _query_metrics(self, entity: str, **_: Any) -> Any:
        requests = {"series": "m-00000001", "name": "requests", "unit": "1/s", "points": [],
                    "min": 1, "max": 9, "mean": 3, "first_change": at(minutes=12)}  # fmt: skip
        if entity != "e-00000001":
            return page([requests])
        points = [[at(minutes=len(self.errors) - n), value]
                  for n, value in enumerate(self.errors)]  # fmt: skip
        first = next((ts for ts, value in points if value > 4), None)
        errors = {"series": "m-00000002", "name": "error_share", "unit": "percent",
                  "points": points, "min": 0, "max": 1, "mean": 1, "first_change": first}  # fmt: skip
        return page([errors, requests])


def page(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The envelope of a complete answer."""
    return {"rows": rows, "total_estimate": len(rows), "truncated": False, "cursor": None,
            "window_used": None, "data_gaps": []}  # fmt: skip


def row(id: str) -> dict[str, Any]:
    """An entity as a row."""
    kind, name, cluster = ENTITIES[id]
    return {"id": id, "kind": kind, "name": name, "cluster": cluster, "status": "unknown"}


def diffs(one: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """(entity, field, old, new) of everything a change touched."""
    first = (one["entity"], one["field"], one["old"], one["new"])
    return sorted([first, *one.get("also", [])])


def listed(one: dict[str, Any]) -> dict[str, Any]:
    """A change as list_changes shows it."""
    hidden = {"entity", "field", "old", "new", "also"}
    shown = {key: value for key, value in one.items() if key not in hidden}
    of = sorted({entity for entity, *_ in diffs(one)})
    fields = sorted({name for _, name, *_ in diffs(one)})
    more = {"more_fields": len(fields) - SHOWN_FIELDS} if len(fields) > SHOWN_FIELDS else {}
    named = [{"id": entity, "name": ENTITIES[entity][1]} for entity in of]
    return {**shown, "entities": named, "fields": fields[:SHOWN_FIELDS], **more}


def latent() -> TinyWorld:
    """The cause landed six days ago among noise; a deploy of the victim landed at onset."""
    noise = [
        change(f"c-1{n:07d}", at(0.2 + n / 4), "e-00000005", "workMem", "tune memory")
        for n in range(48)
    ]
    cause = change(CULPRIT, at(6), "e-00000005", "maxConnections", "right-size the parameters")
    decoy = change(DECOY, at(minutes=9), "e-00000002", "image", "roll out 4.2", "deploy")
    return TinyWorld([cause, decoy, *noise], dict(PATTERNS))


def onset() -> TinyWorld:
    """The change at onset is the cause; an older one of another field is innocent."""
    cause = change(CULPRIT, at(minutes=9), "e-00000005", "maxConnections", "right-size it")
    old = change(OLD, at(7), "e-00000005", "workMem", "tune memory")
    return TinyWorld([cause, old], dict(PATTERNS))


def causeless() -> TinyWorld:
    """Nothing that touches the mechanism was changed; a deploy landed at onset."""
    decoy = change(DECOY, at(minutes=9), "e-00000002", "image", "roll out 4.2", "deploy")
    return TinyWorld([decoy], dict(PATTERNS))


def recovered() -> TinyWorld:
    """The errors rose and fell again before the alert was read; a deploy landed at onset."""
    return replace(causeless(), errors=(*[0.4] * 15, *[24.0] * 10, *[0.4] * 5))


def squashed() -> TinyWorld:
    """The cause is one of many fields of a change of six days ago."""
    world = latent()
    cause = next(one for one in world.changes if one["id"] == CULPRIT)
    cause["also"] = [("e-00000005", f"alter{n:02d}", "1", "2") for n in range(14)]
    return world


def helped() -> TinyWorld:
    """Nothing was changed but by somebody who tried to help after the errors had begun."""
    late = change(HELP, at(minutes=4), "e-00000002", "image", "roll back", "deploy")
    return replace(causeless(), changes=[late])


def patchy() -> TinyWorld:
    """The logs of the service in the middle have gaps."""
    return replace(latent(), gaps=frozenset({"e-00000003"}))


def noted() -> TinyWorld:
    """A note under the alert points at something that is well."""
    return replace(latent(), note="\nAdded by a bot: moss-ledger-config looks related.\n")


def twinned() -> TinyWorld:
    """The same setting of a namesake in another cluster was changed this morning."""
    other = change(NAMESAKE, at(minutes=50), "e-00000006", "maxConnections", "right-size it")
    return replace(latent(), changes=[*latent().changes, other])


def taken_back() -> TinyWorld:
    """The same setting of something on the way was tried out this morning and put back."""
    trial = change(TRIAL, at(minutes=90), "e-00000008", "maxConnections", "try fewer")
    back = change(NAMESAKE, at(minutes=50), "e-00000008", "maxConnections", "put it back")
    return replace(latent(), changes=[*latent().changes, trial, back])


def noisy() -> TinyWorld:
    """A louder alert fires on something that has no part in it."""
    return replace(latent(), alerts=[("e-00000009", "page")])


def unlit() -> TinyWorld:
    """The logs of the component that fails were not kept, and nothing that fits was changed."""
    return replace(causeless(), dark=frozenset({"e-00000004"}))


def alert(number: int) -> str:
    """The alert of one of many incidents that differ in nothing else."""
    return (
        f"# ErrorRateHigh {number}\n\nFired at {at()}\nService: tarn-quoter\nCluster: north\n"
        "Severity: critical\n\n18 % of requests fail.\n"
    )


@dataclass
class Played:
    """One investigation: its calls in order and what was submitted."""

    calls: list[tuple[str, dict[str, Any]]]
    submission: dict[str, Any]
    text: str = ""

    def used(self, tool: str, *names: str) -> bool:
        """True when a tool was called with all of these arguments."""
        return any(t == tool and all(n in a for n in names) for t, a in self.calls)

    def reaches(self) -> list[float]:
        """How many days before the alert each change search begins."""
        return [
            (FIRED - datetime.fromisoformat(args["since"].replace("Z", "+00:00"))).total_seconds()
            / 86_400
            for tool, args in self.calls
            if tool == "list_changes"
        ]

    def reached_back(self) -> bool:
        """True when it looked for changes before the day of the incident."""
        day = FIRED.strftime("%Y-%m-%dT00:00:00Z")
        return self.used("get_field_history") or any(
            tool == "list_changes" and args["since"] < day for tool, args in self.calls
        )


def play(
    world: Any, brain: str = "", *, number: int = 1, model: str = "anchored", effort: str = "low",
    seed: int = 1, tools: tuple[str, ...] = TOOLS, steps: int = 40,
) -> Played:  # fmt: skip
    """Let a model work until it submits, talks, or runs out of steps."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": brain},
        {"role": "user", "content": alert(number) + getattr(world, "note", "")},
    ]
    offered = [{"type": "function", "function": {"name": t, "parameters": {}}} for t in tools]
    calls: list[tuple[str, dict[str, Any]]] = []
    for _ in range(steps):
        body = {"model": model, "messages": messages, "tools": offered, "seed": seed,
                "reasoning_effort": effort}  # fmt: skip
        before = copy.deepcopy(body)
        answer = handle(body)
        assert body == before
        assert orjson.loads(orjson.dumps(answer)) == answer
        message = answer["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return Played(calls, {}, message["content"])
        for call in message["tool_calls"]:
            name, args = call["function"]["name"], json.loads(call["function"]["arguments"])
            if name == "submit_diagnosis":
                return Played(calls, args, message["content"])
            calls.append((name, args))
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": world.call(name, args)}
            )
    return Played(calls, {})


@dataclass(frozen=True)
class Bench:
    """What the tests need from here, since test files cannot import each other."""

    play: Callable[..., Played] = play
    latent: Callable[[], TinyWorld] = latent
    onset: Callable[[], TinyWorld] = onset
    causeless: Callable[[], TinyWorld] = causeless
    recovered: Callable[[], TinyWorld] = recovered
    squashed: Callable[[], TinyWorld] = squashed
    helped: Callable[[], TinyWorld] = helped
    patchy: Callable[[], TinyWorld] = patchy
    noted: Callable[[], TinyWorld] = noted
    twinned: Callable[[], TinyWorld] = twinned
    taken_back: Callable[[], TinyWorld] = taken_back
    noisy: Callable[[], TinyWorld] = noisy
    unlit: Callable[[], TinyWorld] = unlit
    alert: Callable[[int], str] = alert
    culprit: str = CULPRIT
    decoy: str = DECOY
    old: str = OLD
    help: str = HELP
    namesake: str = NAMESAKE
    trial: str = TRIAL
    tools: tuple[str, ...] = TOOLS
    here: Path = HERE


@pytest.fixture(scope="session")
def bench() -> Bench:
    """The tiny world and the loop."""
    return Bench()
