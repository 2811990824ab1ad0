"""What is not collected: streams that a knob leaves out, and the proof of an unanswerable case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from heldout.errors import SpecError
from heldout.simulate.plot import Gap, Plot
from heldout.simulate.rhythm import HOUR, MINUTE, SECOND
from heldout.simulate.scope import members
from heldout.simulate.streams import share

Source = Literal["logs", "metrics", "changes"]
_NOTES: Mapping[Source, tuple[str, ...]] = {
    "logs": (
        "the log shipper of this workload was down", "lines were dropped at the ingest limit",
        "this log stream is not collected", "the log index of this stream was not kept",
    ),
    "metrics": (
        "the scrape of this target failed", "samples were rejected as out of order",
        "this target is not scraped", "the series were not kept",
    ),
    "changes": (
        "the audit feed was interrupted", "events of this time were not delivered",
        "the change feed was rebuilt and this part was not", "audit records were not kept",
    ),
}  # fmt: skip
"""What is said of a gap; the same words wherever one is."""


def gap(plot: Plot, source: Source, entity: int, since: int, until: int) -> Gap:
    """A gap with a note drawn from its source's; ``until`` is capped just after the present."""
    notes = _NOTES[source]
    draw = share(plot.seed, "gap", source, plot.land.ground.id(entity))
    return Gap(
        source, entity, max(plot.start, since // SECOND * SECOND),
        min(until // SECOND * SECOND, plot.now + SECOND),
        notes[int(draw * len(notes))],
    )  # fmt: skip


def covered(plot: Plot) -> Plot:
    """The plot with the gaps of knob ``log_coverage`` and, if it is unanswerable, of its proof."""
    gaps = [*plot.gaps, *_uncollected(plot)]
    if plot.kind == "unanswerable":
        gaps += _proof(plot)
    return replace(plot, gaps=tuple(dict.fromkeys(gaps)))


def _uncollected(plot: Plot) -> list[Gap]:
    """Log streams of services off the failing path, as many as the coverage leaves out."""
    coverage = plot.knob("log_coverage", 1.0)
    ground = plot.land.ground
    needed = {*plot.binding.path, *members(plot)[0]}
    sites = [site.service for site in plot.land.sites]
    order = sorted(
        (one for one in sites if one not in needed),
        key=lambda one: share(plot.seed, "coverage", ground.id(one)),
    )
    missing = order[: round((1 - coverage) * len(sites))]
    return [gap(plot, "logs", one, plot.start, plot.now + SECOND) for one in missing]


def _proof(plot: Plot) -> list[Gap]:
    """The seat's words and series since before onset, and the changes around the cause."""
    cause = plot.act("cause")
    if cause is None:
        raise SpecError(
            f"fault '{plot.binding.fault.name}' has no change whose proof could be missing",
            where="spec.kind",
            mend="Choose a fault whose cause is a change for an unanswerable incident",
        )
    binding = plot.binding
    if binding.seat == binding.victim:
        raise SpecError(
            "the alerted service would itself be without telemetry",
            where="spec.knobs.hops",
            mend="Choose at least 1 for an unanswerable incident",
        )
    late = plot.now + SECOND
    early = plot.onset - HOUR - round(5 * HOUR * share(plot.seed, "proof", "early"))
    silent = dict.fromkeys((binding.seat, *members(plot)[0]))
    gaps = [gap(plot, "logs", one, early, late) for one in silent]
    gaps.append(gap(plot, "metrics", binding.seat, early, late))
    before = round((1 + 5 * share(plot.seed, "proof", "before")) * HOUR)
    after = round((10 + 200 * share(plot.seed, "proof", "after")) * MINUTE)
    gaps.append(gap(plot, "changes", binding.holder, cause.ts - before, cause.ts + after))
    return gaps
