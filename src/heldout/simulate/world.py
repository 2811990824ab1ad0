"""From a spec to a world: estate, history, incident, evidence, truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.errors import SpecError
from heldout.graph.collection import uncollected
from heldout.graph.schema import MetricBlock, WorldTables
from heldout.graph.topology import Topology
from heldout.simulate.alerts import Alarm, alarm, alert_rows
from heldout.simulate.answer import write_truth
from heldout.simulate.dressing import DRAWS, dress, padding
from heldout.simulate.effects import effect_changes
from heldout.simulate.fault import Fault, fault_named, faults
from heldout.simulate.gaps import withheld
from heldout.simulate.ground import Change
from heldout.simulate.knobs import checked
from heldout.simulate.landscape import Landscape, build_landscape
from heldout.simulate.plot import DECOYS, Act, Plot, Role, base_plot, upstream
from heldout.simulate.rhythm import SECOND
from heldout.simulate.streams import stream
from heldout.simulate.suspects import tamed
from heldout.simulate.symptoms import (
    MOST_ROUTES,
    Active,
    Symptoms,
    load_metrics,
    move_metrics,
    render,
)
from heldout.simulate.tables import Replay, replay, world_columns
from heldout.simulate.telemetry import COARSE_S, FINE_S, Gauges, healthy_logs, healthy_metrics
from heldout.simulate.timeline import healthy_changes
from heldout.simulate.trap import stacked, trap_named
from heldout.truth import Spec, Truth

GENERATOR = "2"
"""Version of what a spec makes; it changes when any world would."""

VARIANTS = ("", "other_cause", "no_cause", "no_trigger", "no_decoy")
STAND_INS: tuple[Role, ...] = ("decoy", "older", "fleet", "lookalike", "noise")
"""Roles of innocent changes that could have been the cause: before onset and not taken back."""
TRIGGER_KEY = "wake"


@dataclass(frozen=True, slots=True)
class Generated:
    """A world with its truth, its alert, and the imported topology under it where there is one."""

    tables: WorldTables
    truth: Truth
    alert: str
    topology: Topology | None = None
    plot: Plot | None = field(default=None, repr=False, compare=False)
    """What was rendered, so that twins need no estate of their own."""


def plot_of(spec: Spec, land: Landscape | None = None) -> Plot:
    """The plot of a spec, traps composed; a bad spec is a :class:`SpecError`."""
    fault = fault_named(spec.fault)
    knobs = checked(spec.knobs)
    chosen = [trap_named(name) for name in spec.traps]
    # A scope has its own part that is reached; other faults need the place in several clusters.
    partial = fault.scope is None and any(trap.siblings for trap in chosen)
    if land is None:
        land = build_landscape(spec.seed, knobs)
    if partial and len(land.clusters) < 2:
        raise SpecError(
            "trap 'partial_fleet' needs several clusters, or a fault with a scope",
            where=f"spec {spec.id}",
            mend="Set knobs.archetype = 'fleet'",
        )
    if fault.cause == "false_alarm":
        # Nothing fails, so nothing could lead from the alerted service to another one.
        knobs = {**knobs, "hops": 0}
    plot = base_plot(land, spec.seed, spec.kind, knobs, fault, partial=partial)
    return stacked(plot, spec.traps)


def generate(spec: Spec, *, variant: str = "") -> Generated:
    """The world, truth and alert of a spec.

    Variants are twins of the same day: ``other_cause`` (a change that is innocent in the base is
    the cause, same alert), ``no_cause``, ``no_trigger``, ``no_decoy``.
    """
    with uncollected():
        return assemble(spec, plot_of(spec), variant=variant)


def twin(spec: Spec, made: Generated, variant: str) -> Generated:
    """A twin of what was generated, to compare symptoms with: the day's other lines and series
    are not rendered.
    """
    plot = made.plot or plot_of(spec)
    with uncollected():
        return assemble(spec, plot, variant=variant, lean=True)


def assemble(
    spec: Spec,
    plot: Plot,
    *,
    variant: str = "",
    cut: frozenset[tuple[int, int]] = frozenset(),
    lean: bool = False,
) -> Generated:
    """Render a plot. ``cut`` leaves out dependency edges when trouble spreads.

    ``lean`` leaves out healthy log lines, and the series of services that no symptom could reach.
    """
    if variant not in VARIANTS:
        raise SpecError(
            f"there is no variant '{variant}'", mend=f"Use one of: {', '.join(VARIANTS[1:])}"
        )
    land, seed = plot.land, plot.seed
    ground = land.ground
    ground.base.update(plot.pinned())
    changes = healthy_changes(
        land, seed, plot.start, plot.now,
        events=int(plot.knob("events", 0)), protected=plot.protected(),
    )  # fmt: skip
    acts = _present(plot, variant)
    changes = tamed(plot, [*changes, *(_dressed(plot, act) for act in acts)])
    woken = plot.latent or plot.binding.fault.cause in ("none", "recovered")
    woken = woken and variant != "no_trigger"
    if woken:
        changes.append(_trigger(plot))
    done = replay(ground, changes)
    cause = _cause(plot, variant)
    active = _active(plot, variant, acts, done, cause, woken=woken)
    if active is not None and _reported(plot):
        done = replay(ground, [*changes, *effect_changes(plot, active)], done)
    fired = alarm(plot)
    gauges = healthy_metrics(
        land, seed, plot.start, plot.now, _gauge_series(plot, cause),
        only=set(upstream(ground, plot.binding.seat)) | set(plot.binding.path) if lean else None,
    )  # fmt: skip
    if woken or not plot.latent:
        load_metrics(plot, gauges)
    symptoms = Symptoms({}, ())
    if active is not None:
        symptoms = render(plot, active, fired.share, cut=cut)
        move_metrics(plot, gauges, active, symptoms)
    truth = write_truth(
        spec, plot, done, active, symptoms.level,
        cause=cause, woken=TRIGGER_KEY if woken and plot.latent else None,
    )  # fmt: skip
    tables = _tables(plot, done, gauges, symptoms, fired, lean=lean)
    return Generated(withheld(plot, tables), truth, fired.markdown, plot=plot)


def _reported(plot: Plot) -> bool:
    """Whether controllers report what the fault does: the last of the routes to the mechanism."""
    return plot.kind != "unanswerable" and plot.knob("routes", MOST_ROUTES) >= MOST_ROUTES


def _present(plot: Plot, variant: str) -> tuple[Act, ...]:
    gone: tuple[str, ...] = {"no_cause": ("cause",), "no_decoy": DECOYS}.get(variant, ())
    return tuple(act for act in plot.acts if act.role not in gone)


def _cause(plot: Plot, variant: str) -> Act | None:
    """The act that is the cause in this variant."""
    if variant != "other_cause":
        return plot.act("cause")
    other = next((act for role in STAND_INS if (act := plot.act(role))), None)
    if other is None:
        raise SpecError(
            "no other change could be the cause",
            where="spec.traps",
            mend="Add trap onset_decoy or older_change",
        )
    return other


def _dressed(plot: Plot, act: Act) -> Change:
    u = stream(plot.seed, "act", act.key).random(DRAWS).tolist()
    kept = plot.protected()
    own = {(edit.entity, edit.field) for edit in act.edits}
    padded = tuple(
        edit for edit in padding(plot.land, act.edit, u)
        if edit == act.edit or (edit.entity, edit.field) not in {**kept, **dict.fromkeys(own)}
    )  # fmt: skip
    return dress(plot.land, act.key, act.ts, (*act.before, *padded, *act.also), u)


def _trigger(plot: Plot) -> Change:
    """The event that wakes a dormant cause, as its controller reports it."""
    trigger, ground = plot.binding.fault.trigger, plot.land.ground
    entity = plot.binding.woken
    actor = {"pod": "deployment-controller", "node": "node-controller"}.get(
        trigger.type, "platform-events"
    )
    return Change(
        plot.onset - 25 * SECOND, TRIGGER_KEY, trigger.type, "k8s", actor, "controller", "", "",
        "", trigger.summary.replace("{name}", ground.name(entity)), (entity,), (),
    )  # fmt: skip


def _active(
    plot: Plot,
    variant: str,
    acts: Sequence[Act],
    done: Replay,
    cause: Act | None,
    *,
    woken: bool,
) -> Active | None:
    """The cause as it acts, ``None`` where its change or its trigger is missing."""
    binding = plot.binding
    if binding.fault.cause != "change" and variant != "other_cause":
        if variant in ("no_cause", "no_trigger"):
            return None
        return Active(binding.fault, binding.seat, binding.seat, "", "", "", binding.path, "")
    if cause is None or cause not in acts:
        return None
    if plot.latent and not woken and cause.role == "cause":
        return None
    step = next(
        (
            diff for diff in done.diffs
            if diff.change == done.ids[cause.key] and diff.field == cause.edit.field
            and diff.entity == cause.edit.entity
        ),
        None,
    )  # fmt: skip
    held = done.state.get((cause.edit.entity, cause.edit.field))
    if step is None or held != step.new:
        return None
    fault = cause.fault or _plain_fault(cause, plot)
    seat = cause.seat if cause.seat >= 0 else binding.seat
    path = upstream(plot.land.ground, seat).get(binding.victim) or binding.path
    if cause.role == "cause":
        path = binding.path
    return Active(
        fault, seat, cause.edit.entity, cause.edit.field, step.old, step.new, path, step.change
    )


def _plain_fault(act: Act, plot: Plot) -> Fault:
    """Symptoms for an act that no record describes, used by twins."""
    leaf = act.edit.field.rsplit(".", 1)[-1].replace("{", "").replace("}", "")
    return replace(
        plot.binding.fault,
        said=leaf,
        logs=(
            "operation {0} refused: {said} is {new}, the peer expects {old}",
            "setting {said}={new} does not fit, attempt {0} given up after {1} ms",
        ),
        mechanism="The setting {said} went from {old} to {new}, which the peer refuses",
        terms=((leaf, leaf.replace("_", " "), "setting"),),
        fix="Restore {said} to {old}",
    )


def _gauge_series(plot: Plot, cause: Act | None) -> list[tuple[int, str, str, float]]:
    """Domain series: the mechanism's gauge on the seat and elsewhere, and other faults' gauges."""
    ground = plot.land.ground
    rng = plot.rng("gauges")
    wanted: dict[tuple[int, str], tuple[int, str, str, float]] = {}
    seats: list[tuple[int, Fault]] = [(plot.binding.seat, plot.binding.fault)]
    seats += [(act.seat, act.fault) for act in plot.acts if act.fault is not None and act.seat >= 0]
    seats += [(sibling, fault) for seat, fault in seats for sibling in ground.siblings(seat)]
    known = list(faults().values())
    for fault in [plot.binding.fault, *(known[int(i)] for i in rng.permutation(len(known))[:5])]:
        pool = ground.of_kind(fault.seat)
        for _ in range(4 if pool else 0):
            seats.append((pool[int(rng.integers(len(pool)))], fault))
    for seat, fault in seats:
        gauge = fault.gauge
        wanted.setdefault((seat, gauge.name), (seat, gauge.name, gauge.unit, gauge.healthy))
    return list(wanted.values())


def _tables(
    plot: Plot, done: Replay, gauges: Gauges, symptoms: Symptoms, fired: Alarm, *, lean: bool
) -> WorldTables:
    ground = plot.land.ground
    extra: Mapping[str, Any] = {
        "metric_series": [
            (own, ground.id(entity), name, unit)
            for own, entity, name, unit in zip(
                gauges.ids, gauges.entities, gauges.names, gauges.units, strict=True
            )
        ],
        "alert": alert_rows(plot, fired, symptoms.level),
    }
    lines = 0 if lean else int(plot.knob("log_lines", 100_000))
    logs = healthy_logs(plot.land, plot.seed, plot.now, lines=lines)
    return WorldTables(
        columns=world_columns(ground, done, start=plot.start, now=plot.now, extra=extra),
        logs=(*logs, *symptoms.blocks),
        metrics=(
            MetricBlock(gauges.ids, gauges.coarse_t0, COARSE_S, gauges.coarse),
            MetricBlock(gauges.ids, gauges.fine_t0, FINE_S, gauges.fine),
        ),
        now=plot.now,
        start=plot.start,
        meta={"origin": "graph"},
    )
