"""Estates and histories are distributed as real ones are, over all archetypes at full scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from tests.simulate.estates import (
    Estate,
    by_hand,
    callers,
    cycles,
    dependencies,
    estate,
    hours,
    promoted,
    said,
    sizes,
    top_tenth,
    untrue,
    weekdays,
)

from heldout.simulate.landscape import ARCHETYPES
from heldout.simulate.landscape.habits import MIX, draw_habits

Span = tuple[float, float]
ANY: Span = (float("-inf"), float("inf"))


class Quantity(NamedTuple):
    """A quantity, the span it has in each world, and the span of its mean over the worlds.

    ``where`` leaves out worlds in which the quantity means nothing or something else.
    """

    measure: Callable[[Estate], float]
    each: Span
    mean: Span = ANY
    where: Callable[[Estate], bool] = lambda one: True


def _by_day(one: Estate) -> bool:
    return not one.land.habits.rhythm.round_the_clock


def _flow(one: Estate) -> bool:
    return one.land.archetype != "data"


def _entry(one: Estate) -> float:
    called = callers(one)
    return float(np.mean([called[service] == 0 for service in one.callees]))


def _leaf(one: Estate) -> float:
    return float(np.mean([not called for called in one.callees.values()]))


def _mix(name: str) -> Callable[[Estate], float]:
    return lambda one: sum(it.type == name for it in one.changes) / len(one.changes)


def _part(what: str, name: str) -> Callable[[Estate], float]:
    return lambda one: said(one, what).get(name, 0.0)


def _covered(one: Estate) -> float:
    kinds = [it for it in one.changes if it.type in ("config", "iac_apply")]
    return sum(bool(it.pr) for it in kinds) / len(kinds)


def _lunch(one: Estate) -> float:
    """Changes between 12 and 14 h for each one in the two hours before and after."""
    day = hours(one.by_people)
    return float(day[12:14].sum() / (day[10:12].sum() + day[14:16].sum()) * 2)


def _friday(one: Estate) -> float:
    week = weekdays(one, one.by_people)
    return float(week[4] / week[:4].mean())


def _weekend(one: Estate) -> float:
    week = weekdays(one, one.by_people)
    return float(week[5:].sum() / week.sum())


TABLE: Mapping[str, Quantity] = {
    # How large an estate is.
    "entities": Quantity(lambda one: len(one.ground.entities), (1100, 2000), (1380, 1620)),
    "clusters": Quantity(lambda one: len(one.land.clusters), (1, 6)),
    "regions": Quantity(lambda one: one.kind("Region"), (1, 4)),
    "accounts": Quantity(lambda one: one.kind("CloudAccount"), (1, 5)),
    "services": Quantity(lambda one: len(one.land.sites), (35, 110), (48, 72)),
    "people": Quantity(lambda one: len(one.land.people), (15, 75), (32, 50)),
    "bots": Quantity(lambda one: len(one.land.bots), (2, 8), (2.5, 5)),
    "pods of a service": Quantity(lambda one: np.mean(one.pods), (2, 6.5), (3, 4.6)),
    "most pods": Quantity(lambda one: max(one.pods), (4, 25), (7, 16)),
    "services of 2 to 8 pods": Quantity(
        lambda one: np.mean([2 <= count <= 8 for count in one.pods]), (0.78, 1), (0.93, 1)
    ),
    # Who calls whom.
    "entries": Quantity(_entry, (0.09, 0.21), (0.115, 0.155), _flow),
    "entries of data platforms": Quantity(
        _entry, (0.04, 0.13), (0.06, 0.1), lambda one: not _flow(one)
    ),
    "leaves": Quantity(_leaf, (0.31, 0.48), (0.37, 0.42)),
    "middle": Quantity(lambda one: 1 - _entry(one) - _leaf(one), (0.36, 0.58), (0.44, 0.52)),
    "calls of a caller": Quantity(
        lambda one: np.mean([len(to) for to in one.callees.values() if to]), (2, 4.6), (2.8, 3.5)
    ),
    "most callers": Quantity(lambda one: max(callers(one).values()), (10, 35), (18, 28)),
    "cycles": Quantity(cycles, (0, 2), (0, 1.2)),
    # What is written down.
    "declared but unseen": Quantity(
        lambda one: (it := dependencies(one))["unseen"] / (it["unseen"] + it["observed"]),
        (0.04, 0.155),
        (0.07, 0.13),
    ),
    "seen but undeclared": Quantity(
        lambda one: (it := dependencies(one))["inferred"] / (it["inferred"] + it["observed"]),
        (0.05, 0.15),
        (0.07, 0.13),
    ),
    "stale or wrong": Quantity(untrue, (0.009, 0.03), (0.013, 0.026)),
    "outside any stack": Quantity(lambda one: by_hand(one)[0], (0.34, 0.95), (0.55, 0.75)),
    "clustering of those": Quantity(lambda one: by_hand(one)[1], (0, 40), (1.5, 12)),
    "observed edges": Quantity(_part("edge", "observed"), (0.38, 0.55), (0.43, 0.48)),
    "declared edges": Quantity(_part("edge", "declared"), (0.31, 0.45), (0.36, 0.42)),
    "inferred edges": Quantity(_part("edge", "inferred"), (0.07, 0.14), (0.085, 0.12)),
    "asserted edges": Quantity(_part("edge", "asserted"), (0.03, 0.07), (0.04, 0.06)),
    "observed facts": Quantity(_part("fact", "observed"), (0.4, 0.5), (0.44, 0.46)),
    "declared facts": Quantity(_part("fact", "declared"), (0.35, 0.45), (0.39, 0.41)),
    "inferred facts": Quantity(_part("fact", "inferred"), (0.07, 0.13), (0.09, 0.11)),
    "asserted facts": Quantity(_part("fact", "asserted"), (0.03, 0.075), (0.045, 0.055)),
    # The healthy history.
    "days": Quantity(lambda one: (one.now - one.start) / 86_400e6, (10, 21), (13, 17)),
    "events": Quantity(lambda one: len(one.changes), (3900, 11_200), (6500, 8300)),
    "pod lifecycle": Quantity(_mix("pod"), (0.29, 0.46), (0.34, 0.41)),
    "autoscaler and nodes": Quantity(
        lambda one: _mix("scale")(one) + _mix("node")(one), (0.145, 0.285), (0.18, 0.25)
    ),
    "releases": Quantity(_mix("deploy"), (0.08, 0.21), (0.12, 0.18)),
    "settings": Quantity(_mix("config"), (0.037, 0.083), (0.05, 0.07)),
    "merges": Quantity(_mix("pr_merge"), (0.058, 0.104), (0.07, 0.09)),
    "applies": Quantity(_mix("iac_apply"), (0.027, 0.073), (0.04, 0.06)),
    "provider calls": Quantity(_mix("cloud_api"), (0.027, 0.063), (0.038, 0.055)),
    "secrets, certificates, flags": Quantity(
        lambda one: sum(_mix(name)(one) for name in ("secret", "certificate", "flag")),
        (0.018, 0.052),
        (0.028, 0.042),
    ),
    "office hours": Quantity(
        lambda one: hours(one.by_people)[8:19].sum() / len(one.by_people),
        (0.91, 0.98),
        (0.935, 0.965),
        _by_day,
    ),
    "weekend": Quantity(_weekend, (0, 0.035), (0.003, 0.02), _by_day),
    "weekend round the clock": Quantity(
        _weekend, (0.03, 0.1), (0.045, 0.075), lambda one: not _by_day(one)
    ),
    "lunch": Quantity(_lunch, (0.5, 0.95), (0.65, 0.8), _by_day),
    "friday": Quantity(_friday, (0.4, 1.0), (0.62, 0.78), _by_day),
    "changes of the top tenth": Quantity(top_tenth, (0.5, 0.7), (0.55, 0.65)),
    "one field": Quantity(
        lambda one: np.mean(sizes(one, "person") == 1), (0.5, 0.66), (0.55, 0.63)
    ),
    "two to four fields": Quantity(
        lambda one: np.mean((sizes(one, "person") > 1) & (sizes(one, "person") < 5)),
        (0.24, 0.4),
        (0.28, 0.35),
    ),
    "most fields": Quantity(lambda one: max(sizes(one, "person")), (12, 40), (32, 40)),
    "fields of a bot's change": Quantity(lambda one: max(sizes(one, "bot")), (1, 1)),
    "with a pull request": Quantity(_covered, (0.54, 0.98), (0.7, 0.87)),
    "integration for production": Quantity(lambda one: promoted(one)[0], (1.25, 1.8), (1.42, 1.6)),
    "staging for production": Quantity(lambda one: promoted(one)[1], (1.0, 1.2), (1.03, 1.12)),
}


def complaints(
    values: Mapping[str, Sequence[float]], table: Mapping[str, Quantity], *, means: bool
) -> list[str]:
    """Which quantities leave their span in a world, or on average."""
    found = []
    for name, one in table.items():
        low, high = one.each
        found += [
            f"{name}: {value:.3f} is outside {low} to {high}"
            for value in values[name]
            if not low <= value <= high
        ]
        if means and values[name]:
            low, high = one.mean
            mean = float(np.mean(values[name]))
            if not low <= mean <= high:
                found.append(f"{name}: the mean {mean:.3f} is outside {low} to {high}")
    return found


def measured(estates: Sequence[tuple[str, int]]) -> dict[str, list[float]]:
    """Every quantity of the table in each world, where it applies."""
    values: dict[str, list[float]] = {name: [] for name in TABLE}
    for archetype, seed in estates:
        one = estate(seed, archetype=archetype)
        for name, quantity in TABLE.items():
            if quantity.where(one):
                values[name].append(float(quantity.measure(one)))
    return values


def test_a_few_worlds_keep_to_every_span():
    """Each quantity of a world of each archetype lies in its span."""
    worlds = [(archetype, 900 + at) for at, archetype in enumerate(ARCHETYPES)]
    assert complaints(measured(worlds), TABLE, means=False) == []


@pytest.mark.slow
def test_fifty_worlds_are_distributed_as_real_ones_are():
    """Each quantity lies in its span in all of 50 worlds, and so does its mean over them."""
    worlds = [(ARCHETYPES[seed % len(ARCHETYPES)], seed) for seed in range(50)]
    assert complaints(measured(worlds), TABLE, means=True) == []


def test_a_fifth_of_organisations_follow_the_sun():
    """Over many seeds the share of organisations without a night is about a fifth."""
    flat = [draw_habits(seed, {}).rhythm.round_the_clock for seed in range(400)]
    assert 0.15 <= np.mean(flat) <= 0.25


def test_a_mix_is_always_inside_its_ranges_and_whole():
    """Shares of types of change sum to one and keep to their ranges."""
    for seed in range(200):
        mix = draw_habits(seed, {}).mix
        assert sum(mix.values()) == pytest.approx(1)
        assert all(low - 1e-9 <= mix[name] <= high + 1e-9 for name, (low, high) in MIX.items())


@pytest.mark.parametrize("name", list(TABLE))
def test_a_quantity_out_of_its_span_is_noticed(name: str):
    """Negative control: one world outside is named, and so is a mean outside."""
    quantity = TABLE[name]
    inside = {other: [it.each[0]] for other, it in TABLE.items()}
    inside[name] = [quantity.each[1] * 1.5 + 1]
    assert [text.split(":")[0] for text in complaints(inside, TABLE, means=False)] == [name]
    if quantity.mean != ANY:
        edge = {name: [quantity.each[0], quantity.each[0]]}
        only = {name: quantity._replace(mean=(quantity.each[0] + 1e-3, quantity.each[1]))}
        assert "mean" in complaints(edge, only, means=True)[0]
