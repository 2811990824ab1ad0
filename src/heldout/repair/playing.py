"""Playing episodes as a script would: edits found by their text, and reports that are right.

Oracles, canaries and tests play with these; everything goes through the tools an agent has.
"""

from __future__ import annotations

import json
from typing import Any

from heldout.errors import HeldoutError
from heldout.repair.defect import Change, Repair
from heldout.repair.episode import Episode
from heldout.repair.surface import repair_of


def ask(episode: Episode, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call that must not be refused, as data; one that is, is a :class:`HeldoutError`."""
    text, error, _ = episode.call(tool, arguments)
    if error:
        raise HeldoutError(f"{tool} was refused: {text[:300]}", mend="Call it as its schema says")
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
    """Make a repair's edits and roll back what it rolls back.

    Rows restored without a rollback have no tool: that wrong repair is set on the episode.
    """
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
    return ask(episode, "submit_report", **said(episode, **other))


def said(episode: Episode, **other: Any) -> dict[str, Any]:
    """The right report's fields, or others where ``other`` says."""
    truth = episode.instance.truth
    return {
        "service": truth.service,
        "file": truth.file,
        "symbol": truth.symbol,
        "mechanism": truth.mechanism,
        "introduced_by": episode.history.guilty,
        "affected": list(truth.affected),
        "evidence": sorted(episode.shown)[:5],
        **other,
    }


def oracle(episode: Episode) -> None:
    """Look, repair and report what is true."""
    look(episode)
    repair(episode, episode.instance.template.fix)
    report(episode)
