"""An object that was deleted and applied again is one object, through the tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.conformance import ask, check_conformance, every_row
from tests.graph.worlds import DAY, HOUR, MINUTE, NOW, START, Builder, cid, eid, small_builder

from heldout.errors import WorldError
from heldout.graph import WorldInterface, WorldSession, verify_world, write_world
from heldout.graph.identity import Incarnations, Life, chained, reapplied_diff
from heldout.graph.schema import OPEN_END
from heldout.graph.tools.page import iso

GONE, BORN = NOW - 3 * DAY, NOW - 3 * DAY + 2 * HOUR
OLD_FACTS = {"namespace": "dock", "data.mode": "fast", "data.retries": 5, "data.legacy": True}
NEW_FACTS = {"namespace": "dock", "data.mode": "safe", "data.retries": 5, "data.quota": 9}
BEFORE, BETWEEN, AFTER = iso(GONE - HOUR), iso(GONE + HOUR), iso(BORN + HOUR)
WINDOW = {"since": iso(START), "until": iso(NOW)}


@dataclass
class Remaking:
    """Ids and facts of a ConfigMap that is deleted and applied anew, as rows of a builder."""

    old: int = 20
    new: int = 21
    kind: str = "ConfigMap"
    name: str = "berth-settings"
    cluster: str = "north"
    observed: int | None = None

    def into(self, build: Builder) -> Builder:
        """Add both incarnations and the changes around them."""
        build.entity(self.old, self.kind, self.name, self.cluster)
        build.rows["entity"][-1]["last_seen"] = GONE
        for field, value in OLD_FACTS.items():
            since = NOW - 5 * DAY if field == "data.retries" else START
            event = cid(200) if field == "data.retries" else ""
            build.fact(self.old, field, value, since=since, until=GONE, event=event)
        build.fact(self.old, "data.retries", 3, until=NOW - 5 * DAY)
        build.entity(self.new, self.kind, self.name, self.cluster)
        build.rows["entity"][-1]["first_seen"] = BORN
        for field, value in NEW_FACTS.items():
            observed = self.observed or BORN
            build.fact(self.new, field, value, since=BORN, event=cid(202), observed=observed)
        build.edge(3, "mounts", self.old, until=GONE)
        build.edge(3, "mounts", self.new, since=BORN)
        build.change(200, NOW - 5 * DAY, "config", "mara", [(self.old, "data.retries", 3, 5)])
        build.change(201, GONE, "config", "iven", [], targets=[self.old], observed=self.observed)
        build.rows["change_target"][-1]["role"] = "deleted"
        diffs = [(self.new, *step) for step in reapplied_diff(OLD_FACTS, NEW_FACTS)]
        build.change(202, BORN, "config", "iven", diffs, pr="#90", observed=self.observed)
        build.rows["change_target"][-1]["role"] = "applied"
        return build


def opened(build: Builder, folder: Path) -> WorldSession:
    """A session over what was built."""
    verify_world(folder, write_world(build.tables(), folder), deep=True)
    return WorldInterface().open(str(folder), 1)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldSession]:
    """The small world in which berth-settings is made anew."""
    found = opened(Remaking().into(small_builder()), tmp_path_factory.mktemp("remade") / "w")
    yield found
    found.close()


def test_the_history_of_a_field_goes_back_before_the_deletion(session: WorldSession):
    """The re-application is a step from what was deleted to what was applied; older steps follow."""
    mode = ask(session, "get_field_history", entity=eid(21), field="data.mode")
    assert [(row["change_id"], row["old"], row["new"], row["role"]) for row in mode["rows"]] == [
        (cid(202), "fast", "safe", "applied")
    ]
    assert mode["current"]["value"] == "safe"
    assert [one["id"] for one in mode["incarnations"]] == [eid(20), eid(21)]
    retries = ask(session, "get_field_history", entity=eid(21), field="data.retries")
    assert [(row["change_id"], row["incarnation"]) for row in retries["rows"]] == [
        (cid(200), eid(20))
    ]
    legacy = ask(session, "get_field_history", entity=eid(21), field="data.legacy")
    assert [(row["old"], row["new"]) for row in legacy["rows"]] == [(True, None)]
    assert legacy["current"] is None


def test_the_history_of_what_was_deleted_ends_with_it(session: WorldSession):
    """An earlier incarnation does not take in what came after it."""
    assert ask(session, "get_field_history", entity=eid(20), field="data.mode")["rows"] == []
    rows = ask(session, "list_changes", entity_ids=[eid(20)], **WINDOW)["rows"]
    assert [row["id"] for row in rows] == [cid(201), cid(200)]


def test_changes_of_an_object_take_in_all_its_incarnations(session: WorldSession):
    """By id or around a neighbour, the deletion and what was before are found, marked as such."""
    body = ask(session, "list_changes", entity_ids=[eid(21)], **WINDOW)
    assert [row["id"] for row in body["rows"]] == [cid(202), cid(201), cid(200)]
    applied, deleted, older = (row["entities"] for row in body["rows"])
    assert applied == [{"id": eid(21), "name": "berth-settings", "role": "applied"}]
    assert deleted == [
        {"id": eid(20), "name": "berth-settings", "role": "deleted", "replaced_by": eid(21)}
    ]
    assert older == [{"id": eid(20), "name": "berth-settings", "replaced_by": eid(21)}]
    late = ask(session, "list_changes", entity_ids=[eid(21)], since=AFTER, until=iso(NOW))
    assert (late["rows"], late["outside_window"]) == ([], 3)
    of_field = ask(session, "list_changes", entity_ids=[eid(21)], field="data.retries", **WINDOW)[
        "rows"
    ]
    assert [row["id"] for row in of_field] == [cid(200)]
    around = every_row(session, "list_changes", around={"id": eid(3), "depth": 1}, **WINDOW)
    assert {cid(200), cid(201), cid(202)} <= {row["id"] for row in around}


def test_the_reapplication_is_a_change_with_a_diff(session: WorldSession):
    """get_change shows field by field what differs between what was deleted and applied."""
    row = ask(session, "get_change", id=cid(202))["rows"][0]
    assert [(one["field"], one["old"], one["new"]) for one in row["diffs"]] == [
        ("data.legacy", True, None), ("data.mode", "fast", "safe"), ("data.quota", None, 9),
    ]  # fmt: skip
    assert row["entities"][0]["role"] == "applied"


def test_states_on_both_sides_of_the_deletion_are_compared(session: WorldSession):
    """Two times of the new id, or the two ids; in between nothing existed."""
    differing = [
        {"field": "data.legacy", "left": True, "right": None},
        {"field": "data.mode", "left": "fast", "right": "safe"},
        {"field": "data.quota", "left": None, "right": 9},
    ]
    times = ask(session, "compare_state", entity=eid(21), t1=BEFORE)
    assert times["rows"] == differing
    assert times["left"]["incarnation"] == eid(20)
    assert "incarnation" not in times["right"]
    ids = ask(session, "compare_state", entity=eid(20), entity_b=eid(21), t1=BEFORE)
    assert ids["rows"] == differing
    between = ask(session, "compare_state", entity=eid(21), t1=BETWEEN)
    assert between["left"]["incarnation"] is None
    assert {row["left"] for row in between["rows"]} == {None}


def test_an_entity_is_shown_as_it_was_under_its_earlier_id(session: WorldSession):
    """as_of before the deletion gives the old fields and says whose they are."""
    now = ask(session, "get_entity", id=eid(21))["rows"][0]
    assert {name: fact["value"] for name, fact in now["fields"].items()} == NEW_FACTS
    assert "incarnation" not in now
    assert now["incarnations"] == [
        {"id": eid(20), "first_seen": iso(START), "last_seen": iso(GONE)},
        {"id": eid(21), "first_seen": iso(BORN), "last_seen": iso(NOW)},
    ]
    was = ask(session, "get_entity", id=eid(21), as_of=BEFORE)["rows"][0]
    assert {name: fact["value"] for name, fact in was["fields"].items()} == OLD_FACTS
    assert was["incarnation"] == eid(20)
    between = ask(session, "get_entity", id=eid(21), as_of=BETWEEN)["rows"][0]
    assert (between["fields"], between["incarnation"]) == ({}, None)
    refused = session.call("get_entity", {"id": eid(21), "as_of": BETWEEN, "fields": ["x"]})
    assert "did not exist" in json.loads(refused.text)["error"]["message"]
    gone = ask(session, "get_entity", id=eid(20))["rows"][0]
    assert (gone["fields"], gone["incarnation"]) == ({}, None)


def test_what_was_deleted_is_found_as_such(session: WorldSession):
    """A search finds both ids and says which one is no more."""
    rows = ask(session, "search_entities", query="berth-settings")["rows"]
    assert {row["id"]: row["status"] == "deleted" for row in rows} == {
        eid(20): True,
        eid(21): False,
    }
    mounted = ask(session, "get_neighbors", id=eid(3), predicates=["mounts"])["rows"]
    assert eid(21) in {row["id"] for row in mounted}
    assert eid(20) not in {row["id"] for row in mounted}


def test_a_world_with_incarnations_passes_the_conformance_suite(tmp_path: Path):
    """The tools keep all their rules."""
    write_world(Remaking().into(small_builder()).tables(), tmp_path / "w")
    check_conformance(tmp_path / "w")


@pytest.mark.parametrize("apart", ["namespace", "cluster", "name", "kind", "overlap"])
def test_what_differs_in_its_key_or_lives_at_once_is_not_joined(tmp_path: Path, apart: str):
    """Another namespace, cluster, name or kind, or two lives at a time: two objects."""
    build = Remaking().into(small_builder())
    new = next(row for row in build.rows["entity"] if row["id"] == eid(21))
    if apart == "namespace":
        for row in build.rows["fact"]:
            if (row["entity_id"], row["field"]) == (eid(21), "namespace"):
                row["value_json"] = '"pier"'
    elif apart == "overlap":
        new["first_seen"] = GONE - HOUR
    else:
        new[apart] = {"cluster": "south", "name": "berth-setting", "kind": "Secret"}[apart]
    for row in build.rows["change_target"]:
        row["role"] = "target"
    found = opened(build, tmp_path / "w")
    body = ask(found, "list_changes", entity_ids=[eid(21)], **WINDOW)
    assert [row["id"] for row in body["rows"]] == [cid(202)]
    entity = ask(found, "get_entity", id=eid(21), as_of=BEFORE)["rows"][0]
    assert entity["fields"] == {}
    assert "incarnations" not in entity


def test_things_without_a_namespace_are_told_apart_by_what_they_are_part_of(tmp_path: Path):
    """A cloud resource made anew in its account is one object, in another account it is not."""
    for account, joined in ((30, True), (31, False)):
        build = Remaking(kind="DbInstance", name="berth-db", cluster="").into(small_builder())
        for table, key in (("fact", "field"), ("change_diff", "field")):
            build.rows[table] = [
                row for row in build.rows[table]
                if row["entity_id"] not in (eid(20), eid(21)) or row[key] != "namespace"
            ]  # fmt: skip
        build.rows["edge"] = [row for row in build.rows["edge"] if row["dst"] not in
                              (eid(20), eid(21))]  # fmt: skip
        build.entity(30, "CloudAccount", "berth-main", "")
        build.entity(31, "CloudAccount", "berth-spare", "")
        build.edge(20, "part_of", 30, until=GONE)
        build.edge(21, "part_of", account, since=BORN)
        if not joined:
            for row in build.rows["change_target"]:
                row["role"] = "target"
        found = opened(build, tmp_path / f"w{account}")
        entity = ask(found, "get_entity", id=eid(21))["rows"][0]
        assert ("incarnations" in entity) == joined


def test_a_remaking_that_nobody_has_seen_yet_leaves_no_trace(tmp_path: Path):
    """Until the deletion is observed the old object exists, with its fields and edges."""
    found = opened(Remaking(observed=NOW + HOUR).into(small_builder()), tmp_path / "w")
    row = ask(found, "get_entity", id=eid(20))["rows"][0]
    assert {name: fact["value"] for name, fact in row["fields"].items()} == OLD_FACTS
    assert row["last_seen"] == iso(NOW)
    assert json.loads(found.call("get_entity", {"id": eid(21)}).text)["error"]["type"] == (
        "unknown_id"
    )
    rows = ask(found, "list_changes", entity_ids=[eid(20)], **WINDOW)["rows"]
    assert [row["id"] for row in rows] == [cid(200)]
    mounted = ask(found, "get_neighbors", id=eid(3), predicates=["mounts"])["rows"]
    assert eid(20) in {row["id"] for row in mounted}


SPOILT: dict[str, tuple[Callable[[Builder], object], str, str]] = {
    "deleted at another time": (
        lambda build: _entity(build, 20).update(last_seen=GONE - 1),
        "its last_seen is another time",
        "Set last_seen",
    ),
    "applied at another time": (
        lambda build: _entity(build, 21).update(first_seen=BORN - 1),
        "its first_seen is another time",
        "Set first_seen",
    ),
    "outlived by a fact": (
        lambda build: build.fact(20, "data.extra", 1, until=OPEN_END),
        "though its entity was deleted before",
        "End what holds",
    ),
    "outlived by an edge": (
        lambda build: build.edge(8, "mounts", 20),
        "though its entity was deleted before",
        "End what holds",
    ),
    "preceded by a fact": (
        lambda build: build.fact(21, "data.extra", 1, since=BORN - MINUTE),
        "though its entity was applied later",
        "Begin what holds",
    ),
    "nothing before": (
        lambda build: _entity(build, 20).update(name="quite-another"),
        "nothing of its kind, cluster, namespace and name ended before",
        "the role 'target'",
    ),
    "a step missing": (
        lambda build: _diffs(build).pop(0),
        "does not go from what was deleted",
        "reapplied_diff",
    ),
    "a step too many": (
        lambda build: _diffs(build).append(
            {**_diffs(build)[0], "field": "data.retries", "old_json": "4", "new_json": "5"}
        ),
        "does not go from what was deleted",
        "reapplied_diff",
    ),
    "another step": (
        lambda build: _diffs(build)[1].update(old_json='"slow"'),
        "does not go from what was deleted",
        "reapplied_diff",
    ),
}


def _entity(build: Builder, number: int) -> dict[str, Any]:
    return next(row for row in build.rows["entity"] if row["id"] == eid(number))


def _diffs(build: Builder) -> list[dict[str, Any]]:
    """The list of diffs with those of the re-application in front."""
    rows = build.rows["change_diff"]
    rows.sort(key=lambda row: (row["event_id"] != cid(202), row["event_id"], row["field"]))
    return rows


@pytest.mark.parametrize("name", SPOILT)
def test_a_remaking_that_contradicts_itself_is_refused(tmp_path: Path, name: str):
    """The writer says which row and what it should hold."""
    spoil, what, mend = SPOILT[name]
    build = Remaking().into(small_builder())
    spoil(build)
    with pytest.raises(WorldError) as caught:
        write_world(build.tables(), tmp_path / "w")
    assert what in caught.value.what
    assert mend in caught.value.mend
    assert caught.value.where


_VALUES = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
_FACTS = st.dictionaries(st.sampled_from("abcdef"), _VALUES.filter(lambda one: one is not None))


@given(_FACTS, _FACTS)
def test_the_diff_leads_from_the_old_facts_to_the_new(old: dict[str, Any], new: dict[str, Any]):
    """Applying every step to what was deleted gives what was applied; nothing equal is a step."""
    state = dict(old)
    for field, was, becomes in reapplied_diff(old, new):
        assert state.get(field) == was != becomes
        state[field] = becomes
    assert {field: value for field, value in state.items() if value is not None} == new


def test_three_lives_are_one_chain_and_a_twin_is_left_out():
    """Each life continues the one that ended last before it; another that lives at once does not."""
    lives = [Life("a", 0, 5), Life("b", 5, 9), Life("c", 12, 20), Life("x", 3, 30)]
    chains = chained(lives)
    assert [[life.id for life in chain] for chain in chains] == [["a", "b", "c"], ["x"]]
    joined = Incarnations(chains)
    assert joined.until("c") == ("a", "b", "c")
    assert joined.until("x") == ("x",)
    assert [joined.at("c", at) for at in (-1, 0, 5, 9, 11, 12, 99)] == [
        "a", "a", "b", None, None, "c", "c",
    ]  # fmt: skip
    assert joined.at("b", 15) is None
    assert (joined.successor("a"), joined.successor("c")) == ("b", None)
    assert joined.same("a", "c")
    assert not joined.same("a", "x")
    assert joined.replaced == {"a", "b"}
