"""Making, freezing and materialising sets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.build.small import PLAN, project
from tests.simulate.small import small_spec
from tests.simulate.test_grafting import estate

from heldout import split as split_module
from heldout.build import SetPlan, append_incident, build_everything, cases, make_set, rehash
from heldout.build.worlds import place_of
from heldout.errors import SpecError, SplitViolation, UsageError, WorldError
from heldout.settings import Settings
from heldout.simulate import generate, graft
from heldout.split import HeldoutAccess, read_specs, read_split
from heldout.truth import read_spec, write_spec


@pytest.fixture(scope="module", autouse=True)
def build_role() -> Iterator[None]:
    """These tests run as a build process."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A project with the small set, made once."""
    settings = project(tmp_path_factory.mktemp("project"))
    make_set(settings, PLAN)
    return settings


@pytest.fixture
def own(made: Settings, tmp_path: Path) -> Settings:
    """A copy of that project, to be broken."""
    shutil.copytree(made.root, tmp_path / "project")
    return Settings(root=tmp_path / "project")


def test_both_sides_stand_with_worlds_and_alerts(made: Settings):
    """Cases of both sides have verified worlds, alerts and truths; controls stand in both."""
    access = HeldoutAccess()
    train, test = cases(made, "tiny", "train"), cases(made, "tiny", "test", access)
    assert len(train) + len(test) == PLAN.total
    assert abs(len(train) - len(test)) <= 1
    for side in (train, test):
        assert any(case.kind == "onset_control" for case in side)
        assert all(case.incident.world.is_dir() and case.truth_file.is_file() for case in side)
        assert all(case.incident.alert.startswith("# ") for case in side)
    assert not {case.group for case in train} & {case.group for case in test}


def test_the_test_side_needs_access(made: Settings):
    """Without the key the held-out half does not open."""
    with pytest.raises(SplitViolation):
        cases(made, "tiny", "test")


def test_a_missing_world_is_made_again_with_the_same_digest(own: Settings):
    """The cache may be lost; what comes back must have the pinned digests."""
    shutil.rmtree(own.state)
    said = build_everything(own, "tiny", workers=1)
    assert said.splitlines()[-1] == f"{PLAN.total} valid incidents"
    assert f"made {PLAN.total}" in said
    assert "made 0" in build_everything(own, "tiny", workers=1)


def test_worker_processes_make_the_same_worlds(own: Settings):
    """A pool of spawned processes verifies against the same digests."""
    for spec in read_specs(own.set_dir("tiny"), "train")[:2]:
        shutil.rmtree(place_of(own, spec).world)
    assert len(cases(own, "tiny", "train", workers=2)) > 2


def test_an_altered_world_or_truth_is_named(own: Settings):
    """Digests are checked on every use."""
    spec = read_specs(own.set_dir("tiny"), "train")[0]
    place = place_of(own, spec)
    target = place.world / "alert.parquet"
    target.write_bytes(target.read_bytes()[:-1] + b"x")
    with pytest.raises(WorldError, match="altered"):
        cases(own, "tiny", "train")
    shutil.rmtree(place.world)
    place.truth.unlink()
    assert cases(own, "tiny", "train")
    place.truth.write_text(place.truth.read_text().replace("c-", "c-0", 1))
    with pytest.raises(SpecError, match="truth"):
        cases(own, "tiny", "train")


def test_a_generator_that_changed_is_named(own: Settings):
    """A world that comes out differently is an error that says so, and nothing is left behind."""
    directory = own.set_dir("tiny")
    spec = read_specs(directory, "train")[0]
    shutil.rmtree(own.state)
    write_spec(replace(spec, world_digest="0" * 64), directory / "specs" / f"{spec.id}.toml")
    with pytest.raises(WorldError, match="the generator changed"):
        cases(own, "tiny", "train")
    assert not (own.worlds / ("0" * 64)).exists()


def test_rehash_pins_what_this_generator_makes(own: Settings):
    """After a rehash the specs pin the present worlds again; nothing else changes."""
    directory = own.set_dir("tiny")
    spec = read_specs(directory, "train")[0]
    path = directory / "specs" / f"{spec.id}.toml"
    write_spec(replace(spec, world_digest="0" * 64), path)
    assert rehash(own, "tiny", HeldoutAccess()) == 1
    assert read_spec(path) == spec


def test_a_frozen_set_is_not_made_twice(made: Settings):
    """Making an existing set again is refused; so is a plan that cannot be split."""
    with pytest.raises(SpecError, match="frozen"):
        make_set(made, PLAN)
    with pytest.raises(UsageError, match="two incidents"):
        make_set(made, SetPlan("none", traps=1, onset_controls=0, no_change=0))


def test_a_grafted_incident_is_appended_and_made_again(own: Settings):
    """It joins one side, nobody moves, and its world can be made from what the set keeps."""
    before = read_split(own.set_dir("tiny"))
    spec = replace(small_spec("memory_ceiling", knobs={"events": 300}), origin="overlay")
    access = HeldoutAccess()
    pinned = append_incident(own, "tiny", spec, graft(estate(), spec), "test", access)
    after = read_split(own.set_dir("tiny"))
    assert set(after.test) == {*before.test, pinned.id}
    assert set(after.train) == set(before.train)
    shutil.rmtree(place_of(own, pinned).world)
    again = [c for c in cases(own, "tiny", "test", access) if c.origin == "overlay"]
    assert [case.incident.id for case in again] == [pinned.id]
    with pytest.raises(SpecError, match="already"):
        append_incident(own, "tiny", spec, graft(estate(), spec), "test", access)


def test_a_simulated_incident_can_start_a_set(own: Settings):
    """Appending to a set that does not exist makes it."""
    spec = small_spec()
    append_incident(own, "fresh", spec, generate(spec), "train", HeldoutAccess())
    assert [case.incident.id for case in cases(own, "fresh", "train")] == [spec.id]
