"""What is deleted and applied again keeps its past under an id of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.simulate.estates import Estate, estate
from tests.simulate.small import small_spec

from heldout.graph import write_world
from heldout.graph.world import World
from heldout.simulate import generate
from heldout.simulate.ground import Edit
from heldout.simulate.renewal import RENEWED, found, renewals
from heldout.simulate.rhythm import SECOND


@pytest.fixture(scope="module")
def one() -> Estate:
    """A small estate."""
    return estate(21, scale=0.35, events=700)


def test_a_few_objects_are_renewed_in_any_history(tmp_path: Path):
    """Two to four objects have two lives that the tools join; the second begins after the first."""
    made = generate(small_spec(seed=8))
    write_world(made.tables, tmp_path / "w")
    world = World(tmp_path / "w")
    replaced = world.incarnations.replaced
    assert 2 <= len(replaced) <= 4
    for entity in replaced:
        first, second = world.incarnations.all(entity)
        assert first.last_seen <= second.first_seen <= first.last_seen + 90 * SECOND
    kinds = dict(zip(made.tables.columns["entity"]["id"], made.tables.columns["entity"]["kind"],
                     strict=True))  # fmt: skip
    assert {kinds[entity] for entity in replaced} <= set(RENEWED)


def test_what_an_incident_uses_is_not_renewed(one: Estate):
    """An object of a protected field stays as it is, whatever is drawn."""
    ground = one.ground
    drawn = {it.targets[0] for it in renewals(one.land, 5, one.start, one.now, {})}
    assert drawn
    keep = {(entity, "anything"): 0 for entity in drawn}
    other = {it.targets[0] for it in renewals(one.land, 5, one.start, one.now, keep)}
    assert other
    assert not other & drawn
    assert all(ground.entities[entity].kind in RENEWED for entity in other)


def test_an_object_that_changes_in_between_is_not_told_apart(one: Estate):
    """Where something else happens between deletion and application there is one object."""
    pair = renewals(one.land, 5, one.start, one.now, {})[:2]
    ids = {change.key: f"c-{at:08x}" for at, change in enumerate(pair)}
    assert len(found(one.ground, tuple(pair), ids)) == 1
    gone, born = pair
    entity = gone.targets[0]
    between = gone._replace(key="x", ts=gone.ts + SECOND, role="target",
                            edits=(Edit(entity, "labels.x", 1, None),))  # fmt: skip
    assert found(one.ground, (gone, between, born), {**ids, "x": "c-0000000f"}) == []
