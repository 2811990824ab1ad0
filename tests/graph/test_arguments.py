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
    ],
)
def test_times_in_usual_forms_are_one_moment(text: str):
    """Zone, offset, blank or none: UTC is meant where none is given."""
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
    )
    assert read["limit"] == 7
    assert read["entity_ids"] == ("e-1", "e-2")
    assert read["types"] == ("deploy",)
    assert read["around"] == ("e-3", 1)
    assert "field" not in read
