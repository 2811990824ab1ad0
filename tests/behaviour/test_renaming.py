"""Rename invariance: an effect that is method survives other names and values."""

from __future__ import annotations

import random

import pytest
from tests.behaviour.conftest import Lab, plus
from tests.behaviour.reader import IDLE, METHOD, Reader, service, tied

from heldout.behaviour import BehaviourReport, Counts, invariance, probe, whole
from heldout.behaviour.renaming import counted
from heldout.behaviour.rendering import renamed_cases
from heldout.brain import Brain
from heldout.settings import Settings
from heldout.split import Case

MODEL = "fake/reader"


@pytest.mark.parametrize(
    ("original", "renamed", "verdict"),
    [
        ((6, 6), (6, 6), "kept"),
        ((6, 6), (5, 6), "kept"),
        ((10, 12), (4, 6), "kept"),
        ((6, 6), (4, 6), "undecided"),
        ((6, 6), (1, 6), "lost"),
        ((6, 6), (0, 6), "lost"),
        ((6, 6), (0, 3), "lost"),
        ((6, 6), (0, 2), "undecided"),
        ((6, 6), (2, 2), "undecided"),
        ((1, 1), (0, 6), "undecided"),
        ((1, 12), (0, 6), "undecided"),
        ((0, 0), (0, 6), "undecided"),
        ((6, 6), (0, 0), "undecided"),
        ((0, 6), (0, 6), "undecided"),
    ],
)
def test_counts_and_verdicts(
    original: tuple[int, int], renamed: tuple[int, int], verdict: str
) -> None:
    """Lost is decided by an interval, kept needs three failing incidents, the rest is undecided."""
    found = invariance(Counts(*original), Counts(*renamed), renamed[1])
    assert found.verdict == verdict
    assert found.low <= found.high
    assert (found.verdict == "lost") == (found.high < 0)


def test_a_method_is_rarely_called_lost() -> None:
    """An effect that is the same everywhere is refused in fewer than 5 % of proposals."""
    rng = random.Random(3)
    refused = 0
    for _ in range(2000):
        failing = rng.randint(1, 6)
        original = Counts(sum(rng.random() < 0.8 for _ in range(8)), 8)
        renamed = Counts(sum(rng.random() < 0.8 for _ in range(failing)), failing)
        refused += invariance(original, renamed, 6).verdict == "lost"
    assert refused / 2000 < 0.05


def test_majorities_are_counted() -> None:
    """A tie is a fail; what passes without the edit is nobody's gain."""
    pairs = {
        "fixed": [(False, True), (False, True)],
        "half": [(False, True), (False, False)],
        "passing": [(True, True)],
        "flaky": [(True, True), (False, True)],
        "invalid": [],
    }
    assert counted(pairs) == Counts(2, 3)


def test_renamed_incidents_are_the_same_trouble_elsewhere(
    settings: Settings, train: tuple[Case, ...]
) -> None:
    """Kind, traps and group stay, alert and world are others, and they stand on the train side."""
    traps = [case for case in train if case.is_trap]
    made = renamed_cases(settings, traps)
    assert set(made.cases) == {case.incident.id for case in traps}
    for case in traps:
        again = made.cases[case.incident.id]
        assert (again.kind, again.traps, again.group, again.side) == (
            case.kind, case.traps, case.group, "train",
        )  # fmt: skip
        assert again.incident.alert != case.incident.alert
        assert service(again.incident.alert) != service(case.incident.alert)
        assert again.truth_digest != case.truth_digest


def test_they_are_made_once(
    settings: Settings, train: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time nothing is rendered, and the same incidents come back."""
    traps = [case for case in train if case.is_trap]
    first = renamed_cases(settings, traps)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("rendered again")

    monkeypatch.setattr("heldout.behaviour.rendering.subprocess.run", never)
    assert renamed_cases(settings, traps) == first


def test_what_cannot_be_rendered_is_said(settings: Settings, train: tuple[Case, ...]) -> None:
    """A recorded incident has no other names; it is left out with the reason."""
    one = train[0]
    path = settings.set_dir("tiny") / "specs" / f"{one.incident.id}.toml"
    path.write_text(path.read_text().replace('origin = "simulated"', 'origin = "recorded"')
                    .replace("world_digest = \"", "world_digest = \"0"))  # fmt: skip
    made = renamed_cases(settings, [one])
    assert made.cases == {}
    assert "cannot be rendered" in made.refused[one.incident.id]


def probed(lab: Lab, brain: Brain, *lines: str, roles: dict[str, str] | None = None,
           **options: object) -> BehaviourReport:  # fmt: skip
    """Every probe of some lines, with the reader; it solves whatever it hears a method for."""
    traps = tuple(case for case in lab.cases if case.is_trap)
    others = renamed_cases(lab.settings, traps).cases.values()
    reader = Reader((*lab.cases, *others), roles)
    after = plus(brain, *lines)
    heard = [line for line in lines if "the weeks before" in line]
    measured = {
        case.incident.id: [(False, any(_hears(line, case) for line in heard))] * 2
        for case in lab.cases
    }
    with reader:
        return lab.run(
            lambda bench: probe(bench, brain, after, [whole(brain, after)], measured),
            model=MODEL, base_url=reader.url, **options,
        )  # fmt: skip


def _hears(line: str, case: Case) -> bool:
    from tests.behaviour.reader import figure

    return "Where" not in line or f"{figure(case)} " in line


def test_method_survives(lab: Lab, brain: Brain) -> None:
    """A line of method works wherever it is read: kept, clean, needed by several kinds."""
    report = probed(lab, brain, METHOD, IDLE)
    assert report.passed
    assert report.rename is not None
    assert report.rename.verdict == "kept"
    assert report.rename.renamed == Counts(5, 5)
    assert report.closed_book is not None
    assert report.closed_book.verdict == "clean"
    verdicts = {one.line.text: one.verdict for one in report.units[0].lines}
    assert verdicts == {METHOD: "several", IDLE: "none"}


def test_a_line_tied_to_values_loses(lab: Lab, brain: Brain) -> None:
    """A line that only works where the alert shows known figures fails, and says why."""
    traps = [case for case in lab.cases if case.is_trap]
    report = probed(lab, brain, tied(*traps))
    assert not report.passed
    assert report.rename is not None
    assert report.rename.verdict == "lost"
    assert report.rename.renamed == Counts(0, 5)
    assert "does not survive" in report.plain()["failures"][0]
    assert "EFFECT LOST" in report.text()


def test_a_line_for_one_incident_is_marked(lab: Lab, brain: Brain) -> None:
    """Beside a line of method for the others, one that a single incident needs is marked."""
    traps = sorted((c for c in lab.cases if c.is_trap), key=lambda case: case.incident.id)
    groups = {case.group: case for case in traps}
    assert len(groups) >= 3, "the set has too few kinds for this test"
    special, *others = groups.values()
    special_line = tied(special)
    report = probed(lab, brain, special_line, *(tied(one) for one in others), rename=0)
    verdicts = {one.line.text: one.verdict for one in report.units[0].lines}
    assert verdicts[special_line] == "case_specific"
    assert "CASE-SPECIFIC" in report.text()
    assert "LOOK:" in report.text()
    assert report.passed, "a mark is for a person; it refuses nothing"


def test_the_probes_leave_test_side_alone(lab: Lab, brain: Brain) -> None:
    """Every incident that was played is a train incident or one of its renamed ones."""
    from heldout.store import Ledger
    from heldout.store.queries import runs

    probed(lab, brain, METHOD)
    with Ledger.open(lab.settings.ledger) as ledger:
        sides = {case["side"] for run in runs(ledger) for case in run.cases}
        purposes = {run.purpose for run in runs(ledger)}
    assert (sides, purposes) == ({"train"}, {"probe"})


def test_a_child_that_fails_refuses_and_stops_nobody(
    settings: Settings, train: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed child costs the probe, not the job; the reason is kept."""
    import subprocess

    (settings.state / "variants").unlink()

    def killed(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], -9, stdout="", stderr="")

    monkeypatch.setattr("heldout.behaviour.rendering.subprocess.run", killed)
    made = renamed_cases(settings, train[:1])
    assert made.cases == {}
    assert "code -9" in made.refused[train[0].incident.id]
