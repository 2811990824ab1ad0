"""Arguments are read strictly where it matters and leniently where a model may vary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heldout.graph import WorldInterface, WorldSession
from heldout.graph.tools.arguments import read_arguments, read_time, read_until
from heldout.graph.tools.catalogue import BY_NAME, TOOLS
from heldout.graph.tools.refusals import Refusal

_LEAF = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=40))
_JSON = st.recursive(
    _LEAF,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def interface() -> WorldInterface:
    """One interface, so that the world is loaded once."""
    return WorldInterface()


@pytest.fixture(scope="module")
def shared_session(interface: WorldInterface, small_dir: Path) -> WorldSession:
    """One session for many examples."""
    return interface.open(str(small_dir), 1)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_json_is_answered(shared_session: WorldSession, data: st.DataObject):
    """Whatever JSON a model sends to a tool for looking, it gets JSON back within the cap."""
    tool = data.draw(st.sampled_from([one for one in TOOLS if one.paged]))
    names = st.sampled_from([argument.name for argument in tool.all_arguments] + ["other"])
    args = data.draw(st.one_of(st.dictionaries(names, _JSON, max_size=6), _JSON))
    answer = shared_session.call(tool.name, args)
    assert ("error" in json.loads(answer.text)) == answer.is_error
    assert len(answer.text.encode()) <= 8192


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    args=st.one_of(
        st.dictionaries(
            st.sampled_from([a.name for a in BY_NAME["submit_diagnosis"].arguments]), _JSON
        ),
        _JSON,
    )
)
def test_any_submission_is_answered(interface: WorldInterface, small_dir: Path, args: Any):
    """A submission of any shape is taken or refused; what is taken can be stored as JSON."""
    session = interface.open(str(small_dir), 1)
    answer = session.call("submit_diagnosis", args)
    taken = session.finish()
    assert answer.final == (taken is not None)
    if taken is not None:
        json.dumps(taken.as_dict()).encode()
    session.close()


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-04T12:00:00Z",
        "2026-03-04T12:00:00+00:00",
        "2026-03-04 12:00:00",
        "2026-03-04T14:00:00+02:00",
        " 2026-03-04T12:00Z ",
        "2026-03-04 12:00:00 UTC",
        1_772_625_600,
        1_772_625_600_000,
    ],
)
def test_times_in_usual_forms_are_one_moment(text: Any):
    """Zone, offset, blank, none or epoch: UTC is meant where none is given."""
    assert read_time("since", text) == 1_772_625_600_000_000


def test_an_end_includes_the_second_or_day_that_it_names():
    """A line shown at 12:00:00 is found by an end of 12:00:00."""
    assert read_until("until", "2026-03-04T12:00:00Z") == 1_772_625_600_999_999
    assert read_until("until", "2026-03-04T12:00:00.250Z") == 1_772_625_600_250_000
    assert read_until("until", "2026-03-04") - read_time("since", "2026-03-04") == 86_399_999_999


@pytest.mark.parametrize(
    "value",
    [
        7,
        None,
        True,
        "",
        "now",
        "2026-99-01",
        "x" * 99,
        ["2026-03-04"],
        "0000-00-00",
        "9999-12-31T23:59:59-23:00",
    ],
)
def test_other_times_are_refused(value: Any):
    """What is no ISO time is a typed error."""
    with pytest.raises(Refusal):
        read_time("since", value)


NOW = 1_772_625_600_000_000


def read(tool: str, **given: Any) -> dict[str, Any]:
    """The arguments of a call as the tool gets them."""
    return read_arguments(tool, BY_NAME[tool].all_arguments, given, now=NOW)


@pytest.mark.parametrize(
    ("text", "back"),
    [("now", 0), ("Now-90m", 5_400), ("-3h", 10_800), ("2 d ago", 172_800), ("now - 1w", 604_800)],
)
def test_times_told_from_the_present(text: str, back: int):
    """What Grafana takes, a model writes: the present is the world's, never the machine's."""
    found = read("list_changes", since=text, until="now")
    assert found["since"] == NOW - back * 1_000_000
    assert found["until"] == NOW + 999_999


@pytest.mark.parametrize("text", ["nowish", "3h", "now-3", "tomorrow", "now+1h"])
def test_other_words_for_a_time_are_refused(text: str):
    """What could be meant in two ways is not guessed."""
    with pytest.raises(Refusal):
        read("list_changes", since=text, until="now")


@pytest.mark.parametrize("nothing", ["", "  ", "null", "None", [], {}, None])
def test_an_optional_argument_that_says_nothing_is_absent(nothing: Any):
    """An empty list of ids means all changes, not none; an empty cursor means the beginning."""
    given = {"since": "2026-03-01", "until": "now", "cursor": nothing, "entity_ids": nothing}
    assert read("list_changes", **given).keys() == {"since", "until"}


def test_a_required_argument_that_is_blank_stays_what_it_is():
    """An empty query matches everything, and an id is asked for."""
    assert read("search_logs", query="")["query"] == ""
    assert read("get_entity", id="")["id"] == ""


def test_more_rows_than_a_page_has_are_a_page():
    """A limit above the largest is the largest; one below the smallest is refused."""
    assert read("search_logs", query="x", limit=500)["limit"] == 50
    with pytest.raises(Refusal):
        read("search_logs", query="x", limit=0)
    with pytest.raises(Refusal):
        read("get_neighbors", id="e-1", depth=9)


def test_lenient_readings():
    """Digits are numbers, one string is a list of one, commas separate, null is absent."""
    tool = BY_NAME["list_changes"]
    base = {"since": "2026-03-01", "until": "2026-03-02"}
    read = read_arguments(
        tool.name,
        tool.all_arguments,
        {
            **base,
            "limit": "7",
            "entity_ids": "e-1, e-2",
            "types": "Deploy",
            "field": None,
            "around": "e-3",
        },
        now=NOW,
    )
    assert read["limit"] == 7
    assert read["entity_ids"] == ("e-1", "e-2")
    assert read["types"] == ("deploy",)
    assert read["around"] == ("e-3", 1)
    assert "field" not in read
