"""The notebook: what stands in it within its budget, and which ids an answer may hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.toy import LIMITS, Toy, ToySession, play_in, says, step

from heldout.agent import mode_of
from heldout.agent.modes.notebook import CHARACTERS_PER_TOKEN, Notebook, NotebookOptions
from heldout.agent.prompt import NOTEBOOK_EMPTY
from heldout.agent.shortening import cut, shortened, slim
from heldout.agent.shown import REFUSALS, Shown
from heldout.agent.trace import Step
from heldout.interface import ToolAnswer
from heldout.run.records import long_texts, trace_plain


def rows(count: int, size: int = 40) -> str:
    """An answer with so many rows, each with an id and a text."""
    found = [{"id": f"e-{number:08x}", "name": "n" * size} for number in range(count)]
    return json.dumps({"rows": found, "next": "more"}, separators=(",", ":"))


def made(number: int, answer: str, *, error: bool = False, tool: str = "look", **args: Any) -> Step:
    """A step of an investigation."""
    return Step(number, tool, args or {"q": number}, answer, error)


def page(*steps: Step, tokens: int = 2_000, thought: str = "why") -> str:
    """The page after these steps."""
    notebook = Notebook(NotebookOptions(tokens=tokens))
    for one in steps:
        notebook.add(one, thought)
    return notebook.page(30 - len(steps), 30)


def test_everything_stands_whole_while_it_fits():
    """Calls with arguments, thoughts, answers and what is left, in order; a page only grows."""
    first, second = made(0, rows(3)), made(1, rows(2))
    text = page(first, second)
    assert f'1. look {{"q": 0}}\nthought: why\nanswer: {first.answer}' in text
    assert text.index(first.answer) < text.index(second.answer)
    assert text.endswith("\n\nCalls left: 28 of 30. Reply with the next step, one JSON object.")
    assert text.startswith(page(first).rpartition("\n\nCalls left")[0])
    assert NOTEBOOK_EMPTY in page()


def test_the_oldest_are_shortened_first_and_no_more_than_needed():
    """The newest answer stays whole; older ones lose rows, then stand as stubs, then are gone."""
    steps = [made(number, rows(40)) for number in range(12)]
    for tokens, whole in ((20_000, 12), (4_000, 1)):
        text = page(*steps, tokens=tokens)
        assert text.count(steps[0].answer) == whole
        assert f"answer: {steps[-1].answer}" in text
        assert len(text) <= tokens * CHARACTERS_PER_TOKEN
    some = page(*steps, tokens=10_000)
    kept = [f'{number + 1}. look {{"q": {number}}}\nthought: why\nanswer: {one.answer}' in some
            for number, one in enumerate(steps)]  # fmt: skip
    assert kept == sorted(kept)
    assert any(kept[:-1])
    assert not kept[0]
    assert '"rows_cut":' in some
    least = page(*steps, tokens=1_400)
    assert "(left out: " in least
    assert "older steps left out)" in page(*steps, tokens=1_200)


def test_ids_that_the_page_no_longer_shows_are_listed():
    """What can still be cited is named, the newest first and a bounded number of them."""
    old = Step(0, "look", {"q": 1}, rows(100), False, tuple(f"e-{n:08x}" for n in range(100)))
    text = page(old, made(1, rows(60)), tokens=1_500)
    line = next(one for one in text.splitlines() if one.startswith("Other ids"))
    assert 1 <= line.count("e-") <= 40
    assert "e-00000063" in line


def test_a_call_made_again_stands_once():
    """Where it was made first, so the page only grows at its end; the end says that it stands."""
    again = Step(2, "look", {"q": 0}, '{"error":{"type":"repeated_call"}}', True)
    text = page(made(0, rows(3)), made(1, rows(2)), again)
    assert text.count('look {"q": 0}') == 1
    assert text.index('look {"q": 0}') < text.index('look {"q": 1}')
    assert rows(3) in text
    assert "repeated_call" not in text
    assert "as step 1: its answer stands there" in text
    assert text.endswith("Call another tool now.")
    assert text.startswith(page(made(0, rows(3)), made(1, rows(2))).rpartition("\n\nCalls left")[0])


def test_what_an_error_said_outlives_the_refusal_to_repeat_it():
    """The near names that it gave are what leads out of the circle."""
    error = Step(0, "look", {"q": 0}, '{"error":{"type":"unknown_id","near":["e-1"]}}', True)
    again = Step(1, "look", {"q": 0}, '{"error":{"type":"repeated_call"}}', True)
    text = page(error, again)
    assert '"near":["e-1"]' in text
    assert "repeated_call" not in text


def test_what_succeeds_the_second_time_replaces_the_error():
    """A source that was down for a moment has answered."""
    text = page(
        Step(0, "look", {"q": 0}, '{"error":{"type":"timeout"}}', True), made(1, rows(2), q=0)
    )
    assert rows(2) in text
    assert "timeout" not in text
    assert "Call another tool now." not in text


def test_what_says_nothing_in_an_answer_is_not_written():
    """No cursor, no gaps; but that there are no rows says something, and so does an error."""
    nothing = {"cursor": None, "truncated": False, "data_gaps": [], "window_used": None}
    found = json.loads(rows(1))["rows"]
    assert slim(json.dumps({"rows": found, "total_estimate": 1, **nothing})) == json.dumps(
        {"rows": found, "total_estimate": 1}, separators=(",", ":")
    )
    assert slim(json.dumps({"rows": [], "total_estimate": 0, **nothing})) == (
        '{"rows":[],"total_estimate":0}'
    )
    for other in ('{"error": {"near": []}}', "no JSON", "[1]", rows(2)):
        assert slim(other) == other


@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 300), st.booleans(), st.text(max_size=300)),
        max_size=14,
    ),
    st.integers(300, 6_000),
)
@settings(max_examples=60, deadline=None)
def test_a_page_never_outgrows_its_budget(given_steps: Any, tokens: int):
    """Whatever was answered and thought."""
    steps = [
        made(number, rows(count, size) if not error else "x" * count * size, error=error, q=text)
        for number, (count, size, error, text) in enumerate(given_steps)
    ]
    assert len(page(*steps, tokens=tokens, thought="y" * 999)) <= tokens * CHARACTERS_PER_TOKEN


@given(st.text(max_size=2_000), st.integers(0, 500))
@settings(max_examples=60, deadline=None)
def test_a_cut_text_is_short_enough(text: str, limit: int):
    """Never longer than asked for, and untouched where it fits."""
    assert len(cut(text, limit)) <= limit
    assert cut(text, len(text)) == text
    assert len(shortened(text, limit)) <= limit


def test_a_shortened_answer_is_still_json():
    """Rows go from the end, long values are cut, and the answer says how many rows are missing."""
    answer = json.loads(shortened(rows(50, 400), 2_000))
    assert answer["rows"][0]["id"] == "e-00000000"
    assert len(answer["rows"]) + answer["rows_cut"] == 50
    assert "characters cut" in answer["rows"][0]["name"]
    assert answer["next"] == "more"


def test_what_counts_as_shown():
    """Ids of alert and answers, words of them, ids with a name around them, 'none'."""
    shown = Shown("# Latency\nService: mirlo")
    shown.add('{"rows":[{"id":"e-0000000a"},{"id":"c-0000000b"}]}')
    for known in ("e-0000000a", "e-0000000a (mirlo)", "mirlo", "none", "", "None"):
        assert shown.unknown({"root_cause_entity": known}) == ""
    for unknown in ("e-0000000b", "e-0000000a and e-0000000c", "payments", "e-0000000"):
        assert shown.unknown({"root_cause_entity": unknown}) == unknown
    assert shown.unknown({"evidence_ids": ["c-0000000b", "c-0badbad0"]}) == "c-0badbad0"
    assert shown.unknown({"mechanism": "e-0badbad0", "affected": ["x"]}) == ""
    assert shown.unknown({"root_cause_entity": 3, "evidence_ids": None}) == ""
    assert shown.near("c-0000000c") == ("c-0000000b",)


def test_an_error_that_repeats_an_id_shows_nothing():
    """Asking for an invented id does not make it a shown one; the ids that the error offers are."""
    shown = Shown("")
    shown.add('{"error":{"message":"no e-0badbad0"}}', ("e-0000000a",), is_error=True)
    assert shown.unknown({"root_cause_entity": "e-0badbad0"})
    assert not shown.unknown({"root_cause_entity": "e-0000000a"})


def answer_with(entity: str) -> Any:
    """A reply that submits one entity."""
    return says(step("submit_diagnosis", mechanism="m", root_cause_entity=entity))


LOOK = says(step("look", q="x", ids="e-0000000a"))


def test_an_id_that_was_never_shown_is_refused_with_near_ones():
    """The refusal is a typed error; a shown id is then accepted."""
    trace, model = play_in(
        mode_of("notebook"), LOOK, answer_with("e-0000000b"), answer_with("e-0000000a")
    )
    assert trace.stop_reason == "submitted"
    error = json.loads(trace.steps[1].answer)["error"]
    assert (error["type"], error["near"][0]) == ("never_shown", "e-0000000a")
    assert error["message"].startswith("e-0000000b: ")
    assert "never_shown" in model.asked[2].messages[1]["content"]
    assert trace.counts == {"unshown": 1}


def test_calls_made_again_take_their_tools_away_until_a_new_one():
    """Where the schema binds, a small model cannot go round in the same calls for ever."""
    skill = says(step("read_skill", name="fleet"))
    new = says(step("look", q="new"))
    trace, model = play_in(mode_of("notebook"), LOOK, skill, LOOK, skill, new, answer_with("none"))
    offered = [one.response_schema["properties"]["tool"]["enum"] for one in model.asked]
    everything = offered[0]
    assert offered[3] == [one for one in everything if one != "look"]
    assert offered[4] == [one for one in everything if one not in ("look", "read_skill")]
    assert [len(offered[at]) for at in (1, 2, 5)] == [len(everything)] * 3
    assert all("submit_diagnosis" in tools for tools in offered)
    assert model.asked[4].messages[1]["content"].endswith("Call another tool now.")
    assert trace.stop_reason == "submitted"


def test_an_answer_that_is_insisted_on_is_taken():
    """After three refusals the fourth is accepted, also word for word: an honest wrong answer."""
    trace, model = play_in(mode_of("notebook"), LOOK, answer_with("e-0000000b"))
    assert (trace.stop_reason, len(model.asked)) == ("submitted", 2 + REFUSALS)
    assert trace.submission.root_cause_entity == "e-0000000b"
    assert trace.counts == {"unshown": REFUSALS}


@pytest.mark.parametrize("name", ["tools", "json"])
def test_other_modes_take_every_id(name: str):
    """Only the notebook, which shortens what was shown, guards against made-up ids."""
    args = {"mechanism": "m", "root_cause_entity": "e-0000000b"}
    reply = (
        answer_with("e-0000000b")
        if name == "json"
        else says("", ("submit_diagnosis", json.dumps(args)))
    )
    trace, _ = play_in(mode_of(name), reply)
    assert (trace.stop_reason, trace.counts) == ("submitted", {})


class Wordy(Toy):
    """An environment whose answers are long."""

    def open(self, task_ref: str, seed: int) -> ToySession:
        """A session with pages of rows."""
        session = super().open(task_ref, seed)
        plain = session.call

        def call(tool: str, args: Any) -> ToolAnswer:
            answer = plain(tool, args)
            return answer if answer.final else ToolAnswer(rows(60), shown_ids=("e-00000001",))

        session.call = call  # type: ignore[method-assign]
        return session


def test_requests_stay_bounded_however_long_it_goes_on():
    """A notebook's request does not grow with the number of steps, as a chat's does."""
    lines = [says(step("look", q=str(number))) for number in range(25)]
    sizes = {}
    for name, mode in (
        ("notebook", mode_of("notebook", NotebookOptions(tokens=3_000))),
        ("json", mode_of("json")),
    ):
        _, model = play_in(mode, *lines, answer_with("none"), toy=Wordy(), limits=LIMITS)
        sizes[name] = len(json.dumps(list(model.asked[-1].messages)))
    assert sizes["notebook"] < 15_000
    assert sizes["json"] > 90_000


def stored(steps: int) -> tuple[int, int]:
    """Characters of a notebook's trace as it is kept, and of everything that was asked."""
    lines = [says(step("look", q=str(number))) for number in range(steps)]
    trace, model = play_in(mode_of("notebook"), *lines, answer_with("none"), toy=Wordy())
    record = {"trace": trace_plain(trace), "reason": "", "detail": ""}
    texts = {text: len(text) for text in long_texts(record)}
    rest = json.dumps(record["trace"])
    for text in texts:
        rest = rest.replace(json.dumps(text), "")
    asked = sum(len(json.dumps(list(request.messages))) for request in model.asked)
    return len(rest) + sum(texts.values()), asked


def test_a_trace_grows_with_its_steps_not_with_their_square():
    """Each answer is kept once, however often it stood in a notebook."""
    small, large = stored(7), stored(14)
    assert large[0] < 2.2 * small[0]
    assert large[1] > 3 * small[1]
