"""The recall bench measures what it says, and each pass of the gate carries its own classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bench.recall import disguises, facts
from bench.recall.__main__ import tier_of
from bench.recall.facts import Facts, Value, read_facts, runs
from bench.recall.prose import blocks, masked, plain_incident, refused
from bench.recall.trials import Bench, Class, Trial, classes

import heldout.split as split_module
from heldout.gate import pages, views
from heldout.gate.checkers import Checkers
from heldout.gate.engine import Engine
from heldout.gate.material import read_sources
from heldout.settings import Settings
from heldout.split import HeldoutAccess

SCALE = 0.04


@pytest.fixture(scope="module")
def known(project: Settings) -> Facts:
    """The facts of the small project's worlds and truths."""
    patch = pytest.MonkeyPatch()
    patch.setattr(split_module, "_role", "gate")
    sources = read_sources(project, HeldoutAccess())
    found = read_facts((one.world, one.alert, one.read_truth()) for one in sources)
    patch.undo()
    return found


@pytest.fixture(scope="module")
def rows(known: Facts, engine: Engine) -> dict[str, Class]:
    """A few trials of each class."""
    given = classes(known, lambda name: tier_of(engine, name), SCALE)
    return {row.name: row for row in given}


def again(row: Class) -> Class:
    """The same trials, nothing caught yet."""
    return replace(row, caught=0, folded=0, literal=0, missed=[])


@pytest.fixture
def crippled(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The engine, to take checkers out of."""
    engine.forget()
    monkeypatch.setattr(engine, "_checkers", engine.checkers)
    yield engine
    engine.forget()


def without(engine: Engine, *stems: str) -> None:
    """Take checkers out of an engine."""
    # Sizes are out in any case: a line that is mostly digits is refused whatever it says.
    gone = {*stems, "edit_size"}
    left = tuple(one for one in engine.checkers.loaded if one[0] not in gone)
    assert len(left) == len(engine.checkers.loaded) - len(gone)
    engine._checkers = Checkers(left, engine.checkers.hash)


def test_every_class_with_a_floor_reaches_it(rows: dict[str, Class], engine: Engine) -> None:
    """On a small sample, and no control of any trial trips the gate."""
    bench = Bench(engine)
    done = [bench.run(again(row)) for row in rows.values()]
    assert [(row.name, row.recall, row.missed[:2]) for row in done if not row.holds] == []
    assert len(done) > 50
    careful = {row.name: row.folded / len(row.trials) for row in done}
    assert careful["rot13"] == careful["one typo"] == 0


@pytest.mark.parametrize(
    ("stems", "names"),
    [
        (
            ("incident_identifiers", "names_in_pieces"),
            ("as it is", "upper case", "letter by letter", "camel case"),
        ),
        (("encoded_identifiers",), ("base64", "rot13", "backwards")),
        (("similar_identifiers", "names_in_pieces"), ("one typo", "vowels dropped")),
        (
            ("incident_values", "incident_identifiers", "names_in_pieces"),
            ("value as it is", "value in another unit"),
        ),
        (("incident_phrases",), ("words of the truth", "words of the alert")),
        (("shaped_identifiers",), ("ids, addresses, dates",)),
    ],
)
def test_a_pass_switched_off_sinks_its_classes(
    crippled: Engine, rows: dict[str, Class], stems: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """What a checker is there for is not caught without it."""
    without(crippled, *stems)
    bench = Bench(crippled)
    for name in names:
        assert bench.run(again(rows[name])).recall <= 0.5, name


def test_without_views_what_they_undo_is_missed(
    crippled: Engine, rows: dict[str, Class], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Look-alikes, entities and escapes are caught by the views and by nothing else."""

    def raw(line: str) -> views.View:
        return views.View(line, range(len(line)), range(1, len(line) + 1))

    without(crippled, "names_in_pieces")
    monkeypatch.setattr(pages, "fold", raw)
    bench = Bench(crippled)
    for name in ("homoglyphs", "hexadecimal entities", "unicode escapes"):
        assert bench.run(again(rows[name])).recall <= 0.5, name


def test_a_hit_beside_the_injection_does_not_count(engine: Engine, known: Facts) -> None:
    """Only a finding that overlaps what was put in is recall."""
    bench = Bench(engine)
    host = "- Where kestrovan-ledger is slow, look at {} too."
    beside = Trial("that one", "that one", host, "the rest")
    assert not bench.caught(0, 3, beside)
    assert bench.caught(0, 3, replace(beside, told="kestrovan-ledger"))


def test_a_control_that_is_refused_stops_the_bench(engine: Engine) -> None:
    """A base text that trips the gate would make every class read 1.00."""
    host = "- Where kestrovan-ledger is slow, look at {} too."
    row = Class("planted", "none", 1.0, [Trial("x", "x", host, "the rest")])
    with pytest.raises(AssertionError, match="control trips"):
        Bench(engine).run(row)


@pytest.mark.parametrize("module", [disguises, facts])
def test_disguises_and_facts_share_no_code_with_the_gate(module: object) -> None:
    """What the gate overlooks must not be overlooked by its measure too."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    told = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    modules = [node.module or "" for node in told] + [n.name for i in named for n in i.names]
    assert modules
    assert [name for name in modules if name.startswith("heldout.gate")] == []


def test_runs_are_long_enough_to_be_somebodys() -> None:
    """A copied piece has six telling words; shorter sentences give none."""
    assert runs("The pool is full.") == []
    piece = "queued calls waited behind stale leases while workers idled"
    assert runs(f"Then {piece} elsewhere.") == ["queued calls waited behind stale leases"]


def test_small_values_of_one_word_are_anybodys() -> None:
    """``percent`` 5 tells nothing, ``max replicas`` 5 and ``percent`` 60 do."""
    assert Value(5, "%", "percent", "5").anybodys
    assert not Value(5, "", "max replicas", "5").anybodys
    assert not Value(60, "%", "percent", "60").anybodys


REPORT = """---
title: Ingress down
---
# Ingress down
## Timeline
- 09:14 Alice from Contoso saw that the Ingress pods of live-1 were restarting on 3 March 2021.
- The team looked at the limits of `nginx-a` and raised them for the rest of the day.
```
kubectl get pods
```
See [the page](https://wiki.contoso.example/x) for what contoso did afterwards to the nodes.
"""


def test_masked_prose_holds_no_name_number_or_date() -> None:
    """Names wherever they stand, code, dates and addresses are gone; the rest is as written."""
    lines = list(masked(REPORT))
    text = " ".join(lines)
    assert len(lines) == 3
    for own in ("Alice", "ontoso", "live-1", "nginx", "March", "09:14", "2021", "kubectl", "http"):
        assert own not in text
    assert "raised them for the rest of the day" in text


def test_blocks_are_disjoint_and_whole() -> None:
    """Twenty-three sentences each, the remainder left out."""
    made = blocks([str(n) for n in range(50)])
    assert [len(block) for block in made] == [23, 23]
    assert set(made[0]).isdisjoint(made[1])


@pytest.mark.usefixtures("as_gate")
def test_plain_names_are_really_in_the_inventory(project: Settings, engine: Engine) -> None:
    """The second row of false positives would mean nothing if they were not: one is refused."""
    clean = [["- Often the service behind waits for a slow answer."]]
    named = [["Restart the `cart` pods first and then look again."]]
    assert refused(engine, [*clean, *named]) == []
    vocabulary = engine.inventory.vocabulary
    found = refused(Engine(project, also=(plain_incident(vocabulary),)), [*clean, *named])
    assert [bool(one.leaks) for one in found] == [True]
    assert found[0].block == tuple(named[0])
