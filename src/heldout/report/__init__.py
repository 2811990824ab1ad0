"""What people read: one self-contained HTML page, and the same as text."""

from heldout.report.data import (
    EditView,
    EffectView,
    HalfRow,
    OpView,
    ProposalView,
    ReportData,
    Stage,
    TrainPoint,
    Tuning,
)
from heldout.report.gather import gather
from heldout.report.page import render_html, save, write_report
from heldout.report.text import render_text
from heldout.terminal import visible

__all__ = [
    "EditView",
    "EffectView",
    "HalfRow",
    "OpView",
    "ProposalView",
    "ReportData",
    "Stage",
    "TrainPoint",
    "Tuning",
    "gather",
    "render_html",
    "render_text",
    "save",
    "visible",
    "write_report",
]
