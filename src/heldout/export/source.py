"""What an export is made from: investigations of the train half, each with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import heldout
from heldout.agent.trace import Trace
from heldout.environments import open_environment
from heldout.errors import ConfigError, SplitViolation, UsageError
from heldout.run.history import TraceReader
from heldout.run.manifest import tools_hash
from heldout.settings import Settings
from heldout.split import read_split
from heldout.store import Ledger, brain, queries
from heldout.store.queries import InvestigationRow, RunRow, VerdictRow
from heldout.transcript import counted, held_out


@dataclass(frozen=True, slots=True)
class Exported:
    """One investigation that counts, with the newest verdict on it; invalid ones lack a trace."""

    run: RunRow
    case: Mapping[str, Any]
    row: InvestigationRow
    reader: TraceReader

    @property
    def trace(self) -> Trace | None:
        """The trace, read from the ledger when it is asked for."""
        return self.reader.read(self.row.trace) if self.row.trace else None

    @property
    def verdict(self) -> VerdictRow:
        """The newest opinion: a person's or a second judge's where there is one."""
        return self.row.verdicts[-1]

    @property
    def valid(self) -> bool:
        """Whether it says something about the agent."""
        return bool(self.row.trace) and self.verdict.result != "invalid"

    def provenance(self) -> dict[str, Any]:
        """Where the row comes from, complete enough to find it again and to weigh it."""
        row, terms = self.row, self.run.manifest.get("terms") or {}
        return {
            "run": row.run,
            "purpose": self.run.purpose,
            "set": self.run.set,
            "side": "train",
            "incident": row.incident,
            "arm": row.arm,
            "repeat": row.repeat,
            "attempt": row.attempt,
            "brain": row.brain,
            "model": row.model,
            "served_model": row.served_model,
            "mode": terms.get("mode", "tools"),
            "world": self.case.get("digest"),
            "tools": self.run.manifest["pins"].get("tools"),
            "verdict": self.verdict.result,
            "judge": self.verdict.judge,
            "judged_by_person": self.verdict.author is not None,
            "heldout": heldout.__version__,
        }


class Source:
    """The runs to export. Making one refuses whatever touches the held-out half.

    Without a run named it is every run over train.
    """

    def __init__(
        self, settings: Settings, ledger: Ledger, runs: Sequence[str], arm: str = ""
    ) -> None:
        self.ledger = ledger
        self.arm = arm
        closed = held_out_incidents(settings)
        self.runs = [queries.run(ledger, one) for one in runs]
        for row in self.runs:
            require_train(row, closed)
        if not runs:
            self.runs = [row for row in queries.runs(ledger) if not touched(row, closed)]
        arms = {str(one["name"]) for row in self.runs for one in row.manifest["arms"]}
        if arm and arm not in arms:
            raise UsageError(
                f"no run has an arm '{arm}'", mend=f"They have: {', '.join(sorted(arms))}"
            )

    def investigations(self) -> Iterator[Exported]:
        """Every slot of the runs, in order; traces are read one at a time."""
        reader = TraceReader(self.ledger)
        for run in self.runs:
            cases = {str(case["incident"]): case for case in run.cases}
            rows = counted(self.ledger, queries.investigations(self.ledger, run.run))
            for row in rows:
                if self.arm in ("", row.arm):
                    yield Exported(run, cases[row.incident], row, reader)

    def tools(self, run: RunRow, brain_hash: str) -> list[dict[str, Any]]:
        """The tools as that run's model was offered them; other ones are a ConfigError."""
        from heldout.agent.toolbox import offered

        interface = open_environment(run.manifest.get("terms", {}).get("tools", "native"))
        if run.manifest["pins"].get("tools") != tools_hash(interface):
            raise ConfigError(
                "the tools have changed since this run, or were another environment's",
                where=f"run {run.run}",
                mend="Export it with the heldout that played it",
            )
        specs = offered(interface.tool_specs(), brain(self.ledger, brain_hash))
        return [spec.wire() for spec in specs]


def held_out_incidents(settings: Settings) -> frozenset[str]:
    """The incidents on the held-out side of any set of the project, retired sets included."""
    folders = [one for one in settings.set_folders() if (one / "split.toml").is_file()]
    return frozenset(one for folder in folders for one in read_split(folder).test)


def touched(row: RunRow, closed: frozenset[str]) -> frozenset[str]:
    """What of the held-out half a run played: on its own word, or as the sets say now."""
    return held_out(row) | (closed & {str(case["incident"]) for case in row.cases})


def require_train(row: RunRow, closed: frozenset[str]) -> None:
    """Raise :class:`SplitViolation` for a run that played an incident of the held-out half."""
    found = touched(row, closed)
    if found:
        raise SplitViolation(
            f"this run holds {len(found)} incident(s) of the held-out half, and what trains a "
            "model must hold none",
            where=f"run {row.run}",
            mend="Export a run over train: 'heldout run' plays one",
        )
