"""As-of state is base state plus replayed diffs: in the fact table, and through the tools."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.graph.conformance import every_row
from tests.graph.test_identity import Remaking
from tests.graph.worlds import Builder
from tests.simulate.small import FLEET, small_spec

from heldout.graph import WorldInterface, WorldSession, write_world
from heldout.graph.identity import Life, chained
from heldout.graph.schema import OPEN_END, WorldTables
from heldout.graph.tools.page import clip_value
from heldout.simulate import generate

TIMES = 50
LEAN = {"log_lines": 500, "events": 900, "scale": 0.25}
State = dict[tuple[str, str], str]
"""(entity, field) to JSON text."""


def rows_of(tables: WorldTables, table: str) -> list[dict[str, Any]]:
    """One table as rows."""
    columns = tables.columns[table]
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def moment(at: int) -> str:
    """A time to the microsecond, as a model may send it."""
    whole = np.datetime64(at, "us").astype(str)
    return f"{whole}Z"


@dataclass(frozen=True)
class History:
    """An independent reading of a world: what held at the start, and what each change did."""

    tables: WorldTables

    @cached_property
    def facts(self) -> list[dict[str, Any]]:
        """The fact table."""
        return rows_of(self.tables, "fact")

    @cached_property
    def base(self) -> State:
        """What no change has set."""
        return {
            (row["entity_id"], row["field"]): row["value_json"]
            for row in self.facts
            if not row["event_id"]
        }

    @cached_property
    def born(self) -> dict[str, int]:
        """When each entity was first seen."""
        return {row["id"]: row["first_seen"] for row in rows_of(self.tables, "entity")}

    @cached_property
    def changes(self) -> list[tuple[int, int, str]]:
        """(ts, observed_at, id) in the order in which they happened."""
        return sorted(
            (row["ts"], row["observed_at"], row["id"])
            for row in rows_of(self.tables, "change_event")
        )

    @cached_property
    def steps(self) -> dict[str, list[dict[str, Any]]]:
        """Diffs and remakings by change."""
        found: dict[str, list[dict[str, Any]]] = {}
        for row in rows_of(self.tables, "change_target"):
            if row["role"] != "target":
                found.setdefault(row["event_id"], []).append(row)
        for row in rows_of(self.tables, "change_diff"):
            found.setdefault(row["event_id"], []).append(row)
        return found

    @cached_property
    def remade(self) -> set[str]:
        """Entities that were deleted or applied anew."""
        rows = rows_of(self.tables, "change_target")
        return {row["entity_id"] for row in rows if row["role"] != "target"}

    @cached_property
    def before(self) -> dict[str, str]:
        """The incarnation that each one continues."""
        keys: dict[tuple[str, ...], list[Life]] = {}
        for row in rows_of(self.tables, "entity"):
            life = Life(row["id"], row["first_seen"], row["last_seen"])
            keys.setdefault((row["kind"], row["name"], row["cluster"]), []).append(life)
        chains = [chain for lives in keys.values() for chain in chained(lives)]
        return {new.id: old.id for chain in chains for old, new in pairwise(chain)}

    def state(self, at: int, *, known_at: int = OPEN_END) -> State:
        """Base state and every diff up to ``at`` that was observed by ``known_at``."""
        state = {key: value for key, value in self.base.items() if self.born[key[0]] <= at}
        deleted: dict[str, State] = {}
        for ts, observed, change in self.changes:
            if ts > at:
                break
            if observed > known_at:
                continue
            for step in self.steps.get(change, ()):
                entity = step["entity_id"]
                if step.get("role") == "deleted":
                    deleted[entity] = {key: state[key] for key in state if key[0] == entity}
                    state = {key: value for key, value in state.items() if key[0] != entity}
                elif step.get("role") == "applied":
                    old = deleted[self.before[entity]]
                    state.update({(entity, field): value for (_, field), value in old.items()})
                elif step["new_json"] == "null":
                    state.pop((entity, step["field"]), None)
                else:
                    state[(entity, step["field"])] = step["new_json"]
        return state

    def deleted(self, at: int) -> set[str]:
        """Entities whose deletion was observed by ``at``."""
        seen = {change for _, observed, change in self.changes if observed <= at}
        return {
            step["entity_id"]
            for change in seen
            for step in self.steps.get(change, ())
            if step.get("role") == "deleted"
        }

    def fields(self, entity: str, at: int, *, known_at: int = OPEN_END) -> dict[str, Any]:
        """One object's fields as answers show them, under whatever id it had at the time."""
        ids = {entity}
        while entity in self.before:
            entity = self.before[entity]
            ids.add(entity)
        return {
            field: clip_value(json.loads(value))
            for (one, field), value in self.state(at, known_at=known_at).items()
            if one in ids
        }

    def moments(self, count: int) -> list[int]:
        """Random times, half of them within seconds of a change, where lags matter."""
        rng = np.random.Generator(np.random.PCG64(20))
        low, high = self.tables.start, self.tables.now
        times = rng.integers(low, high, count)
        places = rng.integers(0, len(self.changes), count)
        near = [self.changes[int(place)][0] for place in places]
        lag = rng.integers(0, 60_000_000, count)
        return [min(near[i] + int(lag[i]), high) if i % 2 else int(times[i]) for i in range(count)]

    def busiest(self, count: int) -> list[str]:
        """Entities that change most, by id."""
        hits: dict[str, int] = {}
        for steps in self.steps.values():
            for step in steps:
                hits[step["entity_id"]] = hits.get(step["entity_id"], 0) + 1
        return sorted(hits, key=lambda one: (-hits[one], one))[:count]


def held(facts: Sequence[Mapping[str, Any]], at: int) -> State:
    """What the fact table says held at a time."""
    return {
        (row["entity_id"], row["field"]): row["value_json"]
        for row in facts
        if row["valid_from"] <= at < row["valid_to"]
    }


def known(facts: Sequence[Mapping[str, Any]], at: int, deleted: Collection[str]) -> State:
    """What was believed at a time: of each field the youngest value that was observed by then.

    ``deleted`` are the entities that were known to be no more.
    """
    youngest: dict[tuple[str, str], tuple[int, str]] = {}
    for row in facts:
        if row["entity_id"] in deleted:
            continue
        if row["valid_from"] <= at and row["observed_at"] <= at:
            key = (row["entity_id"], row["field"])
            youngest[key] = max(youngest.get(key, (-1, "")), (row["valid_from"], row["value_json"]))
    return {key: value for key, (_, value) in youngest.items()}


def wrong_in_table(history: History, facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where the fact table differs from base state and diffs, at 50 times."""
    found = []
    for at in history.moments(TIMES):
        for name, table, replayed in (
            ("held", held(facts, at), history.state(at)),
            (
                "known",
                known(facts, at, history.deleted(at)),
                history.state(at, known_at=at),
            ),
        ):
            odd = sorted(key for key in table.keys() | replayed.keys()
                         if table.get(key) != replayed.get(key))  # fmt: skip
            found += [f"{name} at {at}: {key}" for key in odd]
    return found


def shown_fields(session: WorldSession, entity: str, **args: str) -> dict[str, Any]:
    """An entity's fields through get_entity, all pages of them."""
    found: dict[str, Any] = {}
    for row in every_row(session, "get_entity", id=entity, **args):
        found |= {field: fact["value"] for field, fact in row["fields"].items()}
    return found


def wrong_in_tools(session: WorldSession, history: History, entities: Sequence[str]) -> list[str]:
    """Where get_entity and compare_state differ from base state and diffs, at 50 times."""
    found = []
    times = history.moments(TIMES)
    for number, at in enumerate(times):
        entity, then = entities[number % len(entities)], times[number - 1]
        left, right = (
            history.fields(entity, one, known_at=history.tables.now) for one in (at, then)
        )
        if shown_fields(session, entity, as_of=moment(at)) != left:
            found.append(f"get_entity {entity} at {at}")
        differing = {
            field: (left.get(field), right.get(field)) for field in left.keys() | right.keys()
            if left.get(field) != right.get(field)
        }  # fmt: skip
        rows = every_row(session, "compare_state", entity=entity, t1=moment(at), t2=moment(then))
        if {row["field"]: (row["left"], row["right"]) for row in rows} != differing:
            found.append(f"compare_state {entity} at {at}")
    return found


def remade() -> WorldTables:
    """A few days of two objects; one is deleted and applied anew."""
    build = Builder()
    build.entity(3, "Deployment", "quay-core", replicas=2)
    return Remaking().into(build).tables()


WORLDS = {
    "single": lambda: generate(small_spec(knobs=LEAN)).tables,
    "fleet": lambda: (
        generate(
            small_spec(seed=8, traps=FLEET, knobs={**LEAN, "archetype": "fleet", "clusters": 3})
        ).tables
    ),
    "remade": remade,
}


@pytest.fixture(scope="module", params=WORLDS)
def history(request: pytest.FixtureRequest) -> History:
    """Worlds with one cluster, with several, and with an object that was made anew."""
    return History(WORLDS[request.param]())


@pytest.fixture(scope="module")
def session(history: History, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldSession]:
    """A session over that world."""
    yield from opened(history.tables, tmp_path_factory.mktemp("as_of") / "w")


def opened(tables: WorldTables, folder: Path) -> Iterator[WorldSession]:
    """Write a world, look at it, and let it go."""
    write_world(tables, folder)
    session = WorldInterface().open(str(folder), 1)
    yield session
    session.close()


def test_the_fact_table_is_base_state_and_diffs_at_50_times(history: History):
    """What held, and what was known to hold, agrees with a replay of the changes."""
    assert len(history.changes) >= 3
    assert wrong_in_table(history, history.facts) == []


def test_the_tools_say_as_of_what_base_state_and_diffs_say(history: History, session: WorldSession):
    """get_entity and compare_state give the replayed state at 50 times."""
    assert wrong_in_tools(session, history, history.busiest(12)) == []


def longest_step(history: History) -> dict[str, Any]:
    """Of the facts that a change set, the one that held longest; not of what was made anew."""
    return max(
        (row for row in history.facts if row["event_id"]),
        key=lambda row: (
            row["entity_id"] not in history.remade,
            min(row["valid_to"], history.tables.now) - row["valid_from"],
            str(row),
        ),
    )


@pytest.mark.parametrize("column", ["value_json", "valid_from", "observed_at"])
def test_one_altered_fact_is_found(history: History, tmp_path: Path, column: str):
    """Another value, another beginning or another time of observation shows as a difference."""
    altered = longest_step(history)
    later = (min(altered["valid_to"], history.tables.now) + altered["valid_from"]) // 2
    value = {"value_json": '"something else"'}.get(column, later)
    moved = {"observed_at": later} if column == "valid_from" else {}
    facts = [{**row, column: value, **moved} if row is altered else row for row in history.facts]
    assert wrong_in_table(history, facts)
    if column == "observed_at":
        return  # As-of is about what is known now, not about when it became known.
    columns = {name: [row[name] for row in facts] for name in history.tables.columns["fact"]}
    tables = replace(history.tables, columns={**history.tables.columns, "fact": columns})
    if altered["entity_id"] in history.remade:
        return  # The writer itself refuses a re-application that contradicts its facts.
    for session in opened(tables, tmp_path / "w"):
        assert wrong_in_tools(session, history, [altered["entity_id"]])


def test_what_was_not_yet_observed_could_not_be_known(history: History, tmp_path: Path):
    """Seen from within a change's lag, the tools show what held before it, and nothing of it."""
    lagging = [one for one in history.changes if one[1] > one[0] and one[2] in history.steps]
    rng = np.random.Generator(np.random.PCG64(4))
    for pick in rng.integers(0, len(lagging), 4) if lagging else ():
        ts, observed, change = lagging[int(pick)]
        now = ts + (observed - ts) // 2
        alerts = [row for row in rows_of(history.tables, "alert") if row["ts"] <= now]
        columns = {name: [row[name] for row in alerts] for name in history.tables.columns["alert"]}
        tables = replace(
            history.tables, now=now, columns={**history.tables.columns, "alert": columns}
        )
        touched = {step["entity_id"] for step in history.steps[change]}
        for session in opened(tables, tmp_path / change):
            for entity in sorted({*touched, *history.busiest(6)}):
                assert shown_fields(session, entity) == history.fields(entity, now, known_at=now)
            seen = every_row(session, "list_changes", since="1970-01-01", until=moment(now))
            assert {row["id"] for row in seen} == {
                one for _, at, one in history.changes if at <= now
            }
            assert session.call("get_change", {"id": change}).is_error
