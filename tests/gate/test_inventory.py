"""The inventory: whole, cached, and closed when anything is missing or altered."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.gate.conftest import STORIES, add_story

import heldout.gate.inventory as inventory_module
from heldout.errors import GateError, SplitViolation
from heldout.gate.engine import Engine
from heldout.gate.extract import opaque_hash
from heldout.gate.material import Source
from heldout.gate.names import Carrier
from heldout.settings import Settings
from heldout.split import read_split, write_split

pytestmark = pytest.mark.usefixtures("as_gate")


def test_only_the_gates_process_may_open_the_inventory(
    own_project: Settings, monkeypatch: pytest.MonkeyPatch
):
    """A process with another role cannot make an engine at all."""
    monkeypatch.setattr("heldout.split._role", "tune")
    with pytest.raises(SplitViolation):
        Engine(own_project)


def test_both_halves_and_controls_are_in_it(engine: Engine):
    """Names of train, test and control incidents are known, each with its incident and side."""
    names = engine.inventory.names
    assert engine.inventory.incidents == 3
    assert names["kestrovan"].carrier.incident == "small/inc-7f3a90c1"
    assert not names["kestrovan"].held_out
    assert names["dromblivet"].held_out
    assert names["plumbrook"].held_out


def test_words_of_alerts_and_of_schemas_are_no_names(engine: Engine):
    """Generic words of an alert, and keys that anybody has, are not in the inventory."""
    keys = set(engine.inventory.names)
    assert not keys & {"customers", "statements", "waited", "memory", "relay", "failed"}


def test_every_name_knows_where_it_stands(engine: Engine):
    """Each carrier holds incident, side, role, kind and field, for resources, people and keys."""
    names = engine.inventory.names
    incident = "small/inc-7f3a90c1"
    assert set(names["maraveldhuizen"].carriers) == {
        Carrier(incident, "train", "noise", "person", "entity.Person"),
        Carrier(incident, "train", "culprit", "person", "change.actor"),
    }
    (key,) = names["spindlepoolceiling"].carriers
    assert (key.role, key.kind, key.field) == ("culprit", "key", "change.field")
    (settings,) = names["dromblivetsettings"].carriers
    assert (settings.side, settings.role, settings.field) == ("test", "culprit", "entity.ConfigMap")
    canary = names["canarytruthinc7f3a90c11b9c"]
    assert (canary.carrier.kind, canary.carrier.field) == ("canary", "canary")


def test_ids_are_kept_as_hashes_and_not_as_names(engine: Engine):
    """Ids of entities and changes are known by incident, and none of them is in the automaton."""
    inventory = engine.inventory
    assert inventory.opaque.owners(opaque_hash("e-01000000"))[0].side == "train"
    assert inventory.opaque.owners(opaque_hash("C-02AA0002"))[0].side == "test"
    assert inventory.opaque.owners(opaque_hash("e-77000000")) == ()
    assert not {"e01000000", "c01aa0001"} & set(inventory.names)


def test_an_added_incident_costs_one_world(own_project: Settings, monkeypatch: pytest.MonkeyPatch):
    """What was extracted stays; only the new incident's world is opened."""
    first = Engine(own_project)
    opened: list[str] = []
    rows = Source.rows

    def count(source: Source) -> object:
        opened.append(source.spec.id)
        return rows(source)

    monkeypatch.setattr(Source, "rows", count)
    story = replace(STORIES[0], id="inc-0ddba11e", services=("quellmarch-index",))
    add_story(own_project, story, 4)
    second = Engine(own_project)
    assert opened == ["inc-0ddba11e"]
    assert second.inventory.incidents == 4
    assert second.inventory.hash != first.inventory.hash
    assert "quellmarch" in second.inventory.names


def test_a_retired_set_stays_in_it(own_project: Settings):
    """Retiring a set takes none of its names out."""
    names = Engine(own_project).inventory.names
    folder = own_project.set_dir("small")
    write_split(replace(read_split(folder), retired=True), folder)
    assert Engine(own_project).inventory.names == names


def test_worlds_are_read_once(own_project: Settings, monkeypatch: pytest.MonkeyPatch):
    """A second start reads the cache, not the worlds, and gives the same inventory."""
    first = Engine(own_project)

    def refuse(*_: object) -> None:
        raise AssertionError("a world was read again")

    monkeypatch.setattr(Source, "rows", refuse)
    second = Engine(own_project)
    assert second.inventory.hash == first.inventory.hash
    assert second.inventory.names == first.inventory.names


def test_another_vocabulary_or_extractor_reads_again(
    own_project: Settings, monkeypatch: pytest.MonkeyPatch
):
    """What was extracted under other rules is stale."""
    first = Engine(own_project)
    monkeypatch.setattr(inventory_module, "EXTRACTOR_VERSION", "other")
    second = Engine(own_project)
    assert second.inventory.hash != first.inventory.hash
    assert len(list((own_project.state / "gate").glob("*.npz"))) == 6


def test_a_damaged_cache_is_made_again(own_project: Settings):
    """A truncated cache file is not trusted and not fatal."""
    first = Engine(own_project)
    for path in (own_project.state / "gate").glob("*.npz"):
        path.write_bytes(path.read_bytes()[:40])
    assert Engine(own_project).inventory.names == first.inventory.names


def test_a_missing_world_says_to_build(own_project: Settings):
    """Without its world an incident cannot be known, so nothing is let through."""
    shutil.rmtree(next(own_project.worlds.iterdir()))
    with pytest.raises(GateError, match="heldout build"):
        Engine(own_project)


def test_an_altered_world_is_refused(own_project: Settings):
    """A world whose files differ from its digest is not read."""
    world = next(own_project.worlds.iterdir())
    with (world / "entity.parquet").open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(GateError, match="altered"):
        Engine(own_project)


def test_an_altered_or_missing_truth_is_refused(own_project: Settings):
    """So is a truth, altered or missing."""
    truth = next(own_project.truths.iterdir())
    truth.write_text(truth.read_text().replace('"trigger": ""', '"trigger": "x"'), encoding="utf-8")
    with pytest.raises(GateError, match="digest"):
        Engine(own_project)
    truth.unlink()
    with pytest.raises(GateError, match="cannot be read"):
        Engine(own_project)


@pytest.mark.parametrize("damage", ["alert", "split", "spec", "unsplit"])
def test_a_damaged_set_is_refused(own_project: Settings, damage: str):
    """A missing alert, an altered split, a broken spec, specs without a split: all close."""
    folder = own_project.set_dir("small")
    if damage == "alert":
        next((folder / "alerts").iterdir()).unlink()
    elif damage == "split":
        path = folder / "split.toml"
        path.write_text(path.read_text().replace("inc-c0ffee12", "inc-c0ffee13"))
    elif damage == "spec":
        next((folder / "specs").iterdir()).write_text("id = 3", encoding="utf-8")
    else:
        (folder / "split.toml").unlink()
    with pytest.raises(GateError):
        Engine(own_project)


def test_a_changed_set_is_read_again_by_a_warm_engine(own_project: Settings):
    """An inventory that no longer fits the sets is never used for a check."""
    engine = Engine(own_project)
    before = engine.inventory.hash
    alert = next((own_project.set_dir("small") / "alerts").iterdir())
    alert.write_text("# Other\n\nA wholly different sentence about nothing in particular.\n")
    engine.refresh()
    assert engine.inventory.hash != before
    alert.unlink()
    with pytest.raises(GateError):
        engine.refresh()
    with pytest.raises(GateError):
        engine.refresh()


def test_a_full_disk_closes_and_leaves_nothing(
    own_project: Settings, monkeypatch: pytest.MonkeyPatch
):
    """An inventory that cannot be stored is an error, and no half file is left."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez_compressed", full)
    with pytest.raises(GateError, match="stored"):
        Engine(own_project)
    assert list((own_project.state / "gate").glob("*")) == []


@pytest.mark.parametrize("damage", ["missing", "broken", "lame", "raising", "nameless"])
def test_checkers_must_be_there_and_catch_their_bait(own_project: Settings, damage: str):
    """A checker that is missing, cannot load, lets its bait through or fails stops the gate."""
    path: Path = own_project.checkers / "incident_values.py"
    text = path.read_text()
    if damage == "missing":
        path.unlink()
    elif damage == "broken":
        path.write_text("def check(:\n")
    elif damage == "lame":
        path.write_text(text.replace("return quantities.check(context)", "return ()"))
    elif damage == "raising":
        path.write_text(text.replace("return quantities.check(context)", "return 1 / 0"))
    else:
        path.write_text(text.replace("name = ", "title = "))
    with pytest.raises(GateError):
        Engine(own_project)


def test_a_project_may_add_a_checker(own_project: Settings):
    """A further file in checkers/ is loaded, proves itself and rejects."""
    (own_project.checkers / "no_shouting.py").write_text(
        '''"""No line in capitals."""
from heldout.gate.hits import Hit
from heldout.gate.pages import Place

name = "no-shouting"


def check(context):
    for page, number, line in context.scan.lines():
        if line.isupper():
            place = Place(page, number, 1, number, len(line) + 1)
            yield Hit(name, "reject", place, line)


def bait(inventory):
    return ("LOOK HERE FIRST",)
''',
        encoding="utf-8",
    )
    engine = Engine(own_project)
    assert "no_shouting" in {stem for stem, _ in engine.checkers.loaded}
