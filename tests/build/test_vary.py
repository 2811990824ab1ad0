"""Variants are the same trouble among other names, and stand in a set of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.build.small import project
from tests.simulate.small import small_spec
from typer.testing import CliRunner

from heldout import split as split_module
from heldout.build import append_incident, cases, variants
from heldout.build.admission import Admitted
from heldout.cli.main import app
from heldout.errors import SpecError, UsageError
from heldout.settings import Settings
from heldout.simulate import Generated, generate
from heldout.split import HeldoutAccess, read_specs, read_split
from heldout.truth import Spec

KNOBS = {"scale": 0.25, "events": 700, "log_lines": 1000}


@pytest.fixture(scope="module", autouse=True)
def build_role() -> Iterator[None]:
    """These tests run as a build process."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A project whose set has one incident, held out."""
    own = project(tmp_path_factory.mktemp("vary"), brain=True)
    spec = small_spec("policy_detach", knobs=KNOBS)
    append_incident(own, "tiny", spec, generate(spec), "test", HeldoutAccess())
    return own


@pytest.fixture(scope="module")
def original(settings: Settings) -> Spec:
    """The incident that is varied."""
    return read_specs(settings.set_dir("tiny"), "test", HeldoutAccess())[0]


@pytest.fixture(scope="module")
def varied(settings: Settings, original: Spec) -> list[Admitted]:
    """Two variants."""
    return variants(original, 2, settings)


def test_the_trouble_is_the_same(original: Spec, varied: list[Admitted]):
    """Fault, kind, traps and every knob of difficulty stay."""
    for one in varied:
        spec = one.spec
        assert (spec.fault, spec.kind, spec.traps) == (
            original.fault,
            original.kind,
            original.traps,
        )
        assert spec.knobs == original.knobs
        assert not one.entry.found


def test_everything_that_could_be_remembered_is_other(original: Spec, varied: list[Admitted]):
    """Truths, names, times, values and topology differ from the original and from each other."""
    worlds = [generate(original), *(generate(one.spec) for one in varied)]
    assert len({one.spec.truth_digest for one in varied} | {original.truth_digest}) == 3
    assert len({made.tables.now for made in worlds}) == 3
    assert len({made.alert for made in worlds}) == 3
    names = [_services(made) for made in worlds]
    for one in (1, 2):
        shared = len(names[0] & names[one]) / len(names[0])
        assert shared < 0.2
        assert not varied[one - 1].names & names[0]
    assert not varied[0].names & varied[1].names
    edges = [len(made.tables.columns["edge"]["src"]) for made in worlds]
    assert len(set(edges)) > 1
    assert len({made.truth.decoys for made in worlds}) == 3


def _services(made: Generated) -> set[str]:
    columns = made.tables.columns["entity"]
    return {
        str(name) for kind, name in zip(columns["kind"], columns["name"], strict=True)
        if kind == "Service"
    }  # fmt: skip


def test_variants_are_the_same_again(settings: Settings, original: Spec, varied: list[Admitted]):
    """The same incident gives the same variants."""
    assert variants(original, 1, settings)[0].spec == varied[0].spec


def test_names_can_come_from_the_other_half_of_the_stock(settings: Settings, original: Spec):
    """A bank of one's choice replaces the original's."""
    assert variants(original, 1, settings, bank=1)[0].spec.knobs["bank"] == 1


def test_variants_stand_in_a_set_of_their_own(settings: Settings, original: Spec, tmp_path: Path):
    """On their original's side, beside its set or in a folder of one's choice, never twice."""
    before = read_split(settings.set_dir("tiny"))
    words = ["build", "--project", str(settings.root), "--vary", original.id, "1", "--workers", "1"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    name = f"tiny-vary-{original.id}"
    assert name in done.output
    assert len(cases(settings, name, "test", HeldoutAccess())) == 1
    assert cases(settings, name, "train") == ()
    assert read_split(settings.set_dir("tiny")) == before
    again = CliRunner().invoke(app, words)
    assert isinstance(again.exception, SpecError)
    assert "frozen" in str(again.exception)
    aside = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "aside")])
    assert aside.exit_code == 0, aside.output
    assert read_split(tmp_path / "aside").test


def test_what_cannot_be_varied_is_named(settings: Settings, original: Spec):
    """Recorded worlds, and numbers that are none."""
    for n in (0, 51):
        with pytest.raises(UsageError, match="1 to 50"):
            variants(original, n, settings)
    recorded = small_spec(origin="recorded")
    with pytest.raises(SpecError, match="recorded"):
        variants(recorded, 1, settings)


def test_a_place_that_no_seed_finds_is_named(
    settings: Settings, original: Spec, monkeypatch: pytest.MonkeyPatch
):
    """The reasons are counted, and no world is left behind."""
    kept = set(settings.worlds.iterdir())
    monkeypatch.setattr("heldout.build.admission.generate", _no_place)
    with pytest.raises(SpecError, match=r"only 0 of 1 variants.*12 x no place"):
        variants(original, 1, settings)
    assert set(settings.worlds.iterdir()) == kept


def _no_place(*_: object) -> None:
    raise SpecError("no place: anywhere")
