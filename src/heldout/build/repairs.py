"""The tasks of the repair environment as a set: a spec, an alert, a truth and a world for each.

The world of a task is what the gate reads of it, its files, symbols and commits by name, and what
pins its code by digest; an agent is offered the running code instead. The set is made from the
tasks of this heldout and lies with the imported ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from heldout.build.freezing import Frozen, staged_set, store_incident
from heldout.environments import REPAIR
from heldout.graph.schema import BLOCK_TABLES, TABLES, WorldTables
from heldout.repair.codebase import SERVICES
from heldout.repair.estate import EPOCH
from heldout.repair.history import Commit, history
from heldout.repair.instance import Instance
from heldout.repair.interface import TASK
from heldout.repair.tasks import Task, task, tasks
from heldout.settings import Settings
from heldout.simulate import Generated
from heldout.split import HeldoutAccess, Split
from heldout.truth import Spec, Truth

SECOND = 1_000_000
HISTORY = 500 * 86_400 * SECOND
_DEFINED = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)|^([A-Z][A-Z0-9_]{3,})\s*=", re.M)


def spec_of(one: Task) -> Spec:
    """The spec of a task, without digests."""
    mark = hashlib.sha256(f"canary\0{one.id}".encode()).hexdigest()
    return Spec(
        id=one.id, kind="trap", domain=REPAIR, family=one.family, fault=one.template.name,
        traps=(), group=f"{REPAIR}/{one.template.name}", generator=REPAIR, seed=one.seed,
        canary=mark[:32], source="heldout's own code base",
    )  # fmt: skip


def repair_made(spec: Spec) -> Generated:
    """What a spec of a repair task makes: its alert, its truth, and the world that names it."""
    one = task(spec.id)
    instance = one.instance()
    return Generated(_tables(one, instance), _truth(spec, instance), _alert(instance))


def make_repair_set(settings: Settings, access: HeldoutAccess) -> None:
    """Make the set of every task where it is not there yet; it is split by template."""
    directory = settings.imported_sets / REPAIR
    if (directory / "split.toml").is_file():
        return
    every = tasks().values()
    made = []
    for one in every:
        generated = repair_made(spec_of(one))
        made.append(Frozen(store_incident(settings, spec_of(one), generated), generated.alert))
    halves: dict[str, list[str]] = {"train": [], "test": []}
    for one in every:
        halves[one.half].append(one.id)
    split = Split(REPAIR, tuple(halves["train"]), tuple(halves["test"]))
    with staged_set(settings, directory, split, made):
        pass


def _alert(instance: Instance) -> str:
    return (
        f"# {instance.template.title}\n\n"
        f"Services: {', '.join(SERVICES)}\n"
        "The code of all three is yours to read and to change. Find what is wrong, repair it, and "
        "submit a report; what it costs is simulated time.\n"
    )


def _truth(spec: Spec, instance: Instance) -> Truth:
    said, guilty = instance.truth, history(instance).guilty
    return Truth(
        incident=spec.id,
        culprit_entity=f"{said.service}/{said.file}:{said.symbol}",
        culprit_change=guilty,
        culprit_field=said.symbol,
        accepted_entities=(f"{said.service}/{said.file}:{said.symbol}",),
        accepted_changes=(guilty,),
        # The mechanisms are a closed list that every report chooses from: a word of it is no fact.
        mechanism="",
        mechanism_terms=(),
        trigger="",
        affected=said.affected,
        unaffected=(),
        chain=(),
        decoys=(),
        near_misses=(),
        recommended_fix=instance.template.fix.name,
        canary=spec.canary,
    )


def _tables(one: Task, instance: Instance) -> WorldTables:
    tree, past = instance.tree(), history(instance)
    now, start = EPOCH * SECOND, EPOCH * SECOND - HISTORY
    named: dict[tuple[str, str], str] = {}
    for service in SERVICES:
        named["Service", service] = service
    for path, text in tree.files.items():
        named["CustomResource", path] = path
        for symbol in sorted({a or b for a, b in _DEFINED.findall(text)}):
            named["CustomResource", f"{path}:{symbol}"] = symbol
    ids = {key: f"e-{_hash(one.id, *key)}" for key in named}
    changes = {commit.id: f"c-{_hash(one.id, commit.id)}" for commit in past.commits}
    rows: dict[str, list[Mapping[str, Any]]] = {
        "entity": [
            {"id": ids[key], "kind": key[0], "name": name, "external_id": key[1], "cluster": "",
             "first_seen": start, "last_seen": now}
            for key, name in named.items()
        ],
        "change_event": [_change(commit, changes[commit.id]) for commit in past.commits],
        "change_target": [
            {"event_id": changes[commit.id], "entity_id": ids["CustomResource", path],
             "role": "target"}
            for commit in past.commits for path in commit.files
            if ("CustomResource", path) in ids
        ],
    }  # fmt: skip
    return WorldTables(
        columns={
            table: _columns(table, rows.get(table, ()))
            for table in TABLES
            if table not in BLOCK_TABLES
        },
        now=now,
        start=start,
        meta={TASK: one.id, "code": tree.digest},
    )


def _change(commit: Commit, name: str) -> dict[str, Any]:
    at = commit.at * SECOND
    return {
        "id": name, "ts": at, "observed_at": at, "type": "pr_merge", "actor": commit.author,
        "actor_kind": "person", "source": "git", "pr": "", "repo": "", "commit": commit.id,
        "summary": commit.message,
    }  # fmt: skip


def _columns(table: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    rows = list(rows)
    return {column: [row[column] for row in rows] for column, _ in TABLES[table]}


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]
