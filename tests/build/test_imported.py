"""Faults laid over an imported world: what of it is kept, and that the incidents are valid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.build.small import project
from tests.real import real
from tests.simulate.small import small_spec
from tests.simulate.test_grafting import estate
from typer.testing import CliRunner

import heldout.split as split_module
from heldout.build.guard import check_split
from heldout.build.imported import busyness, topology_of
from heldout.cli.main import app
from heldout.errors import IngestError, SpecError, UsageError, WorldError
from heldout.graph import read_table, write_world
from heldout.graph.schema import OPEN_END
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.kinds.kubernetes import IMPORTER
from heldout.pipeline.intake import Overlay, imported_dir, overlay
from heldout.settings import Settings
from heldout.simulate import generate
from heldout.split import HeldoutAccess, read_specs, read_split

NOW = 1_772_625_600_000_000


@pytest.fixture(autouse=True)
def build_role() -> Iterator[None]:
    """These tests run as a build process."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


@pytest.fixture
def own(tmp_path: Path) -> Settings:
    """A project with two imported worlds: a small shop, and an estate with a history."""
    made = project(tmp_path, brain=True)
    folder = made.state / "imported"
    with WorldDraft(name="shop") as draft:
        draft.topology(estate())
        draft.write(folder / "shop", now=NOW)
    spec = small_spec("pool_ceiling", knobs={"scale": 0.25, "events": 900, "log_lines": 4000})
    write_world(generate(spec).tables, folder / "lived")
    return made


def test_a_world_s_topology_is_what_stands_now(own: Settings):
    """Former values, edges that ended and things that are gone stay behind."""
    directory = imported_dir(own, "imported:lived")
    kept = topology_of(directory, "lived")
    kept.check()
    facts = read_table(directory, "fact")
    assert len(kept.facts) < len(facts)
    newest = {(row["entity_id"], row["field"]): row["value_json"]
              for row in sorted(facts, key=lambda row: row["valid_from"])
              if row["valid_to"] == OPEN_END}  # fmt: skip
    ids = {one.id for one in kept.entities}
    assert {(one.entity, one.field) for one in kept.facts} == {
        key for key in newest if key[0] in ids
    }
    assert all(edge.src in ids and edge.dst in ids for edge in kept.edges)
    entities = read_table(directory, "entity")
    assert 0 < len(ids) < len(entities)


def test_how_busy_an_estate_is_is_kept_where_it_can_be_told(own: Settings):
    """Changes and log lines per day become knobs; an import without a history says nothing."""
    found = busyness(imported_dir(own, "imported:lived"))
    assert set(found) == {"events", "log_lines"}
    assert 500 <= int(found["events"]) <= 1500
    assert busyness(imported_dir(own, "imported:shop")) == {}


def test_a_base_that_is_none_is_refused(own: Settings):
    """Unknown words and places are usage errors that name what there is."""
    with pytest.raises(UsageError, match="imported:WORLD"):
        imported_dir(own, "shop")
    with pytest.raises(UsageError, match="lived, shop"):
        imported_dir(own, "imported:nowhere")
    folder = own.state / "imported" / "shop"
    assert imported_dir(own, f"imported:{folder}") == folder


def test_an_altered_world_is_refused(own: Settings):
    """Negative control: what is grafted on is what was imported."""
    path = own.state / "imported" / "shop" / "fact.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(WorldError, match="altered"):
        topology_of(path.parent, "shop")


def test_faults_are_grafted_on_both_sides_and_the_split_guard_is_content(own: Settings):
    """Different faults of one estate may stand on different sides; each incident is valid."""
    said = overlay(
        own, Overlay("imported:lived", "memory_ceiling, memory_quota,image_leak", "mine")
    )
    assert "its own history, logs, metrics and alerts are not" in said[0]
    assert said[-1] == "3 grafted, 0 left out", said[1:]
    specs = [
        *read_specs(own.set_dir("mine"), "train"),
        *read_specs(own.set_dir("mine"), "test", HeldoutAccess()),
    ]
    assert {one.material for one in specs} == {"grafted"}
    assert {len(side) for side in (specs, read_split(own.set_dir("mine")).train)} == {3, 1}
    assert all(one.source.startswith("imported world lived, ") for one in specs)
    report = check_split(own, "mine", HeldoutAccess())
    wrong = {guard.name for guard in report.guards if not guard.passed}
    assert "names" not in wrong
    assert "causes" not in wrong
    assert "lineage" not in wrong


def test_a_rich_world_takes_a_fault_of_its_own_parts(own: Settings):
    """An estate with quotas takes the quota fault, at the estate's own healthy value."""
    overlay(own, Overlay("imported:lived", "memory_quota", "rich", side="train"))
    (spec,) = read_specs(own.set_dir("rich"), "train")
    assert spec.fault == "memory_quota"
    assert int(spec.knobs["events"]) >= 500
    assert read_split(own.set_dir("rich")).test == ()


@pytest.mark.parametrize(
    ("faults", "error"), [("", UsageError), ("sharks", SpecError), ("evict_any", IngestError)]
)
def test_what_cannot_be_grafted_is_said_and_no_set_is_made(
    own: Settings, faults: str, error: type[Exception]
):
    """No fault named, an unknown one, and one without a place."""
    with pytest.raises(error):
        overlay(own, Overlay("imported:shop", faults, "none"))
    assert not (own.datasets / "none").exists()


def test_the_command_grafts_and_verifies(own: Settings):
    """``heldout build --base`` appends, makes and counts."""
    done = CliRunner().invoke(
        app,
        ["build", "--base", "imported:shop", "--faults", "memory_ceiling", "--set", "cli",
         "--side", "train", "--project", str(own.root)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "1 grafted, 0 left out" in done.output
    assert "1 valid incidents" in done.output
    for words in (["--base", "imported:shop", "--make", "x"], ["--faults", "all"]):
        wrong = CliRunner().invoke(app, ["build", *words, "--project", str(own.root)])
        assert isinstance(wrong.exception, UsageError)


def test_side_words_are_checked(own: Settings):
    """Only train and test are sides."""
    with pytest.raises(UsageError, match="no side"):
        overlay(own, Overlay("imported:shop", "all", "x", side="left"))


@pytest.mark.real
def test_a_real_shop_takes_several_faults(own: Settings):
    """A public demo shop, read by its importer, takes five faults of ours, each a valid incident."""
    directory = own.state / "imported" / "demo"
    with WorldDraft(name="demo") as draft:
        IMPORTER.read_into(
            real("kubernetes", "microservices-demo", "release"), draft, ImportOptions()
        )
        draft.write(directory)
    faults = "exempt_label,image_leak,lookup_dots,memory_ceiling,probe_timeout,evict_any"
    said = overlay(own, Overlay("imported:demo", faults, "demo", seed=1))
    assert said[-1] == "5 grafted, 1 left out"
    assert "Cache" in said[-2]
    report = check_split(own, "demo", HeldoutAccess())
    assert {one.name for one in report.guards if not one.passed} <= {"domains", "kinds"}
