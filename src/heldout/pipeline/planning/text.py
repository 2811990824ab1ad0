"""A plan for people."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from heldout.compare.text import table
from heldout.pipeline.planning.stage import Plan, Stage
from heldout.report.rows import thousands, tokens, usd

_WIDTH = 96


def render_plan(plan: Plan) -> str:
    """The stages as a table, then what they rest on, prices, caps, and what can be shown."""
    blocks = [plan.title, _wrap(plan.subject), "", _stages(plan)]
    if plan.further:
        blocks += ["", "a score afterwards is a command of its own", table(_rows(plan.further))]
    blocks += ["", _listed("rests on", plan.basis), _listed("prices", plan.prices)]
    blocks += [_listed("caps", (*plan.caps, *_against_caps(plan)))]
    blocks += [_listed("the held-out half can show", (plan.gain,))]
    if plan.simulated:
        blocks.append(
            _listed("class", ("a simulated model: a mechanism test, whatever comes of it",))
        )
    blocks += ["", "Nothing was spent, opened or written."]
    return "\n".join(blocks)


def _stages(plan: Plan) -> str:
    most = "" if plan.most is None else thousands(plan.most)
    total = (
        "together", thousands(plan.investigations), most, thousands(plan.calls),
        tokens(plan.tokens), usd(plan.usd),
    )  # fmt: skip
    return table([*_rows(plan.stages), total])


def _rows(stages: Sequence[Stage]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("expected", "investigations", "at most", "calls", "tokens", "USD")
    ]
    for one in stages:
        counted = one.of == "investigations"
        rows.append(
            (
                one.name,
                thousands(one.expected) if counted else "",
                thousands(one.most) if counted and one.most is not None else "",
                thousands(one.calls),
                tokens(one.tokens),
                usd(one.usd),
            )
        )
    return rows


def _against_caps(plan: Plan) -> tuple[str, ...]:
    if plan.max_usd is not None and plan.usd is not None and plan.usd > plan.max_usd:
        return ("EXPECTED TO REACH ITS CAP before its end; what was measured until then is kept",)
    if plan.most is None or plan.most == plan.investigations:
        return ()
    return ("'at most' is what the settings allow in the worst course, with no cap in the way",)


def _listed(name: str, lines: Sequence[str]) -> str:
    return "\n".join(
        textwrap.fill(
            f"{name if number == 0 else '':<10} {line}", _WIDTH, subsequent_indent=" " * 11
        )
        if len(name) <= 10
        else textwrap.fill(f"{name}: {line}", _WIDTH, subsequent_indent="  ")
        for number, line in enumerate(lines)
    )


def _wrap(text: str) -> str:
    return textwrap.fill(text, _WIDTH)
