"""Test-side material opens only to the processes that score, gate, build or take in."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from heldout.errors import SpecError, SplitViolation
from heldout.split import Split, read_specs, read_split, write_split
from heldout.truth import Spec, write_spec

CODE = """
import sys
from pathlib import Path
from heldout.errors import SplitViolation
from heldout.split import HeldoutAccess, declare_process, read_specs
role = sys.argv[2]
if role != "none":
    declare_process(role)
try:
    specs = read_specs(Path(sys.argv[1]), "test", HeldoutAccess())
    print("opened", len(specs))
except SplitViolation as error:
    print("refused", error)
try:
    declare_process("score" if role != "score" else "tune")
    print("redeclared")
except SplitViolation:
    print("role is fixed")
"""


def spec(name: str) -> Spec:
    """A small spec."""
    return Spec(
        id=name, kind="trap", domain="d", family="f", fault="x", traps=("latent_cause",),
        group="g", generator="1", seed=1, canary="0123456789abcdef",
    )  # fmt: skip


@pytest.fixture
def a_set(tmp_path: Path) -> Path:
    """A set with one incident on each side."""
    for name in ("inc-aaaa", "inc-bbbb"):
        write_spec(spec(name), tmp_path / "specs" / f"{name}.toml")
    write_split(Split("tiny", ("inc-aaaa",), ("inc-bbbb",)), tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("role", "opens"),
    [
        ("score", True), ("gate", True), ("build", True), ("intake", True),
        ("tune", False), ("propose", False), ("run", False), ("none", False),
    ],
)  # fmt: skip
def test_who_may_open_the_test_side(a_set: Path, role: str, opens: bool):
    """Score, gate, build and intake can open it; tune, propose and a train run cannot."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(a_set), role], capture_output=True, text=True, check=True
    )
    assert ("opened 1" in done.stdout) is opens
    if role != "none":
        assert "role is fixed" in done.stdout


def test_train_side_needs_no_key(a_set: Path):
    """The train half opens to everyone, and the test half to no call without a key."""
    assert [s.id for s in read_specs(a_set, "train")] == ["inc-aaaa"]
    with pytest.raises(SplitViolation):
        read_specs(a_set, "test")


def test_a_moved_incident_breaks_the_lock(a_set: Path):
    """Editing the frozen split by hand is noticed."""
    path = a_set / "split.toml"
    path.write_text(path.read_text().replace("inc-bbbb", "inc-cccc"))
    with pytest.raises(SpecError, match="altered"):
        read_split(a_set)


def test_an_incident_on_both_sides_is_refused(tmp_path: Path):
    """One incident cannot be tuned on and scored."""
    write_split(Split("tiny", ("inc-aaaa",), ("inc-aaaa",)), tmp_path)
    with pytest.raises(SpecError, match="both sides"):
        read_split(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id = [", "not TOML"),
        ('id = "inc-aaaa"', "kind"),
        ("", "id"),
    ],
)
def test_a_malformed_spec_names_its_field(a_set: Path, text: str, message: str):
    """A malformed spec is one sentence with the file and the field."""
    (a_set / "specs" / "inc-aaaa.toml").write_text(text)
    with pytest.raises(SpecError, match=message):
        read_specs(a_set, "train")


def test_a_retired_set_says_so_and_keeps_its_lock(a_set: Path):
    """Retiring a set changes neither side, so its lock holds; other words than true are refused."""
    split = read_split(a_set)
    write_split(replace(split, retired=True), a_set)
    again = read_split(a_set)
    assert (again.retired, again.lock()) == (True, split.lock())
    path = a_set / "split.toml"
    path.write_text(path.read_text().replace("retired = true", 'retired = "yes"'))
    with pytest.raises(SpecError, match="retired"):
        read_split(a_set)
