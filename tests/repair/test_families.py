"""Defects and repairs: the healthy code is silent, right repairs pass, wrong ones fail at the site."""

from __future__ import annotations

import pytest
from tests.repair.played import TEMPLATES

from heldout.repair.families import families
from heldout.repair.instance import Instance, State, play
from heldout.repair.probes import Probes, failed, probe
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.tasks import tasks
from heldout.repair.telemetry import alerts, readings

SAMPLE = [
    "features-after-cache",
    "leak-on-error",
    "reverse-cascade",
    "unit-threshold",
    "error-text",
]


def probed(sandbox: Sandbox, instance: Instance, which: str = "") -> Probes:
    """What the hidden probes say of an instance, or of a repair of it by name."""
    template = instance.template
    repairs = {one.name: one for one in (template.fix, *template.wrong)}
    wanted = repairs.get(which)
    tree = instance.tree() if wanted is None else instance.repaired(wanted)
    state = State(
        instance.database(
            taken_back=wanted.roll_back if wanted else "",
            restored=bool(wanted and wanted.restore),
        )
    )
    return probe(sandbox, instance, tree, state)


def check_template(sandbox: Sandbox, name: str, seed: int) -> None:
    """All that must hold of a template."""
    instance = Instance(TEMPLATES[name], seed)
    silent = probed(sandbox, instance.twin)
    assert failed(silent.checks) == ()
    assert failed(probed(sandbox, instance).at_fault), "the defect does not show"
    mended = probed(sandbox, instance, instance.template.fix.name)
    assert failed(mended.checks) == ()
    for one in instance.template.wrong:
        assert failed(probed(sandbox, instance, one.name).at_fault), f"'{one.name}' passes"


@pytest.mark.parametrize("name", SAMPLE[:1])
def test_a_wrong_repair_fails_where_the_right_one_passes(sandbox: Sandbox, name: str):
    """Of one template: healthy silent, defect seen, right and wrong told apart."""
    check_template(sandbox, name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("seed", [0, 3])
def test_every_template_tells_right_from_wrong(sandbox: Sandbox, name: str, seed: int):
    """The same of every template, in its own words and in others."""
    check_template(sandbox, name, seed)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_healthy_twin_raises_no_alert(sandbox: Sandbox, name: str):
    """Without the defect the same traffic, rows and stalls alarm nobody."""
    twin = Instance(TEMPLATES[name], 2).twin
    state = State(twin.database())
    window = play(sandbox, twin, twin.tree(), state, seed=1)
    assert window.broke == ""
    assert window.import_failures == {}
    assert alerts(readings(window, twin.plant()), window.seconds) == ()
    assert sum(one.status != 200 for one in window.requests) == 0


def test_the_same_window_is_the_same_bytes(sandbox: Sandbox):
    """Two plays of one window, in two sandboxes, give equal requests, lines and rows."""
    instance = Instance(TEMPLATES["leak-on-error"], 1)
    seen = []
    for box in (sandbox, Sandbox()):
        state = State(instance.database())
        window = play(box, instance, instance.tree(), state, seed=4)
        seen.append((repr(window), state.database.dump()))
        box.close()
    assert seen[0] == seen[1]


def test_tasks_are_split_by_template():
    """Seventy-five tasks; no template stands in both halves, every family in each; ids say nothing."""
    found = tasks()
    assert len(found) == 75
    halves: dict[str, set[str]] = {}
    for one in found.values():
        halves.setdefault(one.template.name, set()).add(one.half)
        assert one.family not in one.id
        assert one.template.name not in one.id
    assert all(len(half) == 1 for half in halves.values())
    assert sum(one.half == "test" for one in found.values()) >= 30
    for family in families():
        assert {one.half for one in found.values() if one.family == family} == {"train", "test"}


def test_variants_differ_in_words_and_not_in_what_they_do(sandbox: Sandbox):
    """Another seed renames what the code is made of; the renamed healthy code still loads."""
    one, two = (Instance(TEMPLATES["unit-threshold"], seed) for seed in (0, 3))
    assert one.tree().digest != two.tree().digest
    window = play(sandbox, two.twin, two.twin.tree(), State(two.twin.database()), seed=1)
    assert window.import_failures == {}
