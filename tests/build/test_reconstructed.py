"""A public suite, reconstructed, as a set: held out, in the gate, of a class of its own, refused in words."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.build.small import project

from heldout import split as split_module
from heldout.cli.reconstruct import SUITES
from heldout.errors import SpecError, UsageError
from heldout.gate.material import read_sources
from heldout.ingest.cases.sregym.suite import SregymLite
from heldout.pipeline.reconstructing import Wanted, reconstruct
from heldout.settings import Settings
from heldout.split import HeldoutAccess, SplitViolation, read_specs, read_split


@pytest.fixture(autouse=True)
def role() -> Iterator[None]:
    """A process has no role before it declares one."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An empty project."""
    return project(tmp_path / "project", brain=True)


def test_the_suite_is_held_out_and_known_to_the_gate(settings: Settings):
    """Nothing of it can be tuned on, each incident is 'reconstructed', and no id tells its fault."""
    said = reconstruct(settings, Wanted("sregym-lite", "lite", "graph"))
    assert said.splitlines()[0] == "24 of 24 cases became incidents: no_fault 3, trap 21"
    assert "class reconstructed" in said
    directory = settings.set_dir("lite")
    assert read_split(directory).train == ()
    specs = read_specs(directory, "test", HeldoutAccess())
    assert {spec.material for spec in specs} == {"reconstructed"}
    assert not any("webhook" in spec.id or "probe" in spec.id for spec in specs)
    assert {one.set for one in read_sources(settings, HeldoutAccess())} == {"lite"}
    split_module._role = "tune"
    with pytest.raises(SplitViolation):
        read_specs(directory, "test", HeldoutAccess())


def test_another_variant_does_not_take_its_place(settings: Settings):
    """Under the same set name it is refused, under another both stand side by side."""
    reconstruct(settings, Wanted("sregym-lite", "lite", "graph"))
    with pytest.raises(SpecError):
        reconstruct(settings, Wanted("sregym-lite", "lite", "graph", "renamed"))
    reconstruct(settings, Wanted("sregym-lite", "other", "graph", "renamed"))
    assert "was there already" in reconstruct(settings, Wanted("sregym-lite", "lite", "graph"))


@pytest.mark.parametrize(
    "wanted",
    [Wanted("sregym", "x"), Wanted("sregym-lite", "x", "all"),
     Wanted("sregym-lite", "x", "graph", "secret")],
)  # fmt: skip
def test_what_does_not_exist_is_refused_with_what_does(settings: Settings, wanted: Wanted):
    """And nothing is written."""
    with pytest.raises(UsageError) as caught:
        reconstruct(settings, wanted)
    assert "Say " in caught.value.mend
    assert not settings.imported_sets.exists()


def test_the_command_says_what_became_of_it(settings: Settings):
    """A user sees the counts and what to do next; a wrong word is no trace but exit code 2."""
    assert SregymLite.name == SUITES

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "heldout.cli.main", "reconstruct", *words]
        return subprocess.run(
            [*command, "--project", str(settings.root)], capture_output=True, text=True,
            check=False, env=dict(os.environ),
        )  # fmt: skip

    done = ran("sregym-lite", "--into-set", "lite", "--tier", "graph")
    assert (done.returncode, "heldout score --set lite" in done.stdout) == (0, True)
    wrong = ran("sregym-lite", "--into-set", "lite", "--tier", "graphs")
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False)
    assert "graph, logs, metrics" in wrong.stderr
