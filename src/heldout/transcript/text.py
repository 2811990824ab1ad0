"""A transcript for a person: alert, steps, submission, verdicts, cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heldout.interface import Submission
from heldout.store.queries import InvestigationRow, RunRow
from heldout.transcript.answers import answer_lines, call_words, names_of
from heldout.transcript.choosing import Found
from heldout.transcript.events import Event, events
from heldout.transcript.page import PIPED, Page
from heldout.transcript.verdicts import verdict_lines

_SHORT_SAID = 700


def transcript(found: Found, *, full: bool = False, width: int = PIPED) -> str:
    """The whole page; answers and long words are shortened unless ``full``."""
    page = Page(width)
    for line in headline(found):
        page.add(line)
    page.heading("Alert")
    page.add(str(found.case.get("alert", "")).strip(), 2)
    trace = found.trace
    if trace is None:
        page.heading("Steps")
        page.add(f"None is stored: {found.row.reason} {found.row.detail}".strip(), 2)
    else:
        page.heading("Steps")
        for event in events(trace):
            _event(page, event, full)
        if trace.detail:
            page.add(f"ended: {trace.detail}", 2)
        page.heading("Submitted")
        submission_lines(page, trace.submission, names_of(trace.steps))
    page.heading("Verdicts")
    for verdict in found.row.verdicts:
        verdict_lines(page, verdict)
    return page.text()


def headline(found: Found) -> list[str]:
    """What this is and what came of it, on two or three lines."""
    row, run = found.row, found.run
    side = "held-out half" if found.is_held_out else "train half"
    others = ", ".join(f"{one.repeat} {result(one)}" for one in found.repeats)
    lines = [
        f"incident {row.incident} · {side} of {run.set} · run {run.run} · {run.purpose}",
        f"{row.model} · arm {row.arm} · brain {row.brain[:12]} · repeat {row.repeat} ({others})",
        f"{result(row).upper()} · {cost_words(row)}",
    ]
    lines += [
        f"attempt {one.attempt} before it was invalid: {one.reason} {one.detail}".rstrip()
        for one in found.earlier
    ]
    return lines


def result(row: InvestigationRow) -> str:
    """The verdict that counts in the run, with a newer one beside it where they differ."""
    if not row.verdicts:
        return "no verdict"
    first, newest = row.verdicts[0].result, row.verdicts[-1].result
    return first if first == newest else f"{first}, later {newest}"


def cost_words(row: InvestigationRow) -> str:
    """Steps, calls, tokens, money, seconds, and how it ended."""
    usd = "cost unknown" if row.usd is None else f"{row.usd:.4f} USD"
    reasoned = f" ({row.reasoning_tokens:,} reasoning)" if row.reasoning_tokens else ""
    return (
        f"{row.steps} steps in {row.calls} model calls · {row.input_tokens:,} tokens in "
        f"({row.cached_tokens:,} cached), {row.output_tokens:,} out{reasoned} · {usd}"
        f" · {row.seconds:.1f} s"
        f" · ended: {row.stop_reason or row.reason}"
    )


def _event(page: Page, event: Event, full: bool) -> None:
    step = event.step
    if step is None:
        text = event.text if full else event.text[:_SHORT_SAID]
        text += "" if full or len(event.text) <= _SHORT_SAID else " …"
        names = {"said": "says", "harness": "is told", "not run": "not run"}
        page.labelled(names[event.kind], text, 5, 9)
        return
    final = step.tool == "submit_diagnosis" and not step.is_error
    page.labelled(f"{step.index + 1}", step.tool if final else call_words(step, event.asked), 2, 4)
    for line in ("accepted",) if final else answer_lines(step, full=full):
        page.add(line, 6)


_PROSE = (
    ("mechanism", "mechanism"),
    ("trigger", "trigger"),
    ("affected", "affected"),
    ("evidence_ids", "evidence"),
    ("ruled_out", "ruled out"),
    ("unavailable_sources", "not available"),
    ("recommended_fix", "fix"),
)


def submission_lines(page: Page, submission: Submission, names: Mapping[str, str]) -> None:
    """The diagnosis, ids with the names that the tools gave them."""
    if not submission.complete:
        page.add("(the investigation ended before it submitted on its own)", 2)
    page.labelled("root cause entity", _named(submission.root_cause_entity, names))
    page.labelled("root cause change", _named(submission.root_cause_change, names))
    for field, label in _PROSE:
        value = getattr(submission, field)
        if value:
            text = value if isinstance(value, str) else ", ".join(_named(v, names) for v in value)
            page.labelled(label, text)


def _named(value: str | None, names: Mapping[str, str]) -> str:
    if not value:
        return "none"
    return f"{value} ({names[value]})" if value in names else value


def listing(run: RunRow, rows: Sequence[InvestigationRow], width: int = PIPED) -> str:
    """Every investigation of a run on a line of its own."""
    page = Page(width)
    page.add(f"run {run.run} · {run.purpose} · {run.model} · set {run.set} · {run.status}")
    page.heading(f"{'incident':<16}{'arm':<10}{'repeat':<8}{'verdict':<14}{'steps':<7}ended")
    for row in rows:
        page.add(
            f"{row.incident:<16}{row.arm:<10}{row.repeat:<8}{result(row):<14}{row.steps:<7}"
            f"{row.stop_reason or row.reason}"
        )
    page.heading(f"One of them: heldout show {run.run[:8]} INCIDENT")
    return page.text()
