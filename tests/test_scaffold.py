"""A fresh project works from an editable install and from a built wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from heldout.brain import load_brain
from heldout.errors import BrainError, UsageError
from heldout.scaffold import make_project
from heldout.settings import load_settings
from heldout.split import read_split

ROOT = Path(__file__).resolve().parents[1]


def test_a_fresh_project_has_everything(tmp_path: Path):
    """Brain, checkers, flows, schedules, settings and an empty set are there and readable."""
    made = make_project(tmp_path / "p")
    settings = load_settings(made.root)
    assert load_brain(settings.brain).lines() > 10
    assert read_split(settings.set_dir()).train == ()
    assert list(settings.checkers.glob("*.py"))
    assert (made.root / "flows" / "tune.py").is_file()
    assert (made.root / "prefect.yaml").is_file()
    assert (made.root / "prefect.toml").is_file()
    assert not list(made.root.rglob("__init__.py"))


def test_a_team_s_own_files_are_frozen(tmp_path: Path):
    """Files of a brain without a manifest are taken over word for word and frozen."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "services.md").write_text("# Our services\nledgerd talks to coinbox.\n")
    made = make_project(tmp_path / "p", brain=own)
    brain = load_brain(made.root / "brain")
    assert made.frozen == ("services.md",)
    assert not brain.editable("services.md")
    assert brain.editable("method.md")
    assert "coinbox" in brain.prompt()


def test_the_folder_one_stands_in_becomes_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """An empty folder stays the one it is, and goes by its own name."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    before = here.stat().st_ino
    make_project(Path())
    assert here.stat().st_ino == before
    assert load_settings(here).name == "here"
    assert not (tmp_path / "here.part").exists()


def test_a_folder_in_use_is_left_alone(tmp_path: Path):
    """A folder with files in it is refused and untouched; so is a brain without Markdown."""
    (tmp_path / "keep.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        make_project(tmp_path)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(BrainError, match="no Markdown"):
        make_project(tmp_path / "p", brain=tmp_path / "nothing")
    with pytest.raises(UsageError, match="no set"):
        make_project(tmp_path / "p", with_set="nonesuch")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["keep.txt", "nothing"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--disable-pip-version-check", "--wheel-dir", str(out), str(ROOT)],
        check=True, capture_output=True,
    )  # fmt: skip
    return next(out.glob("*.whl"))


def test_the_wheel_holds_one_package(wheel: Path):
    """Nothing but ``heldout`` becomes importable, above all no ``datasets``."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"heldout"}
    assert "heldout/_project/brain/brain.toml" in names
    assert not [n for n in names if n.startswith("heldout/_project") and n.endswith("__init__.py")]


def test_every_verb_runs_from_the_wheel(wheel: Path, tmp_path: Path):
    """From an unpacked wheel alone: init, status, and the help of every verb."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    env = {**os.environ, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}

    def heldout(*words: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        code = (
            "import heldout, sys; assert heldout.__file__.startswith(sys.argv[1]), heldout.__file__;"
            "sys.argv[1:] = sys.argv[2:]; from heldout.cli.main import run; run()"
        )
        return subprocess.run(
            [sys.executable, "-c", code, str(site), *words],
            cwd=cwd, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert heldout("init", "p").returncode == 0
    done = heldout("status", cwd=tmp_path / "p")
    assert (done.returncode, "0 train, 0 held out" in done.stdout) == (0, True), done.stderr
    listing = heldout("--help").stdout
    verbs = [line.split()[0] for line in listing.split("Commands:")[1].splitlines() if line.strip()]
    assert {"tune", "score", "review", "check", "status"} <= set(verbs)
    outside = heldout("status")
    assert outside.returncode == 1
    assert "heldout init" in outside.stderr
    assert "Traceback" not in outside.stderr
