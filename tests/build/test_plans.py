"""Plans of sets, the pools they draw, and how a pool is split and chosen from."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from heldout.build import PLANS, SetPlan, plan_for
from heldout.build.grouping import completely_linked
from heldout.build.labels import label
from heldout.build.pool import drafts, usable
from heldout.build.similarity import Portrait, groups
from heldout.build.splitting import difficulty, halves, split_by_group
from heldout.errors import SpecError, UsageError
from heldout.simulate.knobs import checked
from heldout.simulate.landscape import ARCHETYPES
from heldout.simulate.trap import traps
from heldout.truth import KINDS, Spec


@pytest.fixture(scope="module")
def pool() -> list[Spec]:
    """The first drafts of the shipped set of hard incidents."""
    return drafts(PLANS["prod_hard"])


def test_the_shipped_plans_hold_what_they_are_named_for():
    """A hundred hard ones in equal halves with 20 to 30 % controls of all kinds; 24; 24; 30."""
    assert {name: plan.total for name, plan in PLANS.items()} == {
        "prod_hard": 100, "demo": 24, "onset_control": 24, "classic": 30,
    }  # fmt: skip
    for side in halves(PLANS["prod_hard"].wanted):
        assert sum(side.values()) == 50
        assert 0.2 <= 1 - side["trap"] / 50 <= 0.3
        assert all(side[kind] > 0 for kind in KINDS)
    assert PLANS["onset_control"].wanted["onset_control"] == 24


def test_a_plan_is_that_of_its_name_unless_told_otherwise():
    """Numbers replace the plan's own; controls are shared out as the plan does."""
    assert plan_for("classic", seed=4) == replace(PLANS["classic"], seed=4)
    assert plan_for("mine").wanted == PLANS["prod_hard"].wanted
    assert plan_for("mine", "onset_control", controls=3).wanted["onset_control"] == 3
    few = plan_for("mine", traps=4, controls=4).wanted
    assert (few["trap"], sum(few.values())) == (4, 8)
    assert all(few.values())
    assert plan_for("mine", traps=37).total == 50


def test_a_plan_that_cannot_be_is_named():
    """Unknown plans, sets of one, pools smaller than the set, estates out of range."""
    with pytest.raises(UsageError, match=r"no plan 'prod_hrd'.*prod_hard"):
        plan_for("mine", "prod_hrd")
    for wrong in (SetPlan("x", traps=1), SetPlan("x", traps=-1, onset_controls=9)):
        with pytest.raises(UsageError, match="two incidents"):
            drafts(wrong)
    with pytest.raises(UsageError, match="smaller than the set"):
        drafts(SetPlan("x", traps=4, spare=0.5))
    with pytest.raises(SpecError, match=r"scale.*0\.1 to 1\.5"):
        drafts(SetPlan("x", traps=4, scale=9))


def test_the_pool_is_larger_than_the_set_and_in_range(pool: list[Spec]):
    """Every draft's knobs pass the check that a spec must pass, and no id comes twice."""
    assert len(pool) >= 1.3 * PLANS["prod_hard"].total
    assert len({spec.id for spec in pool}) == len(pool)
    assert all(checked(spec.knobs) for spec in pool)
    assert drafts(PLANS["prod_hard"]) == pool


def test_hard_incidents_stack_traps_and_spread_over_everything(pool: list[Spec]):
    """Two to five traps each, every trap, archetype and fault in use, causes mostly days old."""
    hard = [spec for spec in pool if spec.kind == "trap"]
    assert {len(spec.traps) for spec in hard} == {2, 3, 4, 5}
    assert {name for spec in hard for name in spec.traps} == set(traps()) - {"older_change"}
    estates = Counter(str(spec.knobs["archetype"]) for spec in hard)
    assert set(estates) == set(ARCHETYPES)
    assert min(estates.values()) >= 0.08 * len(hard)
    uses = Counter(spec.fault for spec in hard)
    assert set(uses) == {fault.name for fault in usable("trap")}
    assert max(uses.values()) - min(uses.values()) <= 1
    ages = [float(spec.knobs["latency_days"]) for spec in hard]
    assert min(ages) >= 0.15
    assert max(ages) <= 13
    assert 0.1 <= sum(age < 1 for age in ages) / len(ages) <= 0.15
    assert {int(spec.knobs["hops"]) for spec in hard} == {0, 1, 2, 3, 4}
    assert {int(spec.knobs["routes"]) for spec in hard} == {1, 2, 3}
    assert {int(spec.knobs.get("decoys", 0)) for spec in hard} == {0, 1, 2, 3}


def test_classic_incidents_are_easy():
    """Recent, near and loud causes with no trap but their few hours."""
    for spec in drafts(PLANS["classic"]):
        if spec.kind == "trap":
            assert spec.traps == ("latent_cause",)
            assert spec.knobs["latency_days"] < 1
            assert (spec.knobs["hops"], spec.knobs["routes"]) == (1, 3)


def test_a_split_keeps_groups_whole_and_can_fill_both_sides(pool: list[Spec]):
    """No group stands on both sides, and each has at least what its half of the set needs."""
    need = halves(PLANS["prod_hard"].wanted)
    specs = [replace(spec, group=spec.fault) for spec in pool]
    sides = split_by_group(specs, 1, need=need)
    assert set(sides) == {spec.group for spec in specs}
    for side in (0, 1):
        have = Counter(spec.kind for spec in specs if sides[spec.group] == side)
        assert all(have[kind] >= count for kind, count in need[side].items())
    domains = Counter(
        (spec.domain, 1 - 2 * sides[spec.group]) for spec in specs if spec.kind == "trap"
    )
    lean = {d: abs(domains[(d, 1)] - domains[(d, -1)]) for d, _ in domains}
    assert max(lean.values()) <= max(2, 0.1 * len(specs))


def test_a_split_balances_measured_difficulty(pool: list[Spec]):
    """Pass rates, where there are some, stand evenly on both sides."""
    hard = [replace(s, group=s.fault) for s in pool if s.kind == "trap"]
    # The worst case: knobs say nothing of it, and the first half of the names is solved.
    solved = {spec.id: float(spec.fault < "l") for spec in hard}
    lean = {}
    for name, rates in (("measured", solved), ("blind", None)):
        sides = split_by_group(hard, 1, rates=rates)
        lean[name] = abs(
            sum((1 - 2 * sides[spec.group]) * (solved[spec.id] - 0.5) for spec in hard)
        )
    assert lean["measured"] <= 2
    assert difficulty(hard[0], solved) == label(solved[hard[0].id]) != difficulty(hard[0])


def test_some_families_stand_on_both_sides_and_some_only_in_test(pool: list[Spec]):
    """With two faults to a family, tuning meets part of what is scored; with one it cannot."""
    hard = [replace(spec, group=spec.fault) for spec in pool if spec.kind == "trap"]
    names = sorted({spec.fault for spec in hard})
    paired = [replace(spec, family=f"f{names.index(spec.fault) // 2}") for spec in hard]
    assert 0.3 <= _seen(paired) <= 0.8
    assert _seen([replace(spec, family=spec.fault) for spec in hard]) == 0.0


def _seen(specs: list[Spec]) -> float:
    sides = split_by_group(specs, 1)
    train = {spec.family for spec in specs if sides[spec.group] == 0}
    test = [spec.family for spec in specs if sides[spec.group] == 1]
    return sum(family in train for family in test) / len(test)


def _chain(length: int) -> list[Portrait]:
    """Portraits of which only neighbours are alike."""
    empty = dict.fromkeys(
        ("text", "family", "leaf", "kind", "trigger", "source", "domain", "alert"), ""
    )
    return [
        Portrait(
            f"i{n:02}", frozenset({f"fault {n}"}), empty, frozenset(range(20 * n, 20 * n + 40))
        )
        for n in range(length)
    ]


def test_complete_linkage_cuts_chains_but_no_lineage(monkeypatch: pytest.MonkeyPatch):
    """Pairs of neighbours do not draw a whole chain into one group; one fault stays together."""
    monkeypatch.setattr("heldout.build.grouping.THRESHOLD", 0.3)
    chain = _chain(6)
    assert set(Counter(groups(chain, 0.3).values()).values()) == {6}
    assert set(Counter(completely_linked(chain).values()).values()) == {2}
    same = [replace(one, lineage=frozenset({"fault x"})) for one in chain]
    assert len(set(completely_linked(same).values())) == 1
