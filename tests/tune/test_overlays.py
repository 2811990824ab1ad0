"""Edits of a model's overlay that does not exist yet."""

from __future__ import annotations

import pytest

from heldout.brain import APPEND, Brain
from heldout.edit import Edit, Op, apply_edit, apply_edits, apply_unified_diff, diff
from heldout.errors import EditError

MODEL = "sim/anchored@low"
FILE = "overlays/models/sim-anchored-low/method.md"
BRAIN = Brain({"method.md": "- Base line.\n"}, ("method.md",))


def _append(text: str) -> Edit:
    return Edit((Op(FILE, "append", "", text),), "why")


def test_an_append_to_a_new_overlay_keeps_the_base() -> None:
    """The first edit of an overlay adds to the base file instead of taking its place."""
    after = apply_edit(BRAIN, _append("- New line."))
    assert after.extra[FILE].startswith(APPEND)
    assert after.prompt(MODEL) == "- Base line.\n\n- New line."
    assert after.prompt("sim/other") == "- Base line."


def test_either_of_two_overlay_edits_stands_alone() -> None:
    """A reviewer may accept any one of them; the marker is there once whichever comes first."""
    first, second = _append("- One."), _append("- Two.")
    for edits in ([first], [second], [first, second]):
        after = apply_edits(BRAIN, edits)
        assert after.extra[FILE].count(APPEND) == 1
        assert "- Base line." in after.prompt(MODEL)


def test_a_marker_in_the_text_is_not_doubled() -> None:
    """A proposer that writes the marker itself gets the same overlay."""
    assert apply_edit(BRAIN, _append(f"{APPEND}\n- One.")).extra[FILE].count(APPEND) == 1


def test_the_diff_of_a_new_overlay_applies() -> None:
    """What a reviewer sees as a diff can be applied as one, from a brain without the overlay."""
    after = apply_edit(BRAIN, _append("- New line."))
    assert apply_unified_diff(BRAIN, diff(BRAIN, after)).hash == after.hash


@pytest.mark.parametrize("name", ["overlays/../method.md", "overlays/x.toml", "other.md"])
def test_only_overlays_may_be_new(name: str) -> None:
    """Any other new file, or a way out of the folder, is refused."""
    with pytest.raises(EditError):
        apply_edit(BRAIN, Edit((Op(name, "append", "", "- x"),), ""))
    with pytest.raises(EditError):
        apply_unified_diff(BRAIN, f"--- a/{name}\n+++ b/{name}\n@@ -0,0 +1 @@\n+- x\n")
