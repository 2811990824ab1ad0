"""What a serving process and a program can open, and that they could without the guard."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from heldout.serve.confine import available, beside

needs_landlock = pytest.mark.skipif(not available(), reason="this kernel has no Landlock")


def opened(script: str, *words: object) -> str:
    """What a process prints that tries to open something."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, *map(str, words)], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout.strip()


SERVING = """
import sys
from pathlib import Path
from heldout.serve.__main__ import _confine
from heldout.serve.sitting import Assignment
if sys.argv[1] == "guarded":
    assert _confine(Assignment(sys.argv[2], "alert"))
for name in sys.argv[3:]:
    try:
        Path(name).read_bytes()
        print("opened")
    except OSError:
        print("refused")
"""


@needs_landlock
def test_a_serving_process_opens_its_own_world_and_nothing_else(world: Path, tmp_path: Path):
    """Truth, spec, ledger and another world are refused by the kernel, and opened without it."""
    secret = tmp_path / "truths" / "d"
    secret.mkdir(parents=True)
    (secret / "truth.toml").write_text("culprit")
    names = [secret / "truth.toml", world / "manifest.json"]
    assert names[1].exists()
    assert opened(SERVING, "guarded", world, *names).split() == ["refused", "opened"]
    assert opened(SERVING, "bare", world, *names).split() == ["opened", "opened"]


def test_the_serving_process_has_no_code_that_reads_a_truth():
    """Nothing that it imports can read truths, specs, sides or the ledger."""
    script = (
        "import sys, heldout.serve.__main__, heldout.serve.web; "
        "print([m for m in sys.modules if m.startswith(('heldout.truth', 'heldout.split', "
        "'heldout.judge', 'heldout.store', 'heldout.simulate', 'heldout.canaries'))])"
    )
    assert opened(script) == "[]"


HIDING = """
import sys
from pathlib import Path
from heldout.serve.confine import hide
home = Path(sys.argv[2])
if sys.argv[1] == "guarded":
    assert hide([home / "datasets", home / "state"], home)
def attempt(action):
    try:
        action()
        return "done"
    except OSError:
        return "refused"
import os, subprocess
look = ["cat", f"/proc/{os.getppid()}/environ"]
print(attempt((home / "datasets" / "spec").read_text), attempt((home / "agent.py").read_text),
      "refused" if subprocess.run(look, capture_output=True).returncode else "done",
      attempt(lambda: (home / "brain" / "m.md").write_text("x")),
      attempt(lambda: (home.parent / "beside" / "f").write_text("x")),
      attempt((home / "way-in" / "spec").read_text))
"""


@needs_landlock
def test_a_program_cannot_open_what_is_hidden_nor_write_in_the_project(tmp_path: Path):
    """Datasets are refused, also through a link, and the environment of who started it; scripts are
    read, and other folders written."""
    home = tmp_path / "project"
    for folder in (home / "datasets", home / "state", home / "brain", tmp_path / "beside"):
        folder.mkdir(parents=True)
    (home / "datasets" / "spec").write_text("truth")
    (home / "agent.py").write_text("")
    (home / "way-in").symlink_to(home / "datasets")
    assert opened(HIDING, "guarded", home).split() == [
        "refused", "done", "refused", "refused", "done", "refused",
    ]  # fmt: skip
    assert opened(HIDING, "bare", home).split() == ["done"] * 6


def test_beside_covers_everything_but_the_hidden(tmp_path: Path):
    """Siblings all along the way are named, the way itself and links are not."""
    home = tmp_path / "a"
    for name in ("b/hidden", "b/shown", "c"):
        (home / name).mkdir(parents=True)
    (home / "link").symlink_to(home / "b")
    found = beside([home / "b" / "hidden"])
    assert {home / "b" / "shown", home / "c"} <= set(found)
    assert not {home / "link", home / "b", home / "b" / "hidden", home, tmp_path} & set(found)
