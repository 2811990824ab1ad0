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
from typer.testing import CliRunner

from heldout import split as split_module
from heldout.build import SetPlan, append_incident, build_everything, cases, make_set, rehash
from heldout.build.making import SetReport
from heldout.build.records import FILE as RECORD
from heldout.build.records import read_record
from heldout.build.similarity import THRESHOLD
from heldout.build.worlds import place_of
from heldout.cli.main import app
from heldout.errors import (
    HeldoutError,
    SpecError,
    SplitViolation,
    UsageError,
    WorldError,
)
from heldout.settings import Settings
from heldout.simulate import generate, graft
from heldout.split import HeldoutAccess, read_specs, read_split, write_split
from heldout.truth import read_spec, write_spec


@pytest.fixture(scope="module", autouse=True)
def build_role() -> Iterator[None]:
    """These tests run as a build process."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


@pytest.fixture(scope="module")
def making(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, SetReport]:
    """A project with the small set, made once beside a README of somebody's, and the report."""
    settings = project(tmp_path_factory.mktemp("project"), brain=True)
    (settings.datasets / "tiny").mkdir()
    (settings.datasets / "tiny" / "README.md").write_text("mine\n", encoding="utf-8")
    return settings, make_set(settings, PLAN)


@pytest.fixture(scope="module")
def made(making: tuple[Settings, SetReport]) -> Settings:
    """The project with the small set."""
    return making[0]


@pytest.fixture
def own(made: Settings, tmp_path: Path) -> Settings:
    """A copy of that project, to be broken."""
    shutil.copytree(made.root, tmp_path / "project")
    return Settings(root=tmp_path / "project", set="tiny")


def run(settings: Settings, *words: str) -> tuple[str, HeldoutError | None]:
    """What 'heldout build' prints, and the error that it ends with."""
    done = CliRunner().invoke(app, ["build", "--project", str(settings.root), *words])
    if done.exception is not None and not isinstance(done.exception, HeldoutError | SystemExit):
        raise done.exception
    return done.output, done.exception if isinstance(done.exception, HeldoutError) else None


def test_a_set_takes_what_its_plan_wants_from_a_larger_pool(
    making: tuple[Settings, SetReport],
):
    """Counts are the plan's, discards have reasons, and only the set's worlds stay cached."""
    settings, report = making
    assert {kind: sum(pair) for kind, pair in report.kinds.items()} == PLAN.wanted
    assert report.record.places > PLAN.total
    assert all(report.record.discards.values())
    assert read_record(settings.set_dir("tiny")) == report.record
    assert report.alike < THRESHOLD
    assert "discarded" in "\n".join(report.lines()) or not report.record.discards
    assert len(list(settings.worlds.iterdir())) == PLAN.total
    assert (settings.datasets / "tiny" / "README.md").read_text(encoding="utf-8") == "mine\n"


def test_the_sides_share_no_fault_and_no_half_of_the_stock_of_names(made: Settings):
    """Each side has its bank; what was moved to it is named anew."""
    directory = made.set_dir("tiny")
    train = read_specs(directory, "train")
    test = read_specs(directory, "test", HeldoutAccess())
    assert {spec.knobs["bank"] for spec in train} == {0}
    assert {spec.knobs["bank"] for spec in test} == {1}
    assert not {spec.fault for spec in train} & {spec.fault for spec in test}


@pytest.mark.parametrize(
    "where", ["heldout.build.making.write_record", "heldout.build.making._split"]
)
def test_a_making_that_dies_leaves_no_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
):
    """Wherever it is stopped: no specs, no split, no worlds."""
    settings = project(tmp_path)
    monkeypatch.setattr(where, _killed)
    few = replace(PLAN, traps=0, onset_controls=2, no_change=0, spare=1.0)
    with pytest.raises(KeyboardInterrupt):
        make_set(settings, few)
    assert list(settings.datasets.iterdir()) == []
    assert list(settings.worlds.iterdir()) == []


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_pool_that_cannot_fill_its_plan_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The kind that is missing and the reasons are named; nothing is written."""
    settings = project(tmp_path)
    monkeypatch.setattr("heldout.build.admission.generate", _no_place)
    with pytest.raises(SpecError, match=r"0 of 2 places for 'trap'.*80 x no place"):
        make_set(settings, PLAN)
    assert list(settings.datasets.iterdir()) == []


def _no_place(*_: object) -> None:
    raise SpecError("no place: anywhere")


def test_the_summary_of_a_validation_ends_with_the_number_of_valid_incidents(own: Settings):
    """The points and discards are listed; a finding is an error with code 3."""
    said, error = run(own, "--set", "tiny", "--validate", "--workers", "1")
    assert said.splitlines()[-1].endswith("valid incidents")
    spec = read_specs(own.set_dir("tiny"), "train")[0]
    path = own.set_dir("tiny") / "specs" / f"{spec.id}.toml"
    write_spec(replace(spec, canary=spec.fault.rjust(16, "x")), path)
    assert error is None, str(error)


def test_the_record_of_the_pool_is_read_with_care(own: Settings):
    """A malformed one is named, a missing one is none."""
    path = own.set_dir("tiny") / RECORD
    path.write_text("places = 'many'\n", encoding="utf-8")
    with pytest.raises(SpecError, match="record of the pool"):
        read_record(path.parent)
    path.unlink()
    assert read_record(path.parent) is None


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--make", "tiny"), "frozen"),
        (("--make", "new", "--plan", "prod_hrd"), "no plan"),
        (("--make", "new", "--set", "tiny"), "new set"),
        (("--make", "../new"), "cannot name a set"),
        (("--make", "new", "--traps", "1", "--controls", "0"), "two incidents"),
        (("--make", "new", "--scale", "9"), "out of range"),
        (("--make", "new", "--harden-against", "sim/anchord"), "no simulated model"),
        (("--make", "new", "--harden-against", "nobody/any"), "nobody"),
        (("--plan", "classic"), "needs --make"),
        (("--out", "here"), "needs --vary"),
        (("--vary", "inc-none", "2"), "no incident 'inc-none'"),
        (("--set", "nowhere"), "no set 'nowhere'"),
    ],
)
def test_words_that_do_not_fit_are_named(made: Settings, words: tuple[str, ...], what: str):
    """One sentence, no traceback, and nothing is made."""
    before = sorted(path.name for path in made.datasets.iterdir())
    _, error = run(made, *words)
    assert error is not None
    assert what in error.sentence()
    assert error.exit_code in (1, 2)
    assert sorted(path.name for path in made.datasets.iterdir()) == before


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


def test_a_retired_set_is_kept_and_not_played(own: Settings):
    """Its worlds are still built for the gate, but nothing is tuned or scored on it."""
    folder = own.set_dir("tiny")
    write_split(replace(read_split(folder), retired=True), folder)
    assert build_everything(own, "tiny", workers=1).lines[-1] == f"{PLAN.total} valid incidents"
    for side in ("train", "test"):
        with pytest.raises(UsageError, match="retired"):
            cases(own, "tiny", side, HeldoutAccess())
    spec = small_spec()
    append_incident(own, "tiny", spec, generate(spec), "train", HeldoutAccess())
    assert read_split(folder).retired


def test_a_missing_world_is_made_again_with_the_same_digest(own: Settings):
    """The cache may be lost; what comes back must have the pinned digests."""
    shutil.rmtree(own.state)
    built = build_everything(own, "tiny", workers=1)
    assert built.lines[-1] == f"{PLAN.total} valid incidents"
    assert f"made {PLAN.total}" in built.text
    assert "made 0" in build_everything(own, "tiny", workers=1).text


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
