"""The report that ends an episode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.repair.report import IncidentReport
from heldout.repair.tools.tool import Arguments, Shown, Tool, ToolRefused

if TYPE_CHECKING:
    from heldout.repair.episode import Episode


class Submit(IncidentReport, Arguments):
    """Arguments of submit_report."""


def _submit(episode: Episode, args: Submit) -> Shown:
    unknown = [one for one in args.evidence if one not in episode.shown]
    if unknown:
        raise ToolRefused("unknown_evidence", "these ids were not shown to you", ids=unknown[:5])
    episode.report = args
    return Shown({"accepted": True}, final=True)


SUBMITTING = (Tool("submit_report", "End the episode with an incident report.", Submit, _submit),)
