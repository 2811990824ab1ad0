"""Values that everybody uses tell a cause only where the name of their field stands beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.gate.conftest import METHOD, STORIES, brain_of, write_project

import heldout.split as split_module
from heldout.gate.engine import Engine

VALUE = "incident-value"
Refuses = Callable[[str], bool]


@pytest.fixture(scope="module")
def refuses(tmp_path_factory: pytest.TempPathFactory) -> Refuses:
    """Whether a line is refused for a value; the causes set a TTL, a version and a thread count."""
    changes = (
        ("data.ttl_s", '"600"', '"120"'),
        ("data.version", '"3"', '"4"'),
        ("data.workerThreadCount", '"12"', '"3"'),
    )
    stories = [
        replace(STORIES[0], id=f"inc-0000000{at}", key=key, old=old, new=new)
        for at, (key, old, new) in enumerate(changes)
    ]
    settings = write_project(tmp_path_factory.mktemp("values") / "project", stories)
    patch = pytest.MonkeyPatch()
    patch.setattr(split_module, "_role", "gate")
    engine = Engine(settings)
    patch.undo()
    before = brain_of(METHOD)

    def refused(text: str) -> bool:
        after = before.with_file("method.md", f"{METHOD}{text}\n")
        return any(one.rule == VALUE for one in engine.check(before, after).rejects)

    return refused


@pytest.mark.parametrize(
    "text",
    [
        "- Look for a ttl of 120 seconds.",
        "- Look for a ttl s of 120.",
        "- Often a TTL of two minutes is behind it.",
        "- Look for `version: 4` in its file.",
        '- Ask for "version" = "4" there.',
        "- Where worker thread count is 3, look twice.",
        "- Where the worker thread count went down to three, look twice.",
        "- A workerthreadcount of 3 is rare.",
        "- `workerThreadCount=3` is rare.",
    ],
)
def test_a_common_value_beside_its_key_is_refused(refuses: Refuses, text: str) -> None:
    """In its own unit or another, in words, as an assignment, or with the key glued together."""
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    [
        "- Wait 120 seconds and look again.",
        "- A cache keeps what it has for two minutes or longer.",
        "- Look at the ttl of 300 seconds.",
        "- Read version 4 of the page as well as its second version.",
        "- Look at three of the worker nodes and count what each thread does.",
        "- Try it 3 times.",
        "- A time of 4: that is late.",
    ],
)
def test_the_same_numbers_without_their_key_pass(refuses: Refuses, text: str) -> None:
    """Two minutes, three workers and a fourth version are anybody's."""
    assert not refuses(text)
