"""What breaks the ontology is refused by the writer and found by the deep check, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.graph.worlds import DAY, HOUR, NOW, START, Builder, cid, eid, small_builder

from heldout.errors import WorldError
from heldout.graph import files, ontology, verify_world, write_world

Rows = dict[str, list[dict[str, Any]]]


def _first(table: str, **values: Any) -> Callable[[Builder], object]:
    return lambda build: build.rows[table][0].update(values)


BROKEN: dict[str, tuple[Callable[[Builder], object], str, str, str]] = {
    "kind": (
        _first("entity", kind="Servce"),
        "'Servce' is not a kind of entity",
        f"entity {eid(1)} (harbor-api)",
        "Use one of: Service",
    ),
    "predicate": (
        _first("edge", pred="route_to"),
        "'route_to' is not a predicate",
        f"edge {eid(9)} route_to {eid(3)} (Pod to Deployment)",
        "Use one of: routes_to",
    ),
    "start of a predicate": (
        lambda build: build.edge(7, "calls", 1),
        "'calls' cannot start at a Team",
        f"edge {eid(7)} calls {eid(1)} (Team to Service)",
        "It starts at: ApiGateway, ConsumerGroup",
    ),
    "end of a predicate": (
        lambda build: build.edge(1, "calls", 7),
        "'calls' cannot end at a Team",
        f"edge {eid(1)} calls {eid(7)} (Service to Team)",
        "It ends at: ApiGateway, Bucket",
    ),
    "provenance": (
        _first("fact", provenance="guessed"),
        "'guessed' is not a provenance",
        f"fact {eid(1)}.status",
        "graph.ontology lists what is known",
    ),
    "provenance of an edge": (
        _first("edge", provenance="observd"),
        "'observd' is not a provenance",
        f"edge {eid(9)} controlled_by {eid(3)}",
        "Use one of: observed",
    ),
    "source": (
        _first("fact", source="rumour"),
        "'rumour' is not a source",
        f"fact {eid(1)}.status",
        "graph.ontology lists what is known",
    ),
    "confidence too high": (
        _first("fact", confidence=1.5),
        "confidence 1.5 is outside 0..1",
        f"fact {eid(1)}.status",
        "Give a share of one",
    ),
    "confidence too low": (
        _first("edge", confidence=-0.5),
        "confidence -0.5 is outside 0..1",
        f"edge {eid(9)} controlled_by {eid(3)}",
        "Give a share of one",
    ),
    "confidence missing": (
        _first("fact", confidence=float("nan")),
        "confidence nan is outside 0..1",
        f"fact {eid(1)}.status",
        "Give a share of one",
    ),
    "dangling edge": (
        _first("edge", dst="e-99999999"),
        "'e-99999999' is not the id of any entity",
        "edge.dst",
        "Add the entity or drop the row",
    ),
    "diff of nothing": (
        _first("change_diff", event_id="c-99999999"),
        "'c-99999999' is not the id of any change_event",
        "change_diff.event_id",
        "Add the change_event or drop the row",
    ),
    "field that changes twice": (
        lambda build: build.rows["change_diff"].append(
            {**build.rows["change_diff"][0], "old_json": "12", "new_json": "20"}
        ),
        f"field 'data.pool.maxSize' of {eid(4)} changes twice",
        f"change_diff of {cid(1)}",
        "one diff for a field",
    ),
    "type of change": (
        _first("change_event", type="sabotage"),
        "'sabotage' is not a type",
        "change_event",
        "Use one of: deploy, config",
    ),
    "role": (
        _first("change_target", role="victim"),
        "'victim' is not a role",
        "change_target",
        "Use one of: target, deleted, applied",
    ),
    "malformed id": (
        _first("alert", id="alert one"),
        "id 'alert one' is malformed",
        "alert",
        "Ids read 'a-' and eight hex digits",
    ),
    "fact that ends before it begins": (
        lambda build: build.fact(1, "tier", 1, since=NOW - HOUR, until=NOW - DAY),
        "before it begins",
        f"fact {eid(1)}.tier",
        "OPEN_END where it still holds",
    ),
    "fact known too early": (
        lambda build: build.fact(1, "tier", 1, since=NOW - HOUR, observed=START),
        "before it holds",
        f"fact {eid(1)}.tier",
        "plus the time until somebody could know",
    ),
    "change known too early": (
        _first("change_event", observed_at=START),
        "before it happens",
        f"change_event {cid(1)}",
        "plus the time until somebody could know",
    ),
    "entity that ends before it begins": (
        _first("entity", last_seen=START - 1),
        "before it was first seen",
        f"entity {eid(1)}",
        "last_seen is now where it still exists",
    ),
    "value": (
        _first("fact", value_json="{"),
        "'{' is not JSON",
        f"fact {eid(1)}.status",
        "Store values with json.dumps",
    ),
    "old value": (
        _first("change_diff", old_json="sixty"),
        "'sixty' is not JSON",
        f"change_diff of {cid(1)}, field data.pool.maxSize",
        "a field that was absent is null",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_the_writer_names_what_is_wrong_where_and_how_to_mend_it(tmp_path: Path, name: str):
    """A row out of the ontology is refused with its place and what to change; nothing is left."""
    spoil, what, where, mend = BROKEN[name]
    build = small_builder()
    write_world(build.tables(), tmp_path / "good")
    spoil(build)
    with pytest.raises(WorldError) as caught:
        write_world(build.tables(), tmp_path / "bad")
    assert what in caught.value.what
    assert caught.value.where == where
    assert mend in caught.value.mend
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


@pytest.mark.parametrize("name", BROKEN)
def test_the_deep_check_finds_what_another_writer_let_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    """A world whose digest is right but whose rows break the ontology is refused all the same."""
    spoil, what, where, _ = BROKEN[name]
    build = small_builder()
    good = write_world(build.tables(), tmp_path / "good")
    verify_world(tmp_path / "good", good, deep=True)
    spoil(build)
    monkeypatch.setattr(files, "check_rows", lambda con, *, now: None)
    digest = write_world(build.tables(), tmp_path / "bad")
    monkeypatch.undo()
    verify_world(tmp_path / "bad", digest)
    with pytest.raises(WorldError) as caught:
        verify_world(tmp_path / "bad", digest, deep=True)
    assert what in caught.value.what
    assert caught.value.where == where


def test_every_kind_and_every_end_of_every_predicate_can_be_written(tmp_path: Path):
    """One world holds every kind, and each predicate from every kind and to every kind it allows."""
    build = Builder()
    number = {kind: index for index, kind in enumerate(ontology.KINDS, start=1)}
    for kind, index in number.items():
        build.entity(index, kind, f"the-{kind.lower()}")
    pairs: set[tuple[int, str, int]] = set()
    for predicate, signature in ontology.PREDICATES.items():
        start, end = min(signature.domain), min(signature.range)
        pairs |= {(number[one], predicate, number[end]) for one in signature.domain}
        pairs |= {(number[start], predicate, number[one]) for one in signature.range}
    for src, predicate, dst in sorted(pairs):
        build.edge(src, predicate, dst)
    digest = write_world(build.tables(), tmp_path / "w")
    verify_world(tmp_path / "w", digest, deep=True)
