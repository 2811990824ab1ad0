"""How the simulated agents work where code is to be mended: what they can, they can from the tools.

They read alerts, logs and commits, and look as far back as in any investigation. Who looks back
beyond the day sees that the schema was changed, tries to take that back with its rows, and runs the
tests again. They write no code, so that most defects stay beyond them whatever a brain says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.llm.simulated.desk import DAY, Desk, Steps
from heldout.llm.simulated.transcript import Transcript

TELLING = "edit_lines"
"""A tool by which such an environment is known."""
_OLDEST = 5
"""Migrations that every code base begins with."""
_SUITE = "integration"


def mend(desk: Desk, transcript: Transcript) -> Steps[None]:
    """The whole episode; the report stands on the desk when it ends."""
    yield from desk.read_skills(transcript)
    fired = (yield from desk.ask("list_alerts", "See what fires.")).rows
    service = str(fired[0].get("service") or "") if fired else ""
    if service:
        told = yield from desk.ask("read_logs", f"Read what {service} says.", service=service)
        lines = told.rows
        desk.cite(*(str(one.get("id")) for one in lines[:2]))
    desk.cite(*(str(one.get("id")) for one in fired[:2]))
    commits = (yield from desk.ask("git_log", "See what was changed.", limit=30)).rows
    far = desk.mind.does("window")
    suspect = _suspect(commits, far=far)
    desk.report = {
        "service": service or "shared",
        "file": _first(suspect.get("files")) or "unknown",
        "symbol": "unknown",
        "mechanism": "wrong_default",
        "introduced_by": str(suspect.get("commit") or ""),
        "evidence": desk.evidence[:6],
        "summary": "What was found stands in the fields above.",
    }
    if far:
        yield from _take_back(desk, commits)


def _suspect(commits: Sequence[Mapping[str, Any]], *, far: bool) -> Mapping[str, Any]:
    """The newest commit for who looks at the day alone, else the newest that changed the schema."""
    if not commits:
        return {}
    if not far:
        return commits[0]
    schema = [one for one in commits if _schema(one)]
    newest = float(commits[0].get("at") or 0)
    before = [one for one in commits if float(one.get("at") or 0) < newest - DAY]
    return (schema or before or commits)[0]


def _schema(commit: Mapping[str, Any]) -> bool:
    return "migration" in _first(commit.get("files"))


def _take_back(desk: Desk, commits: Sequence[Mapping[str, Any]]) -> Steps[None]:
    """Take back the newest migration where one is younger than the code base, rows included."""
    said = yield from desk.ask("list_migrations", "See how the schema came to be.")
    names = [str(one.get("name")) for one in said.rows]
    if len(names) <= _OLDEST:
        return
    newest = names[-1]
    done = yield from desk.ask(
        "rollback_migration", "Take the newest back.", migration=newest, restore=True
    )
    if done.error:
        return
    yield from desk.ask("run_tests", "See whether that mends it.", suite=_SUITE)
    desk.report |= {
        "file": f"migrations/{newest}.sql",
        "symbol": newest.partition("_")[2],
        "mechanism": "cascading_delete",
        "introduced_by": next((str(one.get("commit")) for one in commits if _schema(one)), ""),
    }


def _first(value: Any) -> str:
    return str(value[0]) if isinstance(value, list) and value else ""
