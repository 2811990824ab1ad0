"""A proposal and the brain in use, which other models' jobs may have changed meanwhile."""

from __future__ import annotations

from heldout.brain import Brain, load_brain
from heldout.errors import GateRejected, UsageError
from heldout.gate import GateProcess, GateReport, render
from heldout.overlays import alike, carried_over, changed
from heldout.settings import Settings


def require(report: GateReport) -> GateReport:
    """The report, or :class:`GateRejected` with its findings."""
    if not report.passed:
        raise GateRejected(
            f"the gate refuses this brain\n{render(report)}", mend="Take those words out"
        )
    return report


def onto_brain_in_use(
    settings: Settings, before: Brain, after: Brain, model: str
) -> tuple[Brain, Brain]:
    """The brain in use without and with a change that was measured from ``before`` to ``after``.

    A brain that differs from ``before`` only where ``model`` never reads takes the change as it is;
    nobody has gated the two together, so the gate is asked first. Where the change stands in it
    already, an acceptance died before its row. Any other difference is a :class:`UsageError`.
    """
    current = load_brain(settings.brain)
    if current.hash in {before.hash, after.hash}:
        return before, after
    if model:
        made = carried_over(before, after, current, model)
        if made is not None:
            with GateProcess(settings) as gate:
                require(gate.check(current, made))
            return current, made
        without = carried_over(after, before, current, model)
        if without is not None:
            return without, current
    raise UsageError(
        f"the brain has changed since this was proposed ({_where(before, current, model)})",
        where=str(settings.brain),
        mend="Run 'heldout tune' again, or put the old brain back with 'heldout revert "
        f"{before.hash[:12]}'",
    )


def has_a_place(settings: Settings, before: Brain, after: Brain, model: str) -> bool:
    """Whether :func:`onto_brain_in_use` takes the change, as far as the gate does not object."""
    current = load_brain(settings.brain)
    if current.hash in {before.hash, after.hash}:
        return True
    pairs = ((before, after), (after, before)) if model else ()
    return any(carried_over(one, two, current, model) is not None for one, two in pairs)


def _where(before: Brain, current: Brain, model: str) -> str:
    names = ", ".join(changed(before, current)[:3]) or "brain.toml"
    return names if alike(before, current, model) else f"{names}, which {model} reads"
