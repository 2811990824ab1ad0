"""Every measure over a stored run: one pass over its traces, summed by arm and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from heldout.compare import known_changes, known_entities
from heldout.environments import open_environment
from heldout.errors import ConfigError, UsageError
from heldout.run import outcomes
from heldout.run.manifest import tools_hash
from heldout.run.plan import Outcome
from heldout.run.reduce import final
from heldout.store import Ledger, queries
from heldout.store.queries import RunRow
from heldout.transcript import held_out, require_open
from heldout.usage.measure import Finding, Measure, Suggestion, Sums
from heldout.usage.measures import MEASURES
from heldout.usage.play import Known, Play

ALL = "all"


@dataclass(frozen=True, slots=True)
class Group:
    """The findings over some investigations: of one arm (or any) with one verdict (or any)."""

    name: str
    arm: str
    verdict: str
    investigations: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """How a run's agents used what they were offered. The first group is over all of it.

    ``invalid`` slots are counted and not looked at: they say nothing about the agent.
    """

    run: str
    model: str
    set: str
    purpose: str
    side: str
    invalid: int
    groups: tuple[Group, ...]
    suggestions: tuple[Suggestion, ...]

    @property
    def whole(self) -> Group:
        """The group over everything."""
        return self.groups[0]


@dataclass(slots=True)
class _Gathering:
    """Sums by (arm, verdict); empty means any."""

    measures: Sequence[Measure]
    sums: dict[tuple[str, str], list[Sums]] = field(default_factory=dict)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, arm: str, verdict: str, play: Play) -> None:
        tallies = [measure.count(play) for measure in self.measures]
        for key in {("", ""), (arm, ""), ("", verdict), (arm, verdict)}:
            sums = self.sums.setdefault(key, [Sums(measure) for measure in self.measures])
            self.counts[key] = self.counts.get(key, 0) + 1
            for one, tally in zip(sums, tallies, strict=True):
                one.add(tally)

    def group(self, arm: str, verdict: str) -> Group:
        sums = self.sums.get((arm, verdict)) or [Sums(measure) for measure in self.measures]
        return Group(
            name=" ".join(part for part in (arm, verdict) if part) or ALL,
            arm=arm,
            verdict=verdict,
            investigations=self.counts.get((arm, verdict), 0),
            findings=tuple(one.finding() for one in sums),
        )


def usage(
    ledger: Ledger, run_id: str, root: Path, *, measures: Sequence[Measure] = MEASURES
) -> Usage:
    """Count over a run, named by its id or the beginning of it.

    ``root`` is the project's folder, where the run's worlds are looked for. A run over the held-out
    half whose score has not ended is a :class:`~heldout.errors.SplitViolation`.
    """
    row = queries.run(ledger, run_id)
    require_open(ledger, row)
    arms = [str(arm["name"]) for arm in row.manifest["arms"]]
    chosen = final(outcomes(ledger, row.run)).values()
    gathering = _Gathering(measures)
    _gather(gathering, row, root, sorted(chosen, key=lambda one: one.incident))
    groups = _groups(gathering, arms)
    return Usage(
        run=row.run,
        model=row.model,
        set=row.set or "",
        purpose=row.purpose,
        side="test" if held_out(row) else "train",
        invalid=len(chosen) - groups[0].investigations,
        groups=groups,
        suggestions=_suggestions(measures, groups[0]),
    )


def _gather(gathering: _Gathering, row: RunRow, root: Path, chosen: Sequence[Outcome]) -> None:
    offered = _offered(row)
    worlds = {str(case["incident"]): root / str(case["world"]) for case in row.cases}

    @lru_cache(maxsize=1)  # Outcomes come by incident: one world is in use at a time.
    def known(incident: str) -> Known:
        world = worlds[incident]
        return Known(known_entities(world), known_changes(world))

    for one in chosen:
        if one.verdict.result != "invalid" and one.trace is not None:
            play = Play.of(one.trace, known(one.incident), offered)
            gathering.add(one.arm, one.verdict.result, play)


def _groups(gathering: _Gathering, arms: Sequence[str]) -> tuple[Group, ...]:
    keys = [("", "")]
    if len(arms) == 1:
        keys += [("", "pass"), ("", "fail")]
    else:
        keys += [(arm, "") for arm in arms]
        keys += [(arm, verdict) for arm in arms for verdict in ("pass", "fail")]
    return tuple(gathering.group(arm, verdict) for arm, verdict in keys)


def _offered(row: RunRow) -> tuple[str, ...]:
    """The run's tools, where they are those of this version and can be offered here."""
    try:
        interface = open_environment(row.manifest.get("terms", {}).get("tools", "native"))
    except (UsageError, ConfigError):
        return ()
    if row.manifest["pins"].get("tools") != tools_hash(interface):
        return ()
    return tuple(spec.name for spec in interface.tool_specs())


def _suggestions(measures: Sequence[Measure], whole: Group) -> tuple[Suggestion, ...]:
    found = [
        one
        for measure, finding in zip(measures, whole.findings, strict=True)
        for one in measure.suggest(finding)
    ]
    return tuple(sorted(found, key=lambda one: (-one.investigations * bool(one.count), -one.count)))
