"""The split guard: a sound split passes, and each way of breaking one is found by its guard."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.build.broken import SPEC
from typer.testing import CliRunner

from heldout import split as split_module
from heldout.build import cases
from heldout.build.guard import Member, SplitReport, check_split, guarded, telling_names
from heldout.build.labels import Labels
from heldout.build.similarity import THRESHOLD, akin, portrait, similarity
from heldout.cli.main import app
from heldout.errors import HeldoutError
from heldout.run.manifest import _case_plain
from heldout.settings import Settings
from heldout.simulate.fault import Fault, faults
from heldout.split import HeldoutAccess, Split, read_split, write_split
from heldout.store import Ledger
from heldout.truth import read_spec, write_spec

MODEL = "sim/anchored@low"


def _member(fault: Fault, side: str, own: str = "", **more: str) -> Member:
    own = own or fault.name
    spec = replace(
        SPEC, id=own, fault=fault.name, family=fault.family, domain=more.pop("domain", "storage"),
        group=own, seed=sum(map(ord, own)), **more,
    )  # fmt: skip
    likeness = portrait(spec, identifiers=[f"Service {own}"])
    return Member(spec, side, likeness, frozenset({f"{own}-quillmere"}))  # type: ignore[arg-type]


def _strangers(count: int) -> list[Fault]:
    """Faults that have nothing to do with each other."""
    found: list[Fault] = []
    for fault in faults().values():
        one = _member(fault, "train").portrait
        others = [_member(other, "test").portrait for other in found]
        if not any(akin(one, two) or similarity(one, two) > 0.6 for two in others):
            found.append(fault)
    return found[:count]


@pytest.fixture(scope="module")
def sound() -> list[Member]:
    """Six incidents of train and six of test that share nothing."""
    sides = ["train", "test"]
    return [_member(fault, sides[n % 2]) for n, fault in enumerate(_strangers(12))]


def _report(members: Sequence[Member], labels: Labels | None = None) -> SplitReport:
    sides = [tuple(m.spec.id for m in members if m.side == side) for side in ("train", "test")]
    return guarded(Split("any", *sides), members, labels)


def _failing(report: SplitReport) -> dict[str, tuple[str, ...]]:
    return {guard.name: guard.findings for guard in report.guards if not guard.passed}


def _first(members: Sequence[Member], side: str) -> Member:
    return next(one for one in members if one.side == side)


def _with(members: Sequence[Member], new: Member) -> list[Member]:
    return [new if one.spec.id == new.spec.id else one for one in members]


def test_sides_that_share_nothing_pass(sound: list[Member]):
    """No guard objects, and the pairs most alike are named all the same."""
    report = _report(sound)
    assert _failing(report) == {}
    assert report.passed
    assert len(report.pairs) == 5
    assert THRESHOLD > report.pairs[0].alike >= report.pairs[-1].alike


def _same_group(train: Member, test: Member) -> Member:
    return test._replace(spec=replace(test.spec, group=train.spec.group))


def _same_seed(train: Member, test: Member) -> Member:
    seed = f"seed {train.spec.seed}"
    return test._replace(
        portrait=replace(test.portrait, lineage=frozenset({*test.portrait.lineage, seed}))
    )


def _same_words(train: Member, test: Member) -> Member:
    kept = replace(train.portrait, id=test.spec.id, lineage=test.portrait.lineage)
    return test._replace(portrait=replace(kept, identifiers=test.portrait.identifiers))


def _same_cause(train: Member, test: Member) -> Member:
    return test._replace(portrait=replace(test.portrait, identifiers=train.portrait.identifiers))


def _same_name(train: Member, test: Member) -> Member:
    return test._replace(names=test.names | train.names)


@pytest.mark.parametrize(
    ("breaking", "guard", "said"),
    [
        (_same_group, "groups", "share a group"),
        (_same_seed, "lineage", "share a seed"),
        (_same_words, "likeness", "1.00 alike"),
        (_same_cause, "causes", "share an identifier of a cause"),
        (_same_name, "names", "share a name"),
    ],
)
def test_what_stands_on_both_sides_is_found_by_its_guard(
    sound: list[Member], breaking: Callable[[Member, Member], Member], guard: str, said: str
):
    """Each thing shared fails one guard, which names the two incidents and not what they share."""
    train, test = _first(sound, "train"), _first(sound, "test")
    failing = _failing(_report(_with(sound, breaking(train, test))))
    assert list(failing) == [guard]
    (sentence,) = failing[guard]
    assert said in sentence
    assert {train.spec.id, test.spec.id} <= set(sentence.split())
    assert "quillmere" not in sentence


def test_one_fault_on_both_sides_fails_by_lineage_and_by_likeness(sound: list[Member]):
    """The same fault under another name and seed is a near-duplicate."""
    fault = faults()[_first(sound, "train").spec.fault]
    twin = _member(fault, "test", own="inc-other")
    assert {"lineage", "likeness"} <= set(_failing(_report([*sound, twin])))


@pytest.mark.parametrize(("more", "passes"), [(2, True), (3, False)])
def test_a_domain_may_lean_by_two(sound: list[Member], more: int, passes: bool):
    """Two more incidents of a domain on one side are allowed, three are not."""
    left = [one for one in sound if one.side == "test"]
    lean = [
        one._replace(spec=replace(one.spec, domain="network")) if number < more else one
        for number, one in enumerate(left)
    ]
    members = [one for one in sound if one.side == "train"][: 6 - more] + lean
    failing = _failing(_report(members))
    assert ("domains" not in failing) == passes


def test_of_many_incidents_a_tenth_may_lean():
    """Forty of a kind may stand 22 to 18, not 23 to 17."""
    fault = _strangers(1)[0]

    def members(train: int, test: int) -> list[Member]:
        sides = ["train"] * train + ["test"] * test
        return [_member(fault, side, own=f"inc-{n:04d}") for n, side in enumerate(sides)]

    assert "kinds" not in _failing(_report(members(22, 18)))
    assert "kinds" in _failing(_report(members(23, 17)))


def _labels(members: Sequence[Member], train: float, test: float) -> Labels:
    rates = {one.spec.id: train if one.side == "train" else test for one in members}
    return Labels(MODEL, "0" * 8, 5, datetime.date(2026, 3, 4), (), rates)


def test_sides_of_unequal_difficulty_are_found(sound: list[Member]):
    """A model that solves much more of one side's traps tells that the split is uneven."""
    assert _failing(_report(sound, _labels(sound, 0.3, 0.45))) == {}
    failing = _failing(_report(sound, _labels(sound, 0.2, 0.6)))
    assert list(failing) == ["difficulty"]
    missing = _labels(sound, 0.3, 0.3)
    rates = {one: rate for one, rate in missing.rates.items() if one != sound[0].spec.id}
    failing = _failing(_report(sound, replace(missing, rates=rates)))
    assert failing["difficulty"] == ("1 of 12 traps have no label",)


def test_public_and_everyday_names_may_stand_on_both_sides():
    """What tells whose system it is are invented words and odd pairs, hashes and numbers left off."""
    told = telling_names(["Kestrovan-Ledger-6b9f7c8d54-x2k9p", "frontend", "coredns", "eu-west-1"])
    assert told == {"kestrovan-ledger", "kestrovan"}


def _check(settings: Settings) -> SplitReport:
    return check_split(settings, "tiny", HeldoutAccess())


def test_a_set_that_was_made_passes(tiny: Settings):
    """What making a set promises, the guard finds: worlds, truths and alerts of both sides."""
    report = _check(tiny)
    assert report.passed, report.text()
    assert (report.train, report.test) == (4, 3)
    assert any("names, 0 on both" in guard.said for guard in report.guards)


def test_a_split_altered_after_freezing_fails(own_tiny: Settings):
    """An incident moved by hand breaks the lock; nothing else is said of such a split."""
    path = own_tiny.set_dir() / "split.toml"
    split = read_split(own_tiny.set_dir())
    moved = split.test[0]
    text = path.read_text().replace(f'"{moved}",', "", 1)
    path.write_text(text.replace(f'"{split.train[0]}",', f'"{split.train[0]}", "{moved}",', 1))
    report = _check(own_tiny)
    assert _failing(report) == {"frozen": ("the split was altered after it was frozen",)}


def test_files_that_no_side_knows_and_missing_ones_fail(own_tiny: Settings):
    """The folder must hold what the split names, and no more."""
    folder = own_tiny.set_dir()
    gone = read_split(folder).test[0]
    shutil.move(folder / "alerts" / f"{gone}.md", folder / "alerts" / "inc-stray.md")
    assert _failing(_check(own_tiny))["frozen"] == (
        f"'{gone}' has no file in alerts/", "'inc-stray' in alerts/ is on no side",
    )  # fmt: skip


def test_an_incident_copied_to_the_other_side_fails_every_guard_of_sharing(own_tiny: Settings):
    """The worst split: one story on both sides, only the id is new."""
    folder = own_tiny.set_dir()
    split = read_split(folder)
    one = read_spec(folder / "specs" / f"{split.train[0]}.toml")
    write_spec(replace(one, id="inc-copied"), folder / "specs" / "inc-copied.toml")
    shutil.copy(folder / "alerts" / f"{one.id}.md", folder / "alerts" / "inc-copied.md")
    write_split(replace(split, test=(*split.test, "inc-copied")), folder)
    report = _check(own_tiny)
    assert {"groups", "lineage", "likeness", "causes", "names"} <= set(_failing(report))
    assert report.pairs[0].alike == pytest.approx(1.0, abs=0.06)


def test_an_incident_that_was_played_on_the_other_side_fails(own_tiny: Settings):
    """A set frozen anew after tuning must not score what was tuned on; the ledger remembers."""
    case = replace(cases(own_tiny, "tiny", "test", HeldoutAccess())[0], side="train")
    row = {"run": "r-1", "job": "j", "purpose": "train", "set": "tiny", "model": MODEL,
           "nonce": "", "manifest_json": {}, "cases_json": [_case_plain(case, own_tiny.root)]}  # fmt: skip
    with Ledger.open(own_tiny.ledger) as ledger:
        ledger.append("runs", [row])
    assert _failing(_check(own_tiny)) == {
        "kept": (f"{case.incident.id} was played on the other side",)
    }


def _run(settings: Settings, *words: str) -> tuple[int, str]:
    split_module._role = None
    done = CliRunner().invoke(app, ["check", "--project", str(settings.root), *words])
    split_module._role = "build"
    if isinstance(done.exception, HeldoutError):
        return done.exception.exit_code, done.exception.sentence()
    return done.exit_code, done.output


def test_the_command_prints_text_or_json_and_exits_3_when_not_passed(own_tiny: Settings):
    """Same report for people and programs."""
    code, said = _run(own_tiny, "--split", "tiny")
    assert (code, "split of tiny passed" in said) == (0, True)
    split = read_split(own_tiny.set_dir())
    train, test = (own_tiny.set_dir() / "specs" / f"{one[0]}.toml"
                   for one in (split.train, split.test))  # fmt: skip
    write_spec(replace(read_spec(test), group=read_spec(train).group), test)
    code, said = _run(own_tiny, "--split", "tiny")
    assert (code, "FAIL groups" in said) == (3, True)
    code, said = _run(own_tiny, "--split", "tiny", "--json")
    plain = json.loads(said)
    assert (code, plain["passed"]) == (3, False)
    assert [one["name"] for one in plain["guards"] if not one["passed"]] == ["groups"]


def test_words_that_do_not_fit_are_a_usage_error(own_tiny: Settings, tmp_path: Path):
    """A split is guarded by itself, without a brain."""
    assert _run(own_tiny, "--split", "tiny", str(tmp_path))[0] == 2
    assert _run(own_tiny, "--split", "../tiny")[0] == 2
    assert _run(own_tiny, "--split", "none")[0] == 1
