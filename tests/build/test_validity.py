"""Each point of the validity gate refuses what it is there for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.simulate.small import small_spec

from heldout.build.splitting import split_by_group
from heldout.build.validity import Subject, findings, points
from heldout.simulate import Generated, generate
from heldout.truth import Spec

SPEC = small_spec("static_parameter")


@pytest.fixture(scope="module")
def good() -> Generated:
    """A valid incident."""
    return generate(SPEC)


def _names(spec: Spec, made: Generated) -> set[str]:
    return {one.split(":")[0] for one in findings(Subject(spec, made))}


def test_a_good_incident_has_no_finding(good: Generated):
    """Negative control for all points."""
    assert findings(Subject(SPEC, good)) == []


def _with_column(made: Generated, table: str, column: str, change: Callable[[list], list]):
    columns = {name: dict(values) for name, values in made.tables.columns.items()}
    columns[table][column] = change(list(columns[table][column]))
    return replace(made, tables=replace(made.tables, columns=columns))


def _silent(made: Generated) -> Generated:
    blocks = [b for b in made.tables.logs if len(b.templates) > 12]
    return replace(made, tables=replace(made.tables, logs=blocks))


def _quiet_metrics(made: Generated) -> Generated:
    metrics = [replace(block, values=block.values * 0) for block in made.tables.metrics]
    return replace(made, tables=replace(made.tables, metrics=metrics))


def _telling_alert(made: Generated) -> Generated:
    return replace(made, alert=made.alert + "\nLook at max_connections.\n")


def _other_alert(made: Generated) -> Generated:
    return replace(made, alert=made.alert.replace("Severity", "Urgency"))


def _leak(made: Generated) -> Generated:
    return _with_column(made, "change_event", "summary", lambda s: ["Inject the fault", *s[1:]])


def _canary(made: Generated) -> Generated:
    return _with_column(made, "change_event", "actor", lambda s: [SPEC.canary, *s[1:]])


def _newer_change(made: Generated) -> Generated:
    diff = {name: list(values) for name, values in made.tables.columns["change_diff"].items()}
    events = made.tables.columns["change_event"]
    newest = max(zip(events["ts"], events["id"], strict=True))[1]
    for name, value in (
        ("event_id", newest), ("entity_id", made.truth.culprit_entity),
        ("field", made.truth.culprit_field), ("old_json", "1"), ("new_json", "2"),
        ("redacted", False),
    ):  # fmt: skip
        diff[name].append(value)
    columns = {**made.tables.columns, "change_diff": diff}
    return replace(made, tables=replace(made.tables, columns=columns))


def _unready(made: Generated) -> Generated:
    def broken(values: list) -> list:
        fields = made.tables.columns["fact"]["field"]
        kinds = dict(zip(made.tables.columns["entity"]["id"], made.tables.columns["entity"]["kind"],
                         strict=True))  # fmt: skip
        owners = made.tables.columns["fact"]["entity_id"]
        at = next(
            n for n, field in enumerate(fields)
            if field == "selector" and kinds[owners[n]] == "K8sService"
        )  # fmt: skip
        label = values[at].replace('":"', '":"not-')
        return [*values[:at], label, *values[at + 1 :]]

    return _with_column(made, "fact", "value_json", broken)


@pytest.mark.parametrize(
    ("breaking", "point"),
    [
        (_quiet_metrics, "necessity"),
        (_other_alert, "innocence"),
        (_silent, "oracle"),
        (_newer_change, "oracle"),
        (_telling_alert, "alert"),
        (_unready, "health"),
        (_leak, "leaks"),
        (_canary, "leaks"),
    ],
)
def test_a_broken_world_is_refused_by_its_point(
    good: Generated, breaking: Callable[[Generated], Generated], point: str
):
    """Each way to break a world is found by the point that is there for it."""
    assert point in _names(SPEC, breaking(good))


def test_a_world_of_the_wrong_size_is_refused():
    """Without the scale knob a small world is out of range; overlays are exempt."""
    made = generate(SPEC)
    full = replace(SPEC, knobs={k: v for k, v in SPEC.knobs.items() if k != "scale"})
    size = points()["sizes"]
    assert size.check(Subject(full, made))
    assert not size.check(Subject(replace(full, origin="overlay"), made))


def test_a_trap_whose_nearest_change_is_the_cause_is_refused(good: Generated):
    """The shortcut probe: an onset control posing as a trap."""
    control = replace(SPEC, kind="onset_control", traps=("older_change",))
    made = generate(control)
    probe = points()["shortcuts"]
    assert not probe.check(Subject(control, made))
    assert probe.check(Subject(replace(control, kind="trap"), made))
    assert not probe.check(Subject(SPEC, good))


def test_groups_never_straddle_the_split():
    """Whole groups go to one side, sizes and kinds are balanced, the result is the same each time."""
    specs = [
        replace(SPEC, id=f"inc-{n:06x}", group=f"g{n % 9}", domain=f"d{n % 3}",
                kind="trap" if n % 4 else "onset_control")
        for n in range(36)
    ]  # fmt: skip
    sides = split_by_group(specs, 1)
    assert sides == split_by_group(specs, 1)
    assert set(sides) == {f"g{n}" for n in range(9)}
    sizes = [sum(sides[s.group] == side for s in specs) for side in (0, 1)]
    assert abs(sizes[0] - sizes[1]) <= 4
