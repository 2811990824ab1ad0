"""Calls that lead nowhere: what is refused, what is told, what ends an investigation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.agent.toy import Toy, ToySession, look, play_in, says, step, submit

from heldout.agent import mode_of
from heldout.agent.loops import Loops, call_key
from heldout.interface import ToolAnswer

MODES = ("tools", "json", "notebook")


def turns(name: str, calls: str) -> list[Any]:
    """A reply for each letter."""
    return [look(q) if name == "tools" else says(step("look", q=q)) for q in calls]


def end(name: str) -> Any:
    """A reply that submits."""
    return submit("m") if name == "tools" else says(step("submit_diagnosis", mechanism="m"))


def kinds(trace: Any) -> list[str]:
    """The error type of every step."""
    return [json.loads(one.answer).get("error", {}).get("type", "") for one in trace.steps]


@pytest.mark.parametrize("name", MODES)
def test_two_calls_in_turn_are_noticed_and_ended(name: str):
    """The second round of A-B is told, the third such call ends it with a last chance."""
    toy = Toy()
    trace, model = play_in(mode_of(name), *turns(name, "abababab"), toy=toy)
    assert trace.stop_reason == "loop"
    assert kinds(trace) == ["", "", "", "circling", "repeated_call", "repeated_call"]
    assert trace.counts == {"circling": 1, "repeated": 2}
    assert len(toy.sessions[0].calls) == 3
    assert len(model.asked) == 7


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("circle", ["abc", "abcd"])
def test_longer_circles_are_noticed(name: str, circle: str):
    """A model that heeds the word goes on; one that does not is ended."""
    trace, _ = play_in(mode_of(name), *turns(name, circle * 2), *turns(name, "xyz"), end(name))
    assert trace.stop_reason == "submitted"
    assert kinds(trace).count("circling") == 1
    trace, _ = play_in(mode_of(name), *turns(name, circle * 4))
    assert trace.stop_reason == "loop"


@pytest.mark.parametrize("calls", ["abcabd", "aabb", "abcdea", "abacad"])
def test_coming_back_to_something_is_no_circle(calls: str):
    """A call made a second time among others is answered like any other."""
    trace, _ = play_in(mode_of("tools"), *turns("tools", calls), end("tools"))
    assert (trace.stop_reason, trace.counts) == (
        "submitted",
        {} if calls != "abacad" else {"repeated": 1},
    )


class Failing(Toy):
    """An environment that answers ``look`` with an error of the kind that was asked for."""

    def open(self, task_ref: str, seed: int) -> ToySession:
        """A session that fails."""
        session = super().open(task_ref, seed)
        plain = session.call

        def call(tool: str, args: Mapping[str, Any]) -> ToolAnswer:
            kind = str(args.get("kind", ""))
            if not kind:
                return plain(tool, args)
            text = kind if kind == "text" else json.dumps({"error": {"type": kind, "near": []}})
            return ToolAnswer(text, is_error=True)

        session.call = call  # type: ignore[method-assign]
        return session


def failing(kind: str, count: int) -> list[Any]:
    """So many different calls that all fail alike."""
    return [says("", ("look", json.dumps({"kind": kind, "q": n}))) for n in range(count)]


@pytest.mark.parametrize("kind", ["unknown_id", "text"])
def test_the_same_error_over_and_over_is_told_and_ends_it(kind: str):
    """From the third on the model is told, the eighth ends it; the arguments may differ."""
    trace, _ = play_in(mode_of("tools"), *failing(kind, 20), toy=Failing())
    assert (trace.stop_reason, len(trace.steps)) == ("loop", 8)
    assert trace.counts == {"same_error": 6}
    told = [json.loads(one.answer)["error"].get("again") for one in trace.steps[2:]]
    assert told[0] == "the same error 3 times in a row; call it differently, or make another call"


def test_other_errors_and_good_calls_start_the_count_anew():
    """Two of a kind, something else, two of the kind again: nothing is said."""
    lines = [
        *failing("unknown_id", 2),
        look("fine"),
        *failing("bad_argument", 2),
        *failing("unknown_id", 2),
    ]
    trace, _ = play_in(mode_of("tools"), *lines, submit(), toy=Failing())
    assert (trace.stop_reason, trace.counts) == ("submitted", {})


@pytest.mark.parametrize("kind", ["unavailable", "timeout"])
def test_a_source_that_is_down_is_not_the_agents_loop(kind: str):
    """Asking for many things that cannot be had is honest work."""
    trace, _ = play_in(mode_of("tools"), *failing(kind, 12), submit(), toy=Failing())
    assert (trace.stop_reason, trace.counts) == ("submitted", {})


def test_answers_taken_away_may_be_asked_for_again():
    """After room was made the calls start from nothing."""
    loops = Loops()
    key = call_key("look", {"q": 1})
    assert [loops.objection(key) for _ in range(3)] == ["", "", "repeated_call"]
    loops.forget_answers()
    assert loops.objection(key) == ""
    assert call_key("look", {"a": 1, "b": 2}) == call_key("look", {"b": 2, "a": 1})
