"""A project with a proposal of three edits, with all that a job would leave beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.trace.conftest import case, played, project_in

from heldout.behaviour import BehaviourReport, Counts, Line, UnitReport, invariance
from heldout.behaviour.ablation import LineEffect
from heldout.behaviour.closed_book import reading
from heldout.brain import Brain, write_brain
from heldout.edit import Edit, Op, apply_edits, diff, diff_hash
from heldout.review.web import Open, open_desk
from heldout.settings import Settings
from heldout.store import Ledger, remember_brain

MODEL = "openai/gpt-x@low"
OVERLAY = "overlays/models/openai-gpt-x-low/method.md"
METHOD = """# Method

1. Read the alert: what fails, for whom, since when.
2. Follow the graph from the failing service to what it depends on.
3. Look at the changes of the day of the incident.
4. Read the diff of a change before you name it.
5. Say which evidence speaks for the cause, and which against it.
"""
BEFORE = Brain(files={"method.md": METHOD}, load=("method.md",))


def edit(*lines: str, **said: str) -> Edit:
    """An edit that appends lines to the model's overlay."""
    return Edit((Op(OVERLAY, "append", text="\n".join(lines)),), **{"reason": "because", **said})


EDITS = (
    edit(
        "- When you have found the misconfigured value, ask when it became what it is.",
        "- Search the changes of at least 14 days before the alert for the one that set it.",
        reason="9 of 12 failures stop at the mechanism and never ask what changed the value.",
        cluster="stops at the mechanism",
        expected_effect="It asks for the history of the failing value and searches two weeks of "
        "changes instead of the incident's day.",
        feared_harm="An old change is blamed where the one at onset did it.",
    ),
    edit(
        "- Compare a failing instance with a healthy sibling before you explain the failure.",
        reason="5 of 6 failures hit part of the fleet and nobody compared.",
        cluster="part of the fleet",
        expected_effect="It calls compare_state on one failing and one healthy instance.",
        feared_harm="One more call where all instances fail.",
    ),
    edit(
        "- A change near the onset is a suspect, no proof: check that its diff touches the "
        "mechanism.",
        "- Name what would have to be true if another change were the cause.",
        reason="The decoy at onset was believed in 4 of 7 failures.",
        cluster="believes the decoy",
        expected_effect="It reads the diff of the change at onset before it blames it.",
        feared_harm="",
    ),
)


def effect(text: str, verdict: Any = "several", lost: int = 5, leaning: int = 3) -> LineEffect:
    """What dropping a line did."""
    return LineEffect(Line(OVERLAY, 3, text), verdict, 6, lost, 0, 0.03, leaning, 5)


def unit(one: Edit, *effects: LineEffect, renamed: int = 6, needed: int = 5) -> UnitReport:
    """What was probed of an edit: its lines all needed unless ``effects`` say otherwise."""
    lines = effects or tuple(effect(text) for text in one.added_lines())
    kept = invariance(Counts(6, 6), Counts(renamed, 6), 6)
    return UnitReport(one.id, lines, kept, needed, 6)


def probes(*units: UnitReport, rose: int = 0, renamed: int = 6, **more: Any) -> dict[str, Any]:
    """The behaviour report as stored."""
    pairs = {f"i{n}": [(False, n < rose)] for n in range(12)}
    told = reading(pairs, certain=0, look=3, looks=3)
    kept = invariance(Counts(6, 6), Counts(renamed, 6), 6)
    return BehaviourReport(told, kept, units, **more).plain()


def counts(fixed: int, broken: int, of: int) -> dict[str, int]:
    """An effect as stored; incidents are counted like pairs."""
    return {
        "pairs": of, "fixed": fixed, "broken": broken, "incidents": of,
        "fixed_incidents": fixed, "broken_incidents": broken,
    }  # fmt: skip


def evidence(**changed: Any) -> dict[str, Any]:
    """What a confirmation leaves."""
    return {
        "confirmed": True,
        "simulated": False,
        "traps": counts(9, 1, 16),
        "controls": counts(0, 0, 8),
        "behaviour": probes(*(unit(one) for one in EDITS)),
        "size": {
            "lines_before": 41, "lines_after": 46,
            "characters_before": 2900, "characters_after": 3310,
        },
        "cost": {
            "before": {"tokens": 31_200.0, "calls": 9.1, "usd": 0.0312, "seconds": 41.0},
            "after": {"tokens": 33_700.0, "calls": 9.9, "usd": 0.0337, "seconds": 44.0},
        },
        "trace_pair": None,
        **changed,
    }  # fmt: skip


def stored(one: Edit, **changed: Any) -> dict[str, Any]:
    """An edit as it stands in a proposal."""
    return {
        "edit": one.plain(),
        "target": counts(9, 0, 12),
        "regression": counts(0, 0, 12),
        "behaviour": unit(one).plain(),
        **changed,
    }


def propose(
    ledger: Ledger,
    edits: tuple[Edit, ...] = EDITS,
    *,
    beside: Any = None,
    name: str = "p-0123456789ab",
    before: Brain = BEFORE,
    **changed: Any,
) -> str:
    """Store a proposal; ``changed`` replaces parts of its evidence."""
    after = apply_edits(before, edits)
    kept = [stored(one) for one in edits] if beside is None else beside
    return _store(ledger, name, before, after, kept, evidence(**changed))


def propose_brain(ledger: Ledger, after: Brain, *, name: str = "p-amended", **changed: Any) -> str:
    """Store a proposal that is no list of edits, as an amendment leaves it."""
    return _store(ledger, name, BEFORE, after, [], evidence(**changed))


def _store(
    ledger: Ledger, name: str, before: Brain, after: Brain, edits: Any, found: dict[str, Any]
) -> str:
    for one in (before, after):
        remember_brain(ledger, one)
    row = {
        "proposal": name, "job": "tune-1", "model": MODEL, "set": "small",
        "before_hash": before.hash, "after_hash": after.hash, "diff": diff(before, after),
        "diff_hash": diff_hash(before, after), "edits_json": edits, "evidence_json": found,
    }  # fmt: skip
    ledger.append("proposals", [row])
    ledger.flush()
    return name


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A project with the brain before and no ledger yet."""
    made = project_in(tmp_path)
    write_brain(BEFORE, made.brain)
    return made


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    """The project's ledger, open."""
    with Ledger.open(settings.ledger) as opened:
        yield opened


@pytest.fixture
def proposed(settings: Settings) -> str:
    """A proposal, and the two investigations of the incident that it fixed, played for real."""
    with Ledger.open(settings.ledger) as ledger:
        run = played(ledger, settings, [case(settings, "inc-one")])
        pair = {
            "run": run, "incident": "inc-one", "repeat": 0, "step": 1,
            "before_attempt": 0, "after_attempt": 0,
        }  # fmt: skip
        return propose(ledger, trace_pair=pair)


@pytest.fixture
def served(settings: Settings) -> Iterator[Open]:
    """The page on a port of its own, answered by a thread."""
    opened = open_desk(settings, name="kim")
    thread = threading.Thread(target=opened.serve, daemon=True)
    thread.start()
    yield opened
    opened.server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()
