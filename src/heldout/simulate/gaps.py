"""Telemetry that was not kept: rows are left out and the gap is on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.graph.schema import LogBlock, MetricBlock, WorldTables
from heldout.simulate.plot import Gap, Plot

Columns = dict[str, list[Any]]


def withheld(plot: Plot, tables: WorldTables) -> WorldTables:
    """The tables without what the plot's gaps cover."""
    if not plot.gaps:
        return tables
    columns = {name: {k: list(v) for k, v in table.items()} for name, table in
               tables.columns.items() if name in _TOUCHED}  # fmt: skip
    ids = {gap: plot.land.ground.id(gap.entity) for gap in plot.gaps}
    logs: Sequence[LogBlock] = tables.logs
    metrics: Sequence[MetricBlock] = tables.metrics
    for gap in plot.gaps:
        own = ids[gap]
        if gap.source == "logs":
            logs = [_without_lines(block, own, gap) for block in logs]
        elif gap.source == "metrics":
            metrics = [_without_samples(block, _series(tables, own), gap) for block in metrics]
        else:
            _forget_changes(columns, own, gap)
    rows = [(gap.source, ids[gap], gap.since, gap.until, gap.note) for gap in plot.gaps]
    for at, name in enumerate(("source", "entity_id", "since", "until", "note")):
        columns["data_gap"][name] += [row[at] for row in rows]
    return replace(
        tables, columns={**tables.columns, **columns},
        logs=[block for block in logs if len(block.ts)], metrics=metrics,
    )  # fmt: skip


_TOUCHED = ("fact", "change_event", "change_target", "change_diff", "data_gap")


def _without_lines(block: LogBlock, own: str, gap: Gap) -> LogBlock:
    of = np.array([entity == own for entity in block.template_entity], dtype=bool)
    if not of.any():
        return block
    keep = ~(of[block.template] & (block.ts >= gap.since) & (block.ts < gap.until))
    return replace(
        block, ts=block.ts[keep], template=block.template[keep], arg0=block.arg0[keep],
        arg1=block.arg1[keep],
    )  # fmt: skip


def _series(tables: WorldTables, own: str) -> set[str]:
    columns = tables.columns["metric_series"]
    return {
        str(one) for one, of in zip(columns["id"], columns["entity_id"], strict=True) if of == own
    }


def _without_samples(block: MetricBlock, of: set[str], gap: Gap) -> MetricBlock:
    rows = [at for at, one in enumerate(block.series_ids) if one in of]
    if not rows:
        return block
    step = block.step_s * 1_000_000
    first = max(0, -(-(gap.since - block.t0) // step))
    last = max(first, -(-(gap.until - block.t0) // step))
    values = block.values.copy()
    values[rows, first:last] = np.nan
    return replace(block, values=values)


def _forget_changes(columns: Mapping[str, Columns], own: str, gap: Gap) -> None:
    """Drop the entity's changes of the window, and every trace of the fields they set."""
    events = columns["change_event"]
    of = {
        event for event, entity in zip(columns["change_target"]["event_id"],
                                       columns["change_target"]["entity_id"], strict=True)
        if entity == own
    }  # fmt: skip
    gone = {
        event for event, ts in zip(events["id"], events["ts"], strict=True)
        if event in of and gap.since <= ts < gap.until
    }  # fmt: skip
    diffs = columns["change_diff"]
    fields = {
        (entity, field) for event, entity, field in
        zip(diffs["event_id"], diffs["entity_id"], diffs["field"], strict=True) if event in gone
    }  # fmt: skip
    _keep(events, [one not in gone for one in events["id"]])
    _keep(
        columns["change_target"], [one not in gone for one in columns["change_target"]["event_id"]]
    )
    for name in ("change_diff", "fact"):
        table = columns[name]
        pairs = zip(table["entity_id"], table["field"], strict=True)
        _keep(table, [pair not in fields for pair in pairs])


def _keep(table: Columns, keep: Sequence[bool]) -> None:
    for name, values in table.items():
        table[name] = [value for value, kept in zip(values, keep, strict=True) if kept]
