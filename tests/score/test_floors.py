"""Floors: each rule does what it says, through the same tools as the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import SpecError
from heldout.floors import FLOORS, generous_judge, play_floors, points_at_cause, submit
from heldout.floors.bm25 import rank, words
from heldout.floors.rules import Desk
from heldout.interface import Submission, ToolAnswer, ToolSpec
from heldout.truth import Truth

CHANGES = [
    {"id": "c-3", "ts": "2026-03-04T11:59:00Z", "summary": "Scale cart", "fields": ["replicas"],
     "entities": [{"id": "e-3", "name": "cart"}]},
    {"id": "c-2", "ts": "2026-03-04T11:30:00Z", "summary": "Deploy trap-00", "fields": ["image"],
     "entities": [{"id": "e-2", "name": "trap-00"}]},
    {"id": "c-old", "ts": "2026-02-27T09:00:00Z", "summary": "Tidy settings", "fields": ["limit"],
     "entities": [{"id": "e-good", "name": "pool"}]},
]  # fmt: skip


class WorldSession:
    """Three changes, one service, one metric that moved at 11:31, one health finding."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.made: Submission | None = None

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """Answer from the tables above."""
        self.calls.append((tool, args))
        rows: list[dict[str, Any]] = []
        cursor = None
        if tool == "submit_diagnosis":
            named = {k: args[k] for k in ("root_cause_entity", "root_cause_change", "mechanism")}
            self.made = Submission(**named)
        elif tool == "search_entities":
            rows = [
                {"id": "e-9", "name": "trap-00x"},
                {"id": "e-2", "name": args["query"], "kind": "Service"},
            ]
        elif tool == "list_changes":
            first = int(args.get("cursor") or 0)
            page = (
                2 if args.get("limit", 20) >= 50 and "around" not in args else args.get("limit", 20)
            )
            rows = [c for c in CHANGES if args["since"] <= c["ts"] <= args["until"]][
                first : first + page
            ]
            cursor = str(first + page) if first + page < len(CHANGES) else None
        elif tool == "get_change":
            change = next(c for c in CHANGES if c["id"] == args["id"])
            rows = [
                {
                    **change,
                    "diffs": [
                        {
                            "entity": change["entities"][0]["id"],
                            "field": change["fields"][0],
                            "old": 9,
                            "new": 1,
                        }
                    ],
                }
            ]
        elif tool == "query_metrics":
            rows = [{"first_change": "2026-03-04T11:31:00Z"}, {"first_change": None}]
        elif tool == "check_health":
            rows = [
                {
                    "check": "x",
                    "entity": "e-3",
                    "severity": "warning",
                    "finding": "odd",
                    "fields": [],
                },
                {
                    "check": "y",
                    "entity": "e-good",
                    "severity": "critical",
                    "finding": "low",
                    "fields": ["limit"],
                },
            ]
        elif tool == "get_field_history":
            rows = [{"change_id": "c-old"}]
        window = {"until": "2026-03-04T12:00:00Z"}
        return ToolAnswer(json.dumps({"rows": rows, "cursor": cursor, "window_used": window}))

    def finish(self) -> Submission | None:
        """The submission."""
        return self.made

    def close(self) -> None:
        """Nothing is held."""


class World:
    """Opens one session and keeps it."""

    name = "world"

    def __init__(self) -> None:
        self.session = WorldSession()

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """None are needed here."""
        return ()

    def open(self, task_ref: str, seed: int) -> WorldSession:
        """A fresh session."""
        self.session = WorldSession()
        return self.session


@pytest.mark.parametrize(
    ("floor", "entity", "change"),
    [
        ("constant answer", "none", "none"),
        ("newest change", "e-3", "c-3"),
        ("change nearest to onset", "e-2", "c-2"),
        ("health checks only", "e-good", "c-old"),
        ("words of the alert (BM25)", "e-2", "c-2"),
    ],
)
def test_each_rule_names_what_it_says(
    tmp_path: Any, new_case: Any, floor: str, entity: str, change: str
):
    """The five rules on one small world, each with its own answer."""
    made = submit(FLOORS[floor], new_case(tmp_path, "trap-00", "trap"), World())
    assert (made.root_cause_entity, made.root_cause_change) == (entity, change)


def test_floors_are_judged_and_counted_apart(tmp_path: Any, new_case: Any):
    """Only the rule that finds the cause is credited, for traps and controls separately."""
    cases = [new_case(tmp_path, "trap-00", "trap"), new_case(tmp_path, "calm-00", "onset_control")]
    found = {floor.name: floor for floor in play_floors(cases, World(), generous_judge)}
    health = found["health checks only"]
    assert (health.traps_solved, health.traps, health.controls_solved, health.controls) == (
        1,
        1,
        1,
        1,
    )
    assert found["newest change"].traps_solved == 0


def test_an_altered_truth_stops_the_floors(tmp_path: Any, new_case: Any):
    """A truth that no longer has its digest is an error before money is spent, not a failure."""
    case = new_case(tmp_path, "trap-00", "trap")
    case.truth_file.write_text(case.truth_file.read_text().replace("e-good", "e-bad"))
    with pytest.raises(SpecError, match="differs from the digest"):
        play_floors([case], World(), generous_judge)


def test_all_pages_are_ranked(tmp_path: Any, new_case: Any):
    """The ranking rule follows the cursor instead of judging one page."""
    world = World()
    submit(FLOORS["words of the alert (BM25)"], new_case(tmp_path, "trap-00", "trap"), world)
    cursors = [args.get("cursor") for tool, args in world.session.calls if tool == "list_changes"]
    assert cursors == [None, "2"]


def test_bm25_prefers_rare_words_and_short_texts():
    """The textbook behaviour: rarer terms weigh more, longer documents less."""
    scores = rank("scarce plenty", ["scarce a", "plenty b", "plenty c", "plenty scarce"])
    assert max(scores) == scores[3]
    assert scores[0] > scores[1]
    short, long = rank("word", ["word", "word with many others"])
    assert short > long


def test_words_take_identifiers_apart():
    """Case, underscores and dots separate words."""
    assert words("maxConnections pool_size a.b") == ["max", "connections", "pool", "size"]


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=8))
def test_bm25_never_fails_and_never_goes_below_zero(query: str, documents: list[str]):
    """Any text, empty ones included, gets one finite score of at least zero per document."""
    scores = rank(query, documents)
    assert len(scores) == len(documents)
    assert all(0 <= score < 1e6 for score in scores)


@pytest.mark.parametrize(
    ("entities", "named", "right"),
    [((), "none", True), ((), "c-2", False), (("e-2", "none"), "none", True)],
)
def test_where_no_change_is_the_answer_pointing_at_none_is_right(
    entities: tuple[str, ...], named: str, right: bool
):
    """False alarms, recovered trouble and unprovable causes have no accepted change."""
    truth = Truth(
        incident="inc-0a1b2c", culprit_entity="", culprit_change="", culprit_field="",
        accepted_entities=entities, accepted_changes=(), mechanism="", mechanism_terms=(),
        trigger="", affected=(), unaffected=(), chain=(), decoys=(), near_misses=(),
        recommended_fix="", canary="",
    )  # fmt: skip
    said = Submission("none", named, "no change caused this")
    assert points_at_cause(said, truth) is right


def test_an_alert_without_a_time_is_read_at_the_present_of_its_world():
    """The machine's clock is never asked: a floor is the same on every day."""
    assert (
        Desk("Something is wrong", WorldSession()).fired.isoformat() == "2026-03-04T12:00:00+00:00"
    )
    told = Desk("Fired at 2026-03-04T11:40:00Z", WorldSession())
    assert told.fired.isoformat() == "2026-03-04T11:40:00+00:00"
    assert not told.session.calls
