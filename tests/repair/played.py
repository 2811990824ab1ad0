"""Playing episodes as a script would: edits found by their text, and reports that are right."""

from __future__ import annotations

import json
from typing import Any

from heldout.repair.defect import Change, Repair
from heldout.repair.episode import Episode
from heldout.repair.families import families
from heldout.repair.instance import Instance
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.surface import repair_of

TEMPLATES = {
    template.name: template for family in families().values() for template in family.templates()
}


def opened(name: str, seed: int = 0, *, healthy: bool = False) -> Episode:
    """An episode of a template; whoever opens it closes it."""
    return Episode(Instance(TEMPLATES[name], seed, healthy), Sandbox())


def ask(episode: Episode, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call that must not be refused, as data."""
    text, error, _ = episode.call(tool, arguments)
    assert not error, text
    found: dict[str, Any] = json.loads(text)
    return found


def change(episode: Episode, wanted: Change) -> None:
    """Make a change through the tool, by the lines that it touches."""
    base = episode.workspace.tree.text(wanted.path)
    at = base.index(wanted.old)
    begin = base.rfind("\n", 0, at) + 1
    end = at + len(wanted.old)
    stop = base.find("\n", end - 1)
    stop = len(base) if stop < 0 else stop
    first = base[:begin].count("\n") + 1
    old = base[begin:stop]
    ask(
        episode,
        "edit_lines",
        path=wanted.path,
        first=first,
        last=first + old.count("\n"),
        expected=old,
        text=(base[begin:at] + wanted.new + base[end:stop]).rstrip("\n"),
    )


def repair(episode: Episode, wanted: Repair) -> None:
    """Make a repair's edits and roll back what it rolls back."""
    for one in repair_of(wanted, episode.instance.words).changes:
        change(episode, one)
    if wanted.roll_back:
        ask(episode, "rollback_migration", migration=wanted.roll_back, restore=wanted.restore)
    elif wanted.restore:
        episode.restored = True


def look(episode: Episode) -> None:
    """Look at what a careful engineer looks at, so that there is evidence."""
    truth = episode.instance.truth
    ask(episode, "list_alerts")
    ask(episode, "read_logs", service="whatsapp_sync")
    ask(episode, "query_metrics", service="ad_ranking")
    ask(episode, "git_log")
    ask(episode, "git_blame", path=truth.file)


def report(episode: Episode, **other: Any) -> dict[str, Any]:
    """Submit the right report, or one that differs where ``other`` says."""
    truth = episode.instance.truth
    said = {
        "service": truth.service,
        "file": truth.file,
        "symbol": truth.symbol,
        "mechanism": truth.mechanism,
        "introduced_by": episode.history.guilty,
        "affected": list(truth.affected),
        "evidence": sorted(episode.shown)[:5],
        **other,
    }
    return ask(episode, "submit_report", **said)
