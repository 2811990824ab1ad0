"""What ``heldout check`` does: a whole brain, or a patch against the brain in use."""

from __future__ import annotations

from pathlib import Path

from heldout.brain import Brain, load_brain
from heldout.edit import read_patch
from heldout.gate.process import GateProcess
from heldout.gate.report import GateReport
from heldout.gate.written import as_written
from heldout.settings import Settings


def check_brain(settings: Settings, path: Path, *, base: Brain | None = None) -> GateReport:
    """Check a brain directory. Without ``base`` everything in it counts as new.

    Findings name lines and columns of the files on disk.
    A brain that cannot be read raises :class:`BrainError`; a gate that cannot run raises
    :class:`GateError`; both mean that nothing was let through.
    """
    brain = load_brain(path)
    with GateProcess(settings) as gate:
        report = gate.check_whole(brain) if base is None else gate.check(base, brain)
    return as_written(report, path)


def check_patch(settings: Settings, patch: Path, brain: Path) -> GateReport:
    """Check a patch (an edit as JSON, or a unified diff) against the brain it is made for.

    A patch made against another brain does not apply and raises :class:`EditError`.
    """
    before = load_brain(brain)
    after = read_patch(patch, before)
    with GateProcess(settings) as gate:
        return gate.check(before, after)
