"""Snapshots and edits: what lands, what is refused, and that nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import EditError
from heldout.repair.codebase import editable, healthy
from heldout.repair.tree import MAX_FILE_BYTES, LineEdit, Tree, Workspace

CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


def space() -> Workspace:
    """A small tree in which one file may be edited."""
    return Workspace(Tree({"a.py": CODE, "b.sql": "select 1;\n"}), frozenset({"a.py"}))


def test_an_edit_lands_on_the_lines_it_names():
    """Replace, insert and delete change exactly the lines given, and the diff says so."""
    work = space()
    work.apply(LineEdit("a.py", "replace", 2, 2, "    return 7", "    return 1"))
    work.apply(LineEdit("a.py", "insert", 1, 0, "# first"))
    work.apply(LineEdit("a.py", "delete", 4, 4, "", ""))
    assert (
        work.tree.text("a.py") == "# first\ndef one():\n    return 7\n\ndef two():\n    return 2\n"
    )
    assert {"-    return 1", "+    return 7", "+# first"} <= set(work.diff().splitlines())
    assert [entry.number for entry in work.journal] == [1, 2, 3]
    work.undo()
    work.undo()
    work.undo()
    assert work.tree.digest == work.base.digest


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (LineEdit("a.py", "replace", 2, 2, "    return 7", "    return 9"), "read: '    return 1'"),
        (LineEdit("a.py", "replace", 2, 9, "x", "y"), "the file has 6"),
        (LineEdit("a.py", "replace", 2, 2, "return (", "    return 1"), "would not compile"),
        (LineEdit("b.sql", "replace", 1, 1, "drop", "select 1;"), "read-only"),
        (LineEdit("c.py", "insert", 1, 0, "x = 1"), "no such file"),
        (LineEdit("a.py", "insert", 1, 0, "#" * MAX_FILE_BYTES), "larger than"),
        (LineEdit("a.py", "insert", 1, 0, "\0"), "would not compile"),
    ],
)
def test_an_edit_that_does_not_fit_changes_nothing(edit: LineEdit, said: str):
    """A stale, impossible, broken or forbidden edit is refused with what to do instead."""
    work = space()
    with pytest.raises(EditError) as refused:
        work.apply(edit)
    assert said in refused.value.sentence()
    assert work.tree is work.base
    assert work.journal == []
    with pytest.raises(EditError, match="no edit to take back"):
        work.undo()


def test_the_same_bytes_have_the_same_digest():
    """A digest is of paths and texts, in whatever order they were given."""
    one = Tree({"a": "1", "b": "2"})
    assert one.digest == Tree({"b": "2", "a": "1"}).digest
    assert one.digest != Tree({"a": "12", "b": ""}).digest
    assert one.diff(one) == ""


def test_the_code_base_is_what_it_says():
    """Three services of real code and their migrations; code is editable, migrations are not."""
    tree = healthy()
    assert sum(len(text.splitlines()) for text in tree.files.values()) > 600
    assert {"ad_ranking", "capi_pipeline", "whatsapp_sync", "shared", "migrations"} == {
        path.split("/")[0] for path in tree
    }
    assert all(path.endswith(".py") for path in editable(tree))
    assert not [path for path in tree if "test" in path]


lines = st.lists(st.text(st.characters(codec="ascii", exclude_characters="\r\n\x0b\x0c\x1c\x1d\x1e"),
                         max_size=12), max_size=8)  # fmt: skip


@given(before=lines, new=lines, at=st.integers(1, 9), many=st.integers(0, 5))
def test_any_edit_changes_only_its_lines(before: list[str], new: list[str], at: int, many: int):
    """Lines before and after the edited ones are as they were; else the edit is refused."""
    work = Workspace(Tree({"f.txt": "".join(f"{one}\n" for one in before)}), frozenset({"f.txt"}))
    there = before[at - 1 : at + many]
    edit = LineEdit("f.txt", "replace", at, at + many, "\n".join(new), "\n".join(there))
    try:
        work.apply(edit)
    except EditError:
        assert work.tree is work.base
        return
    after = work.tree.text("f.txt").splitlines()
    assert after[: at - 1] == before[: at - 1]
    rest = before[at + many :]
    assert after[len(after) - len(rest) :] == rest
