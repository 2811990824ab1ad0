"""Two investigations of one incident beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.agent.trace import Step
from heldout.compare import first_difference, worlds_of
from heldout.errors import UsageError
from heldout.transcript.answers import answer_lines, call_words, names_of
from heldout.transcript.choosing import Found
from heldout.transcript.page import PIPED, Page
from heldout.transcript.text import cost_words, result
from heldout.transcript.verdicts import criteria_lines

FIRST = ">>"
"""The mark of the first different call; later ones that differ have a ``>``."""


def require_same_world(one: Found, two: Found) -> None:
    """Two investigations can be laid beside each other only where they saw the same world."""
    incident = one.row.incident
    if worlds_of(one.run)[incident] != worlds_of(two.run)[incident]:
        raise UsageError(
            f"incident '{incident}' has another world in each run",
            mend="Compare runs of the same frozen set",
        )


def difference(one: Found, two: Found) -> int | None:
    """The index of the first different call; ``None`` where all calls are the same."""
    left, right = _steps(one), _steps(two)
    index = first_difference(left, right)
    return None if index == len(left) == len(right) else index


def side_by_side(one: Found, two: Found, *, full: bool = False, width: int = PIPED) -> str:
    """Both as a page: the calls with the first different one marked, then what each found."""
    require_same_world(one, two)
    page = Page(width)
    page.add(f"incident {one.row.incident} of {one.run.set}")
    page.beside("", *(_label(found) for found in (one, two)))
    index = difference(one, two)
    said = "the calls are the same" if index is None else f"first different call: step {index + 1}"
    page.heading(f"Steps ({said})")
    left, right = _steps(one), _steps(two)
    for at in range(max(len(left), len(right))):
        apart = index is not None and at >= index
        mark = FIRST if at == index else ">" if _differ(left, right, at) else ""
        calls = _call(left, at, full or apart), _call(right, at, full or apart)
        page.beside(f"{at + 1:>3} {mark}", *calls)
    page.heading("What each found")
    page.beside("", _finding(one), _finding(two))
    return page.text()


def _steps(found: Found) -> tuple[Step, ...]:
    return found.trace.steps if found.trace else ()


def _differ(left: Sequence[Step], right: Sequence[Step], at: int) -> bool:
    return first_difference(left[at : at + 1], right[at : at + 1]) == 0


def _label(found: Found) -> str:
    row = found.row
    return (
        f"run {found.run.run[:8]}:{row.arm} repeat {row.repeat} · {row.model} · brain "
        f"{row.brain[:12]}\n{result(row).upper()} · {cost_words(row)}"
    )


def _call(steps: Sequence[Step], index: int, with_answer: bool) -> str:
    """One call with the first line of its answer, where the two went apart."""
    if index >= len(steps):
        return "(ended here)" if index == len(steps) else ""
    step = steps[index]
    if step.tool == "submit_diagnosis" and not step.is_error:
        return step.tool
    lines = list(answer_lines(step))[:1] if with_answer else []
    return "\n".join([call_words(step), *(f"  {line}" for line in lines)])


def _finding(found: Found) -> str:
    trace = found.trace
    if trace is None:
        return f"invalid: {found.row.reason}"
    said, names = trace.submission, names_of(trace.steps)
    lines = [
        f"entity {said.root_cause_entity or 'none'} "
        f"{names.get(said.root_cause_entity or '', '')}".rstrip(),
        f"change {said.root_cause_change or 'none'}",
        f"mechanism: {said.mechanism or 'not stated'}",
    ]
    for verdict in found.row.verdicts[:1]:
        lines += [f"{verdict.result}: {verdict.reasoning}", *criteria_lines(verdict.criteria)]
    return "\n".join(lines)
