"""Where the text of a draft goes whose place does not exist."""

from __future__ import annotations

import pytest

from heldout.brain import Brain, load_brain
from heldout.edit import Edit, Op, apply_edit
from heldout.errors import EditError
from heldout.propose import apply_draft, placed

MODEL = "local/small"
TARGET = "overlays/models/local-small/method.md"
LINE = "Compare a sick member with a healthy one before you blame a change."


@pytest.fixture
def brain(tmp_path) -> Brain:
    """A brain of one file, without an overlay."""
    (tmp_path / "brain.toml").write_text('load = ["method.md"]\n')
    (tmp_path / "method.md").write_text("# Method\n\n- Read the alert.\n- Answer.\n")
    return load_brain(tmp_path)


def edit(*ops: Op) -> Edit:
    """An edit of these operations."""
    return Edit(ops, "why")


@pytest.mark.parametrize(
    "op",
    [
        Op(TARGET, "insert_after", "", LINE),
        Op(TARGET, "insert_after", "- Read the alert.", LINE),
        Op(TARGET, "replace", "a line that is not there", LINE),
        Op("fleet", "append", "", LINE),
        Op("launch-template", "insert_after", "root volume", LINE),
    ],
)
def test_an_addition_without_a_place_goes_to_the_end_of_the_target(brain: Brain, op: Op):
    """A missing overlay, a file that is none and an anchor that is no line lose no text."""
    with pytest.raises(EditError):
        apply_draft(brain, edit(op), model=MODEL, target="overlay", max_lines=8)
    moved = placed(brain, edit(op), TARGET)
    assert moved.ops == (Op(TARGET, "append", "", LINE),)
    after = apply_draft(brain, moved, model=MODEL, target="overlay", max_lines=8)
    assert after.all_files()[TARGET].splitlines()[-1] == LINE


def test_an_insertion_behind_a_line_that_is_not_there_goes_to_the_end(brain: Brain):
    """Of an overlay with lines too; behind one that is there it stays where it was meant."""
    begun = apply_edit(brain, edit(Op(TARGET, "append", "", "- Look back.")))
    lost, found = Op(TARGET, "insert_after", "-", LINE), Op(TARGET, "insert_after", "- Look back.")
    assert placed(begun, edit(lost), TARGET).ops == (Op(TARGET, "append", "", LINE),)
    assert placed(begun, edit(found), TARGET).ops == (found,)


@pytest.mark.parametrize(
    "op",
    [
        Op("method.md", "replace", "no such line", LINE),
        Op("method.md", "delete", "no such line"),
        Op("no-file", "replace", "no such line", LINE),
        Op("no-file", "delete", "no such line"),
        Op("overlays/models/another/method.md", "append", "", LINE),
        Op("../method.md", "append", "", LINE),
        Op("/etc/passwd", "append", "", LINE),
    ],
)
def test_what_is_no_addition_or_leads_elsewhere_stays_an_error(brain: Brain, op: Op):
    """Nobody guesses which line was meant, and no overlay of another model is taken for one's own."""
    assert placed(brain, edit(op), TARGET).ops == (op,)
    with pytest.raises(EditError):
        apply_draft(brain, edit(op), model=MODEL, target="overlay", max_lines=8)


def test_taking_away_from_a_file_that_is_not_there_takes_nothing(brain: Brain):
    """The rest of such an edit stands; of one that holds nothing else it is said so."""
    kept = placed(brain, edit(Op(TARGET, "delete", "x"), Op(TARGET, "append", "", LINE)), TARGET)
    assert kept.ops == (Op(TARGET, "append", "", LINE),)
    empty = placed(brain, edit(Op(TARGET, "delete", "x")), TARGET)
    with pytest.raises(EditError, match="changes nothing"):
        apply_draft(brain, empty, model=MODEL, target="overlay", max_lines=8)


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (Op(TARGET, "insert_after", "a", LINE), "has no lines yet. Use append"),
        (Op("method.md", "insert_after", " ", LINE), "insert_after without an anchor"),
        (Op("method.md", "replace", "twice", LINE), "found nowhere"),
    ],
)
def test_the_message_says_what_is_wrong_with_a_place(brain: Brain, op: Op, said: str):
    """An overlay to come, an anchor left out and one that is no line are three different things."""
    with pytest.raises(EditError) as caught:
        apply_edit(brain, edit(op))
    assert said in caught.value.sentence()
