"""An examination as lines for a person, and as plain data."""

from __future__ import annotations

from typing import Any

from heldout.llm.doctor.examine import Examination, Examiner, Planned
from heldout.llm.doctor.finding import Finding
from heldout.llm.doctor.subject import Spent
from heldout.terminal import visible

_WIDTH = 22


def opening(examiner: Examiner) -> str:
    """What is about to be asked, and the most it costs."""
    where = f" at {examiner.base_url}" if examiner.base_url else ""
    planned = examiner.planned()
    return f"{examiner.model}{where}\nat most {_planned(planned)}"


def line(finding: Finding) -> str:
    """One finding on one line."""
    said = visible(finding.said, 300)
    return f"  {finding.outcome:<8} {finding.title:<{_WIDTH}} {said}"


def closing(examination: Examination) -> str:
    """What follows, what it cost, and the lines to set."""
    advice = examination.advice
    lines = [f"spent: {_spent(examination.spent)}"]
    if advice.usable:
        parts = ["usable", f"wire {advice.wire}"]
        parts += [f"mode {' or '.join(advice.modes)}"] if advice.modes else []
        lines.append(" · ".join([*parts, f"roles {', '.join(advice.roles)}"]))
    else:
        lines.append("not usable: see what the lines above say")
    lines += [f"note: {note}" for note in advice.notes]
    for role, text in advice.settings.items():
        indented = "".join(f"  {one}\n" for one in text.splitlines()).rstrip("\n")
        lines.append(f"\nto set in heldout.toml for the {role}:\n{indented}")
    return "\n".join(lines)


def plain(examination: Examination, planned: Planned) -> dict[str, Any]:
    """Everything as plain data for JSON."""
    advice, spent = examination.advice, examination.spent
    return {
        "model": str(examination.model),
        "base_url": examination.base_url,
        "usable": advice.usable,
        "wire": advice.wire,
        "modes": list(advice.modes),
        "roles": list(advice.roles),
        "concurrency": advice.concurrency,
        "notes": list(advice.notes),
        "settings": dict(advice.settings),
        "endpoint": [finding.plain() for finding in examination.endpoint],
        "wires": {
            one.wire: [finding.plain() for finding in one.findings] for one in examination.wires
        },
        "planned": {
            "requests": planned.requests,
            "tokens": planned.tokens,
            "usd": planned.usd,
            "prices_as_of": planned.as_of,
        },
        "spent": {
            "requests": spent.requests,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "usd": spent.usd,
        },
    }


def _planned(planned: Planned) -> str:
    usd = "USD unknown" if planned.usd is None else f"USD {planned.usd:.2f}"
    day = f" (prices as of {planned.as_of})" if planned.as_of else ""
    return f"{planned.requests} requests, {planned.tokens:,} tokens, {usd}{day}"


def _spent(spent: Spent) -> str:
    usd = "USD unknown" if spent.usd is None else f"USD {spent.usd:.4f}"
    return f"{spent.requests} requests, {spent.input_tokens + spent.output_tokens:,} tokens, {usd}"
