"""Recorded incidents as a set: held out, pinned, put back, gated, and scored with their class."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.build.small import project
from tests.ingest.cases.suite import suite

from heldout import split as split_module
from heldout.build.recorded import record_set
from heldout.build.sets import build_everything
from heldout.build.worlds import cases
from heldout.errors import IngestError, SpecError, SplitViolation, WorldError
from heldout.gate.material import read_sources
from heldout.ingest.cases.case import Recorded, case_importer
from heldout.ingest.importer import ImportOptions
from heldout.settings import Settings, load_settings
from heldout.split import HeldoutAccess, read_specs, read_split

OPENSRE = case_importer("opensre")


@pytest.fixture(autouse=True)
def build_role() -> Iterator[None]:
    """These tests open both sides, as a build does."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An empty project."""
    return project(tmp_path / "project", brain=True)


def record(settings: Settings, path: Path, name: str = "quays", **options: bool) -> list[str]:
    """Import a suite as a set; what is told."""
    wanted = ImportOptions(**options)
    return record_set(settings, name, OPENSRE, path, wanted, HeldoutAccess()).lines()


def test_recorded_incidents_are_all_held_out(settings: Settings, tmp_path: Path):
    """Three of three, none to tune on, each with its class; the project's own sets stay apart."""
    said = record(settings, suite(tmp_path / "suite"))
    assert said[0] == "3 of 3 cases became incidents: no_fault 1, trap 2"
    directory = settings.set_dir("quays")
    assert directory == settings.imported_sets / "quays"
    assert read_split(directory).train == ()
    specs = read_specs(directory, "test", HeldoutAccess())
    assert {spec.material for spec in specs} == {"outside"}
    assert not any("anchor" in spec.id or "quay" in spec.id for spec in specs)


def test_the_held_out_half_needs_a_role(settings: Settings, tmp_path: Path):
    """A process that tunes cannot open an imported set's specs; one that scores can."""
    record(settings, suite(tmp_path / "suite"))
    split_module._role = "tune"
    with pytest.raises(SplitViolation):
        cases(settings, "quays", "test", HeldoutAccess())
    split_module._role = "score"
    assert len(cases(settings, "quays", "test", HeldoutAccess())) == 3


def test_importing_again_puts_back_what_is_gone(settings: Settings, tmp_path: Path):
    """Without its worlds a set cannot be opened; the same import makes the same digests."""
    root = suite(tmp_path / "suite")
    record(settings, root)
    specs = read_specs(settings.set_dir("quays"), "test", HeldoutAccess())
    shutil.rmtree(settings.worlds)
    with pytest.raises(WorldError, match="heldout ingest"):
        build_everything(settings, "quays", workers=1)
    assert "the same in every digest" in record(settings, root)[-1]
    assert read_specs(settings.set_dir("quays"), "test", HeldoutAccess()) == specs
    assert "verified 3" in build_everything(settings, "quays", workers=1).text


def test_an_altered_world_is_found(settings: Settings, tmp_path: Path):
    """Building verifies recorded worlds against their digests, as it does drawn ones."""
    record(settings, suite(tmp_path / "suite"))
    world = next(one for one in settings.worlds.iterdir() if one.is_dir())
    file = next(path for path in world.glob("*.parquet"))
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(WorldError):
        build_everything(settings, "quays", workers=1)


def test_another_set_of_that_name_is_never_replaced(settings: Settings, tmp_path: Path):
    """Neither by other material nor by an import over a set of the project's own."""
    root = suite(tmp_path / "suite")
    record(settings, root)
    shutil.rmtree(root / "rds")
    with pytest.raises(SpecError, match="holds something else"):
        record(settings, root)
    assert len(read_split(settings.set_dir("quays")).test) == 3
    (settings.datasets / "mine").mkdir(parents=True)
    with pytest.raises(SpecError, match="of its own"):
        record(settings, root, "mine")


def test_a_failing_import_leaves_nothing(settings: Settings, tmp_path: Path):
    """With --strict one unreadable case ends it; without, it is told and left out."""
    root = suite(tmp_path / "suite")
    (root / "rds" / "002-lost-quay" / "alert.json").write_text("{", encoding="utf-8")
    with pytest.raises(IngestError, match="became no incident"):
        record(settings, root, strict=True)
    assert not (settings.imported_sets / "quays").exists()
    assert not list(settings.worlds.glob("*"))
    assert "rds/002-lost-quay: " in "\n".join(record(settings, root))


def test_what_shares_a_cause_stands_on_one_side(settings: Settings, tmp_path: Path):
    """Where a source can be halved, it is halved by group; a random half would not be."""

    class Many:
        """Twelve cases of four causes, made from one that was read."""

        name, reads, source, halves, origin = "many", "cases", "somebody", True, "recorded"

        def cases(self, path: Path, options: ImportOptions) -> Iterator[Recorded]:
            """The same case under twelve names."""
            for number in range(12):
                for one in OPENSRE.cases(path, options):
                    if isinstance(one, Recorded) and one.kind == "trap":
                        yield Recorded(
                            f"case-{number}", one.alert, "trap", "x", f"cause-{number % 4}",
                            f"many/cause-{number % 4}", one.truth, one.draft,
                        )  # fmt: skip
                        break

    record_set(settings, "many", Many(), suite(tmp_path / "s"), ImportOptions(), HeldoutAccess())
    directory = settings.set_dir("many")
    groups = [
        {spec.group for spec in read_specs(directory, side, HeldoutAccess())}
        for side in ("train", "test")
    ]
    assert len(groups[0]) == len(groups[1]) == 2
    assert not groups[0] & groups[1]


def test_the_gate_knows_imported_sets(settings: Settings, tmp_path: Path):
    """Their incidents are sources of its inventory; before the import they are not."""
    before = {one.set for one in read_sources(settings, HeldoutAccess())}
    record(settings, suite(tmp_path / "suite"))
    after = {one.set for one in read_sources(settings, HeldoutAccess())}
    assert after - before == {"quays"}


def heldout(*words: str, root: Path) -> subprocess.CompletedProcess[str]:
    """The command itself, in a project."""
    return subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words, "--project", str(root)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_wrong_place_is_a_usage_error(settings: Settings, tmp_path: Path):
    """Incidents go into a set and worlds into a world; each message says which."""
    root = suite(tmp_path / "suite")
    done = heldout("ingest", "opensre", str(root), "--into", "w", root=settings.root)
    assert (done.returncode, "--into-set SET" in done.stderr) == (2, True)
    done = heldout("ingest", "logs", str(root), "--into-set", "w", root=settings.root)
    assert (done.returncode, "--into WORLD" in done.stderr) == (2, True)


@pytest.mark.slow
def test_an_imported_set_is_scored_with_its_class(tmp_path: Path):
    """A score on it ends, says class outside on each row, and tuning on it is refused."""
    settings = project(tmp_path / "project", brain=True)
    root = settings.root
    shutil.copytree(Path(__file__).resolve().parents[2] / "checkers", root / "checkers")
    done = heldout(
        "ingest", "opensre", str(suite(tmp_path / "s")), "--into-set", "quays", root=root
    )
    assert done.returncode == 0, done.stderr
    other = shutil.copytree(root / "brain", tmp_path / "other")
    with (other / "method.md").open("a", encoding="utf-8") as file:
        file.write("\n- Look at the state of what the alert names before its changes.\n")
    done = heldout(
        "score", "--set", "quays", "--model", "sim/anchored@low", "--before", str(root / "brain"),
        "--after", str(other), "--quiet", root=root,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3 incidents recorded elsewhere" in done.stdout or "outside" in done.stdout
    from heldout.score.result import read_score
    from heldout.store import Ledger

    with Ledger.open(load_settings(root).ledger, read_only=True) as ledger:
        (row,) = ledger.read("SELECT result_json FROM scores WHERE result_json IS NOT NULL")
    found = read_score(json.loads(row["result_json"]))
    assert {one.material for one in found.incidents} == {"outside"}
    assert found.evidence.outside == 3
    done = heldout("tune", "--set", "quays", "--quiet", root=root)
    assert done.returncode != 0
    assert "no incident to tune on" in done.stderr
