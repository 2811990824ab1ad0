"""The sets that ship: their size, their kinds, and that a spec still makes what it pins."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from heldout.build import PLANS
from heldout.build.splitting import halves
from heldout.graph import write_world
from heldout.simulate import GENERATOR, generate
from heldout.split import read_split
from heldout.truth import Spec, read_spec, truth_digest

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
SETS = sorted(path.parent.name for path in DATASETS.glob("*/split.toml"))


def _specs(name: str) -> dict[str, list[Spec]]:
    split = read_split(DATASETS / name)
    return {
        side: [read_spec(DATASETS / name / "specs" / f"{one}.toml") for one in ids]
        for side, ids in (("train", split.train), ("test", split.test))
    }


def _one_of_each(name: str) -> list[Spec]:
    """The first incident of each kind of estate, over both sides."""
    first: dict[object, Spec] = {}
    for specs in _specs(name).values():
        for spec in sorted(specs, key=lambda one: one.id):
            first.setdefault(spec.knobs["archetype"], spec)
    return list(first.values())


def test_every_plan_ships():
    """There is a frozen set for each named plan, and none besides."""
    assert sorted(PLANS) == SETS


@pytest.mark.parametrize("name", SETS)
def test_a_set_holds_what_its_plan_says(name: str):
    """Both halves have their share of each kind, of this generator, and no fault in common."""
    sides = _specs(name)
    for specs, wanted in zip(sides.values(), halves(PLANS[name].wanted), strict=True):
        assert Counter(spec.kind for spec in specs) == {k: n for k, n in wanted.items() if n}
        assert all(spec.generator == GENERATOR for spec in specs)
    traps = [{one.fault for one in specs if one.kind == "trap"} for specs in sides.values()]
    assert not traps[0] & traps[1]
    banks = [{one.knobs["bank"] for one in specs} for specs in sides.values()]
    assert not banks[0] & banks[1]


def test_hard_traps_are_spread_over_traps_families_and_estates():
    """Every trap occurs, most families stand on both sides, and all four kinds of estate."""
    sides = _specs("prod_hard")
    hard = [one for specs in sides.values() for one in specs if one.kind == "trap"]
    assert len({trap for one in hard for trap in one.traps}) >= 11
    assert all("latent_cause" in one.traps for one in hard)
    assert {one.knobs["archetype"] for one in hard} == {"saas", "fleet", "multicloud", "data"}
    train, test = ([one.family for one in specs if one.kind == "trap"] for specs in sides.values())
    seen = sum(family in train for family in test) / len(test)
    assert 0.3 <= seen <= 0.8


@pytest.mark.parametrize("name", SETS)
def test_a_spec_makes_the_world_the_truth_and_the_alert_that_it_pins(name: str, tmp_path: Path):
    """At full size, one incident of each kind of estate."""
    for spec in _one_of_each(name):
        made = generate(spec)
        assert write_world(made.tables, tmp_path / spec.id) == spec.world_digest
        assert truth_digest(made.truth) == spec.truth_digest
        alert = (DATASETS / name / "alerts" / f"{spec.id}.md").read_text(encoding="utf-8")
        assert alert == made.alert
