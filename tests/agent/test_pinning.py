"""The harness's own words: pinned by a hash, and free of any method."""

from __future__ import annotations

import pytest

from heldout.agent import prompt, prompt_hash

TEXTS = [name for name, value in vars(prompt).items() if name.isupper() and isinstance(value, str)]


@pytest.mark.parametrize("name", TEXTS)
def test_the_harness_says_nothing_of_method(name: str, monkeypatch: pytest.MonkeyPatch):
    """Every fixed text, of every mode, is pinned by a hash and free of advice that a brain gives."""
    before = prompt_hash()
    assert len(before) == 64
    text = getattr(prompt, name).casefold().replace("its answer does not change", "")
    for advice in (
        "change",
        "days",
        "earlier",
        "deploy",
        "sibling",
        "before the incident",
        "config",
    ):
        assert advice not in text
    monkeypatch.setattr(prompt, name, text + " and look at what changed")
    assert prompt_hash() != before


def test_bounds_and_layouts_are_pinned_as_well(monkeypatch: pytest.MonkeyPatch):
    """Another bound of the loops or another layout of the notebook is another harness."""
    before = prompt_hash()
    monkeypatch.setattr("heldout.agent.loops.STOPPING_REPEAT", 9)
    assert prompt_hash() != before
    monkeypatch.undo()
    monkeypatch.setattr("heldout.agent.modes.notebook.Notebook.page", lambda *_: "another page")
    assert prompt_hash() != before
