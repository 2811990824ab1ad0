"""An edit applies exactly where it says, or not at all."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.brain import Brain
from heldout.edit import (
    Edit,
    Op,
    apply_edit,
    apply_unified_diff,
    diff,
    diff_hash,
    edit_from_plain,
    read_patch,
)
from heldout.errors import EditError

BRAIN = Brain(
    files={"method.md": "# Method\nfirst\nsecond\n", "site.md": "ours\n"},
    load=("method.md", "site.md"),
    frozen=("site.md",),
)


def edit(*ops: Op) -> Edit:
    """An edit with nothing but operations."""
    return Edit(ops, reason="because")


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (Op("method.md", "append", text="third"), "# Method\nfirst\nsecond\nthird\n"),
        (Op("method.md", "insert_after", "first", "1b"), "# Method\nfirst\n1b\nsecond\n"),
        (Op("method.md", "replace", "first", "one"), "# Method\none\nsecond\n"),
        (Op("method.md", "delete", " first "), "# Method\nsecond\n"),
    ],
)
def test_each_action(op: Op, expected: str):
    """Append, insert, replace and delete do what their names say."""
    assert apply_edit(BRAIN, edit(op)).files["method.md"] == expected


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (Op("nowhere.md", "append", text="x"), "no file"),
        (Op("site.md", "append", text="x"), "frozen"),
        (Op("method.md", "replace", "absent", "x"), "nowhere"),
        (Op("method.md", "replace", "", "x"), "anchor"),
        (Op("method.md", "append"), "without text"),
        (Op("../method.md", "append", text="x"), "leads out"),
        (Op("overlays/../../x.md", "append", text="x"), "leads out"),
        (Op("overlays/models/m/method.md", "replace", "a", "x"), "has no lines yet"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(op: Op, message: str):
    """A wrong file, a missing anchor or a frozen file is an error, never a guess."""
    with pytest.raises(EditError, match=message):
        apply_edit(BRAIN, edit(op))


def test_an_ambiguous_anchor_is_refused():
    """An anchor that stands twice could mean either place, so neither is touched."""
    twice = BRAIN.with_file("method.md", "a\na\n")
    with pytest.raises(EditError, match="2 times"):
        apply_edit(twice, edit(Op("method.md", "delete", "a")))


def test_a_new_overlay_can_be_appended():
    """Tuning for one model may begin its overlay from nothing."""
    name = "overlays/models/openai-x/method.md"
    after = apply_edit(BRAIN, edit(Op(name, "append", text="<!-- overlay: append -->\nmore")))
    assert "more" in after.prompt("openai/x")
    assert after.hash != BRAIN.hash


def test_unified_diff_round_trip():
    """The diff of two brains, applied to the first, gives the second."""
    after = apply_edit(BRAIN, edit(Op("method.md", "insert_after", "first", "between")))
    again = apply_unified_diff(BRAIN, diff(BRAIN, after))
    assert again.files == after.files


@pytest.mark.parametrize(
    "text", ["", "not a diff", "--- a/method.md\n+++ b/method.md\n@@ -1,1 +1,1 @@\n-zzz\n+y\n"]
)
def test_a_diff_that_does_not_fit_is_refused(text: str):
    """Text that is no diff, or a hunk against another brain, is an error."""
    with pytest.raises(EditError):
        apply_unified_diff(BRAIN, text)


def test_diff_hash_changes_with_either_brain():
    """A reviewer's decision is bound to both sides of the diff."""
    after = apply_edit(BRAIN, edit(Op("method.md", "append", text="x")))
    other = apply_edit(BRAIN, edit(Op("method.md", "append", text="y")))
    assert len({diff_hash(BRAIN, after), diff_hash(BRAIN, other), diff_hash(other, after)}) == 3


def test_patch_file_forms(tmp_path: Path):
    """A patch file is an edit as JSON or a unified diff; anything else is refused."""
    op = {"file": "method.md", "action": "append", "text": "third"}
    (tmp_path / "e.json").write_text(json.dumps({"ops": [op], "reason": "r"}))
    assert "third" in read_patch(tmp_path / "e.json", BRAIN).files["method.md"]
    (tmp_path / "bad.json").write_text('{"ops": [{"file": "method.md"}]}')
    with pytest.raises(EditError, match="action"):
        read_patch(tmp_path / "bad.json", BRAIN)
    (tmp_path / "binary").write_bytes(b"\xff\x00\xfe")
    with pytest.raises(EditError, match="UTF-8"):
        read_patch(tmp_path / "binary", BRAIN)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.dictionaries(st.text(), x)))
def test_arbitrary_data_never_crashes(data: object):
    """A model's answer of any shape is an edit or an EditError."""
    with contextlib.suppress(EditError):
        edit_from_plain(data if isinstance(data, dict) else {"ops": data})  # type: ignore[arg-type]


def test_id_depends_on_what_is_done_not_why():
    """The same operations with another reason are the same edit."""
    op = Op("method.md", "append", text="x")
    assert Edit((op,), "a").id == Edit((op,), "b").id
    assert Edit((op,), "a").id != Edit((Op("method.md", "append", text="y"),), "a").id
