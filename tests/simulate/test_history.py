"""Facts are base state plus replayed diffs; people keep office hours; noise looks like causes."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from tests.simulate.estates import estate
from tests.simulate.small import small_spec

from heldout.graph.ontology import check_edge, check_kind
from heldout.simulate import Generated, generate
from heldout.simulate.catalog import CHANGING, VERSIONED, fields_of, types_for
from heldout.simulate.fault import faults
from heldout.simulate.landscape import ARCHETYPES
from heldout.simulate.rhythm import DAY, HOUR, moments
from heldout.simulate.streams import stream


@pytest.fixture(scope="module")
def made() -> Generated:
    """One small world."""
    return generate(small_spec())


def _rows(made: Generated, table: str) -> list[dict[str, object]]:
    columns = made.tables.columns[table]
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def test_base_state_and_replayed_diffs_equal_the_facts_at_random_times(made: Generated):
    """As-of state from diffs equals as-of state from facts at 50 random times."""
    facts, when = _rows(made, "fact"), {r["id"]: r["ts"] for r in _rows(made, "change_event")}
    diffs = sorted(
        _rows(made, "change_diff"), key=lambda d: (when[d["event_id"]], str(d["event_id"]))
    )
    start, now = made.tables.start, made.tables.now
    roles = {
        (t["entity_id"], t["role"]): t["event_id"]
        for t in _rows(made, "change_target") if t["role"] != "target"
    }  # fmt: skip
    ended = {one: when[event] for (one, role), event in roles.items() if role == "deleted"}
    applied = {one: event for (one, role), event in roles.items() if role == "applied"}
    assert ended
    assert len(ended) == len(applied)
    base = {
        (f["entity_id"], f["field"]): f for f in facts
        if f["event_id"] in ("", applied.get(f["entity_id"]))
    }  # fmt: skip
    for moment in stream("times").integers(start, now, 50).tolist():
        state = {
            key: row["value_json"] for key, row in base.items()
            if when.get(row["event_id"], 0) <= moment < ended.get(key[0], now)
        }  # fmt: skip
        for diff in diffs:
            own = applied.get(diff["entity_id"]) == diff["event_id"]
            if when[diff["event_id"]] <= moment < ended.get(diff["entity_id"], now) and not own:
                key = (diff["entity_id"], diff["field"])
                assert state.get(key, "null") == diff["old_json"]
                state[key] = diff["new_json"]
        as_of = {
            (f["entity_id"], f["field"]): f["value_json"]
            for f in facts
            if f["valid_from"] <= moment < f["valid_to"]
        }
        assert as_of == state


def test_every_kind_and_edge_fits_the_ontology(made: Generated):
    """No entity of an unknown kind, no edge out of signature, no isolated service."""
    kinds = dict(zip(made.tables.columns["entity"]["id"], made.tables.columns["entity"]["kind"],
                     strict=True))  # fmt: skip
    for kind in set(kinds.values()):
        check_kind(kind)
    touched: Counter[str] = Counter()
    for edge in _rows(made, "edge"):
        check_edge(kinds[str(edge["src"])], str(edge["pred"]), kinds[str(edge["dst"])])
        touched.update((str(edge["src"]), str(edge["dst"])))
    assert all(touched[one] for one, kind in kinds.items() if kind in ("Service", "Deployment"))


def test_people_keep_office_hours_and_ends_attract_nobody():
    """More than 90 % of human moments lie in 8-19 h, few at weekends, none pile up at the ends."""
    start = 1_769_990_400_000_000
    at = moments(stream("m"), 20_000, start, start + 14 * DAY + HOUR // 3, flat=False)
    hours = at // HOUR % 24
    assert np.mean((hours >= 8) & (hours < 19)) > 0.9
    assert np.mean((at // DAY + 3) % 7 > 4) < 0.04
    assert np.max(np.bincount((at - start) // 60_000_000)) < 40


def test_the_causes_field_also_changes_elsewhere():
    """Other entities of the holder's kind change the same field, so the field alone tells nothing."""
    hits = Counter()
    for seed in range(6):
        made = generate(small_spec(seed=seed, knobs={"events": 3000, "scale": 0.5}))
        fields = Counter(row["field"] for row in _rows(made, "change_diff"))
        hits["elsewhere"] += fields[made.truth.culprit_field] > 1
    assert hits["elsewhere"] >= 5


@pytest.mark.parametrize("archetype", ARCHETYPES)
def test_no_field_is_rare(archetype: str):
    """In a world of usual size each field of the catalog that two things have changes somewhere."""
    one = estate(31, archetype=archetype)
    ground = one.ground
    changed = {(ground.entities[diff.entity].kind, diff.field) for diff in one.done.diffs}
    rare = [
        (kind, field)
        for kind in {kind for kinds in CHANGING.values() for kind in kinds}
        for spec, field in one.land.fields(kind)
        if spec.field not in VERSIONED and (kind, field) not in changed
        and sum((entity, field) in ground.base for entity in ground.of_kind(kind)) > 1
    ]  # fmt: skip
    assert rare == []


def test_the_catalog_knows_every_faults_field():
    """A fault's holder kind changes in ordinary life, and its field is among what changes."""
    for fault in faults().values():
        if fault.cause == "change":
            assert any(spec.field == fault.field for spec in fields_of(fault.holder_kind))
            assert types_for(fault.holder_kind)


def test_values_are_json_and_logs_have_levels(made: Generated):
    """Every stored value parses; errors are a small share of healthy lines."""
    for row in _rows(made, "change_diff")[:500]:
        json.loads(str(row["old_json"]))
        json.loads(str(row["new_json"]))
    block = made.tables.logs[0]
    levels = np.array(block.template_level)[block.template]
    assert 0.005 < np.mean(levels == "ERROR") < 0.05
