"""What ``heldout check`` does: a brain, a patch against the one in use, stored proposals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.brain import Brain, load_brain
from heldout.edit import read_patch, read_rationale
from heldout.errors import HeldoutError, UsageError
from heldout.gate.process import GateProcess
from heldout.gate.report import GateReport, render
from heldout.gate.sarif import sarif, sarif_failure
from heldout.gate.written import as_written
from heldout.settings import Settings

Form = Literal["text", "json", "sarif"]


def check_brain(settings: Settings, path: Path, *, base: Brain | None = None) -> GateReport:
    """Check a brain directory. Without ``base`` everything in it counts as new.

    Findings name lines and columns of the files on disk. A brain that cannot be read raises
    :class:`BrainError`; a gate that cannot run raises :class:`GateError`; both mean that nothing
    was let through.
    """
    brain = load_brain(path)
    with GateProcess(settings) as gate:
        report = gate.check_whole(brain) if base is None else gate.check(base, brain)
    return as_written(report, path)


def check_patch(settings: Settings, patch: Path, brain: Path) -> GateReport:
    """Check a patch (an edit as JSON, or a unified diff) against the brain it is made for.

    The reason that an edit gives is checked as well. A patch made against another brain does not
    apply and raises :class:`EditError`.
    """
    before = load_brain(brain)
    after = read_patch(patch, before)
    with GateProcess(settings) as gate:
        return gate.check(before, after, rationale=read_rationale(patch))


def check_target(settings: Settings, target: Path | None, base: Path | None) -> GateReport:
    """Check a folder, a patch or, without a target, the brain in use."""
    path = target or settings.brain
    if not path.exists():
        raise UsageError("no such file or folder", where=str(path), mend="Name a brain or a patch")
    if path.is_dir():
        return check_brain(settings, path, base=load_brain(base) if base else None)
    return check_patch(settings, path, base or settings.brain)


def shown(report: GateReport, form: Form, settings: Settings, target: Path | None) -> str:
    """A report in one of its forms; SARIF names files from the project's folder on."""
    if form == "text":
        return render(report)
    if form == "json":
        return json.dumps(report.plain(), indent=1)
    folder = target if target is not None and target.is_dir() else settings.brain
    place = folder.resolve()
    inside = place.is_relative_to(settings.root.resolve())
    name = place.relative_to(settings.root.resolve()) if inside else place
    return json.dumps(sarif(report, name.as_posix()), indent=1)


def failure_shown(error: HeldoutError, form: Form) -> str:
    """A check that could not be made, for a program that reads the answer; empty as text."""
    if form == "text":
        return ""
    if form == "sarif":
        return json.dumps(sarif_failure(error), indent=1)
    said = {"what": error.what, "where": error.where, "mend": error.mend}
    return json.dumps({"passed": False, "error": said}, indent=1)


@dataclass(frozen=True, slots=True)
class Recheck:
    """A stored proposal held against the incidents of today."""

    proposal: str
    after_hash: str
    report: GateReport

    def plain(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "proposal": self.proposal,
            "after_hash": self.after_hash,
            "report": self.report.plain(),
        }


def check_stored(settings: Settings) -> tuple[Recheck, ...]:
    """Check every proposal of the ledger again, the newest first: incidents come after brains."""
    from heldout.store import Ledger, brain, queries

    found: list[Recheck] = []
    with Ledger.open(settings.ledger, read_only=True) as ledger, GateProcess(settings) as gate:
        for row in queries.proposals(ledger):
            before, after = brain(ledger, row.before_hash), brain(ledger, row.after_hash)
            found.append(Recheck(row.proposal, after.hash, gate.check(before, after)))
    return tuple(found)
