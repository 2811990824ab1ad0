"""The report as one HTML file that needs nothing else and runs nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

import heldout
from heldout.compare.text import p_value, percent, points
from heldout.drift import canary_note, canary_rows
from heldout.markup import templates
from heldout.report import rows, suites
from heldout.report.data import ReportData
from heldout.report.figures import cost_figure, course_figure, incidents_figure, rates_figure
from heldout.report.gather import gather
from heldout.report.history import WITHHELD
from heldout.report.over_time.figure import looks_figure
from heldout.report.over_time.text import brain_head, difference, look_notes
from heldout.report.saving import write_page
from heldout.report.transfer import part
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.terminal import visible


def write_report(settings: Settings, ledger: Ledger, name: str = "") -> Path:
    """Write the report of a score, job or proposal (the newest by default) and return its path.

    The file appears whole or not at all.
    """
    return save(gather(ledger, settings, name), settings.reports)


def save(data: ReportData, directory: Path) -> Path:
    """Render and write one report."""
    stem = data.score.score if data.score else (data.tuning.job if data.tuning else "report")
    return write_page(directory / f"{stem}.html", render_html(data))


def render_html(data: ReportData) -> str:
    """The whole page. The same data gives the same bytes."""
    score, tuning = data.score, data.tuning
    figures = {
        "rates": rates_figure(score) if score else "",
        "incidents": incidents_figure(score) if score else "",
        "looks": looks_figure(data.over_time.looks) if data.over_time else "",
        "course": course_figure(tuning) if tuning and len(tuning.course) > 1 else "",
        "cost": cost_figure(tuning, score)
        if tuning and any(s.tokens for s in tuning.stages)
        else "",
    }
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            d=data,
            s=score,
            t=tuning,
            figures={name: Markup(svg) for name, svg in figures.items()},
            worked=rows.worked_rows(score) if score else [],
            withheld=WITHHELD,
            transfer=part(data.transfer),
            version=heldout.__version__,
        )
    )


@cache
def _environment() -> jinja2.Environment:
    return templates(
        Path(__file__).parent / "templates",
        visible=visible,
        p=p_value,
        rate=percent,
        segment=difference,
        canaryrows=canary_rows,
        canarynote=canary_note,
        lookwords=look_notes,
        brainhead=brain_head,
        points=points,
        points_short=rows.points_short,
        pct=rows.percent,
        usd=rows.usd,
        moment=rows.moment,
        duration=rows.duration,
        thousands=rows.thousands,
        tokens=rows.tokens,
        reasons=lambda counts: visible(rows.reasons(counts)),
        exclusions=lambda excluded: visible(rows.exclusions(excluded)),
        kind=rows.kind,
        suitehead=suites.head,
        suitelines=lambda score: [tuple(map(visible, line)) for line in suites.lines(score)],
        suitetitle=lambda score: suites.TITLE,
        suitenote=lambda score: suites.NOTE,
        plain=rows.plain_words,
        refusals=lambda counts: visible(rows.refusals(counts)),
        arms=rows.ordered_arms,
        difflines=lambda text: _shown(rows.diff_lines(text)),
        oplines=lambda ops: _shown(rows.op_lines(ops)),
    )


def _shown(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(kind, visible(text, 500)) for kind, text in lines]
