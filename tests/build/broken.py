"""Twelve broken worlds: a valid incident, altered so that one point of the gate must object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from tests.simulate.small import small_spec

from heldout.build.validity import Subject, findings, set_findings
from heldout.build.validity.entry import Entry, examine
from heldout.graph.schema import WorldTables
from heldout.simulate import Generated, generate
from heldout.simulate.fault import fault_named
from heldout.simulate.ground import Edit
from heldout.simulate.plot import Act
from heldout.simulate.rhythm import DAY
from heldout.simulate.world import assemble, plot_of

SPEC = small_spec("pool_ceiling", seed=7)


def with_column(
    made: Generated, table: str, column: str, change: Callable[[list], list]
) -> Generated:
    """The world with one column of one table changed."""
    columns = {name: dict(values) for name, values in made.tables.columns.items()}
    columns[table][column] = change(list(columns[table][column]))
    return replace(made, tables=replace(made.tables, columns=columns))


def with_metrics_of(made: Generated, other: Generated) -> Generated:
    """The world with the metrics of another one."""
    series = other.tables.columns["metric_series"]
    columns = {**made.tables.columns, "metric_series": series}
    tables = replace(made.tables, columns=columns, metrics=other.tables.metrics)
    return replace(made, tables=tables)


def unjoined(good: Generated) -> Subject:
    """An innocent change says that it started from another value than was there."""
    owner = good.tables.columns["change_diff"]["entity_id"]
    at = next(n for n, one in enumerate(owner) if one != good.truth.culprit_entity)
    made = with_column(good, "change_diff", "old_json", lambda v: [*v[:at], '"odd"', *v[at + 1 :]])
    return Subject(SPEC, made)


def needless(good: Generated) -> Subject:
    """The alerted service fails without the cause as well."""
    twin = Subject(SPEC, good).twin("no_cause")
    return Subject(SPEC, good, twins={"no_cause": with_metrics_of(twin, good)})


def implicated(good: Generated) -> Subject:
    """Without the decoys another alert would have fired."""
    return Subject(SPEC, replace(good, alert=good.alert.replace("Severity", "Urgency")))


def untriggered(good: Generated) -> Subject:
    """The cause bites before its trigger."""
    twin = Subject(SPEC, good).twin("no_trigger")
    return Subject(SPEC, good, twins={"no_trigger": with_metrics_of(twin, good)})


def silent(good: Generated) -> Subject:
    """The seat wrote nothing while it failed."""
    seat = Subject(SPEC, good).seat
    return Subject(SPEC, replace(good, tables=_muted(good.tables, seat)))


def _muted(tables: WorldTables, entity: str) -> WorldTables:
    blocks = []
    for block in tables.logs:
        of = np.array([owner == entity for owner in block.template_entity])[block.template]
        blocks.append(replace(block, ts=block.ts[~of], template=block.template[~of],
                              arg0=block.arg0[~of], arg1=block.arg1[~of]))  # fmt: skip
    return replace(tables, logs=blocks)


def telling(good: Generated) -> Subject:
    """The alert speaks of the pool, in every twin alike."""
    alert = good.alert + "\nLook at the pool.\n"
    twin = Subject(SPEC, good).twin("no_decoy")
    return Subject(SPEC, replace(good, alert=alert), twins={"no_decoy": replace(twin, alert=alert)})


def rivalled(good: Generated) -> Subject:
    """Days before, the autoscaler's ceiling of the same service was lowered too."""
    plot = plot_of(SPEC)
    other = fault_named("replica_ceiling")
    scaler = plot.land.ground.walk(plot.binding.seat, other.holder)[-1]
    healthy, biting = other.values[0]
    edit = Edit(scaler, other.field, biting, healthy)
    act = Act("rival", "older", plot.onset - 3 * DAY, edit, seat=plot.binding.seat, why="none")
    return Subject(SPEC, assemble(SPEC, plot.having(act)))


def unready(good: Generated) -> Subject:
    """A service of Kubernetes selects nothing although its pods are ready."""
    fact, entity = good.tables.columns["fact"], good.tables.columns["entity"]
    kinds = dict(zip(entity["id"], entity["kind"], strict=True))
    at = next(
        n for n, field in enumerate(fact["field"])
        if field == "selector" and kinds[fact["entity_id"][n]] == "K8sService"
    )  # fmt: skip
    value = '{"app.kubernetes.io/name":"nothing"}'
    made = with_column(good, "fact", "value_json", lambda v: [*v[:at], value, *v[at + 1 :]])
    return Subject(SPEC, made)


def nearest(good: Generated) -> Subject:
    """The change nearest to onset is the cause of what is to be a trap."""
    control = replace(SPEC, kind="onset_control", traps=("older_change",))
    return Subject(replace(control, kind="trap"), generate(control))


def leaking(good: Generated) -> Subject:
    """A change's summary speaks of how worlds are made."""
    return Subject(
        SPEC, with_column(good, "change_event", "summary", lambda s: ["Inject the fault", *s[1:]])
    )


def shrunken(good: Generated) -> Subject:
    """A small world whose spec asks for a full one."""
    knobs = {name: value for name, value in SPEC.knobs.items() if name != "scale"}
    return Subject(replace(SPEC, knobs=knobs), good)


def straddling(good: Generated) -> list[Entry]:
    """One fault stands on both sides, in two worlds that are valid by themselves."""
    other = replace(SPEC, id="inc-0d1e2f", seed=8, knobs={**SPEC.knobs, "bank": 1})
    return [
        examine(Subject(SPEC, good), 0, floors=False),
        examine(Subject(other, generate(other)), 1, floors=False),
    ]


BROKEN: Mapping[str, Callable[[Generated], Subject | list[Entry]]] = {
    "replay": unjoined,
    "necessity": needless,
    "innocence": implicated,
    "latency": untriggered,
    "oracle": silent,
    "alert": telling,
    "uniqueness": rivalled,
    "health": unready,
    "shortcuts": nearest,
    "leaks": leaking,
    "duplicates": straddling,
    "sizes": shrunken,
}
"""By the point that must object: how the valid incident is broken."""


def objections(broken: Subject | list[Entry]) -> set[str]:
    """The names of the points that object to an incident or to a set of them."""
    if isinstance(broken, Subject):
        return {one.split(":")[0] for one in findings(broken)}
    alone = {one.split(":")[0] for entry in broken for one in entry.found}
    return alone | {one.split(":")[0] for one in set_findings(broken)}
