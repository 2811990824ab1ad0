"""No alert, tool or world gives its answer away: on a small set always, on shipped sets by sample."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.build.broken import with_column
from tests.sets import audit

from heldout.brain import Brain, load_brain
from heldout.build.validity import Subject
from heldout.settings import Settings
from heldout.split import HeldoutAccess, read_specs
from heldout.truth import Spec, read_spec

CLOSED_BOOK = 0.02
ONE_CALL = 0.05
FIXED_RULE = 0.10
LONE = 0.10
ENOUGH = 48
"""So many incidents of a shipped set are tried without thinking."""
SHIPPED = [(name, one) for name in audit.known_sets() for one in audit.incidents_of(name)]


@pytest.fixture(scope="module")
def method() -> Brain:
    """The brain that this repository ships."""
    return load_brain(audit.DATASETS.parent / "brain")


@pytest.fixture(scope="module")
def specs(tiny: Settings) -> list[Spec]:
    """The incidents of the small set, both sides."""
    directory, access = tiny.set_dir(), HeldoutAccess()
    return [*read_specs(directory, "train"), *read_specs(directory, "test", access)]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where their worlds are written, by id."""
    return tmp_path_factory.mktemp("worlds")


@pytest.fixture(scope="module")
def subjects(specs: list[Spec], tiny: Settings, worlds: Path) -> list[Subject]:
    """The same incidents, made again."""
    return [audit.remade(spec, tiny.set_dir(), worlds) for spec in specs]


def test_no_incident_of_a_small_set_gives_itself_away(subjects: list[Subject]):
    """Alert, ids, texts, errors: nothing tells; tools: the cause is in reach and not handed out."""
    assert {one.spec.id: found for one in subjects if (found := audit.audited(one))} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "incident"), SHIPPED)
def test_no_incident_of_a_shipped_set_gives_itself_away(name: str, incident: str, tmp_path: Path):
    """The same for what this repository ships; its alert on file is the one that its spec makes."""
    directory = audit.DATASETS / name
    spec = read_spec(directory / "specs" / f"{incident}.toml")
    subject = audit.remade(spec, directory, tmp_path)
    kept = (directory / "alerts" / f"{incident}.md").read_text(encoding="utf-8")
    assert kept == subject.made.alert
    assert audit.audited(subject) == []


def _judge(tries: list[audit.Tried]) -> list[str]:
    """Which shares are too high; the rules are judged on traps alone."""
    traps = [one for one in tries if one.kind == "trap"]
    found = []
    closed = sum(one.closed_book for one in tries)
    if closed > CLOSED_BOOK * len(tries):
        found.append(f"closed book: {closed} of {len(tries)}")
    if sum(one.lone for one in traps) > audit.most(LONE, len(traps)):
        found.append("the cause is often its entity's only change")
    for name in traps[0].right:
        right = sum(one.right[name] for one in traps)
        share = ONE_CALL if name in audit.ONE_CALL else FIXED_RULE
        if right > audit.most(share, len(traps)):
            found.append(f"{name}: {right} of {len(traps)}")
    return found


def test_nothing_is_solved_without_looking_in_a_small_set(
    subjects: list[Subject], method: Brain, worlds: Path
):
    """Not by the alert alone, not by one call, not by a fixed rule."""
    tries = [audit.tried(one, method, worlds / one.spec.id) for one in subjects]
    assert _judge(tries) == []
    assert set(audit.ONE_CALL) <= set(tries[0].right)


@pytest.mark.slow
@pytest.mark.parametrize("name", audit.known_sets())
def test_nothing_is_solved_without_looking_in_a_shipped_set(
    name: str, method: Brain, tmp_path: Path
):
    """The same over a sample of every shipped set."""
    directory = audit.DATASETS / name
    tries = []
    for incident in audit.incidents_of(name)[:ENOUGH]:
        spec = read_spec(directory / "specs" / f"{incident}.toml")
        if spec.origin == "simulated":
            subject = audit.remade(spec, directory, tmp_path)
            tries.append(audit.tried(subject, method, tmp_path / incident))
            shutil.rmtree(tmp_path / incident)
    hard = any(one.kind == "trap" for one in tries) and name != "classic"
    assert not hard or _judge(tries) == []
    assert sum(one.closed_book for one in tries) <= CLOSED_BOOK * len(tries)


def test_a_set_that_is_solved_without_looking_is_found():
    """The judge itself: one of four by chance is nothing, two by the same rule are a shortcut."""

    def tries(right: int, closed: int = 0, lone: int = 0) -> list[audit.Tried]:
        return [audit.Tried("trap", {"newest change": n < right}, n < closed, n < lone)
                for n in range(4)]  # fmt: skip

    assert _judge(tries(1, lone=1)) == []
    assert _judge(tries(2)) == ["newest change: 2 of 4"]
    assert _judge(tries(0, closed=1)) == ["closed book: 1 of 4"]
    assert len(_judge(tries(0, lone=2))) == 1


def test_tools_and_harness_say_nothing_of_how_worlds_are_made():
    """Names, descriptions, schemas and the harness's own sentences."""
    assert audit.told(audit.harness_texts()) == []
    assert audit.told({"tool x": "Lists the injected faults."}) == ["tool x says 'injected'"]
    assert audit.told({"error": "no inc-12 here"}, "inc-12") == ["error says 'inc-12'"]


@pytest.fixture(scope="module")
def trap(subjects: list[Subject]) -> Subject:
    """One trap of the small set, to break."""
    return next(o for o in subjects if o.spec.kind == "trap" and len(o.spec.traps) > 1)


def _leaf(subject: Subject) -> str:
    return subject.truth.culprit_field.rpartition(".")[2]


def _cause(subject: Subject, column: str) -> str:
    rows = subject.view.rows("change_event")
    return str(next(r[column] for r in rows if r["id"] == subject.truth.culprit_change))


@pytest.mark.parametrize(
    "leak",
    [
        lambda s: f"Look at {_leaf(s)}.",
        lambda s: f"See {s.truth.culprit_change}.",
        lambda s: f"See {s.truth.culprit_entity}.",
        lambda s: f"Ask {_cause(s, 'actor')}.",
        lambda s: s.truth.mechanism,
        lambda s: " ".join(s.truth.mechanism.split()[:12]),
        lambda s: s.truth.chain[0],
        lambda s: "This scenario was injected.",
    ],
)
def test_an_alert_that_tells_is_found(trap: Subject, leak: Callable[[Subject], str]):
    """Key, ids, person, sentences of the truth, words of the generator: each alone is enough."""
    alert = f"{trap.made.alert}\n{leak(trap)}\n"
    assert audit.alert_findings(Subject(trap.spec, replace(trap.made, alert=alert)))


def test_an_alert_that_holds_the_value_of_the_cause_is_found(subjects: list[Subject]):
    """Old and new values that nobody writes by chance."""
    for subject in subjects:
        values = [one for one in audit._cause_texts(subject) if not one.startswith(("c-", "e-"))]
        for value in values:
            made = replace(subject.made, alert=f"{subject.made.alert}\nIt was {value} before.\n")
            found = audit.alert_findings(Subject(subject.spec, made))
            assert f"the alert holds '{value}' of the cause" in found


@pytest.mark.parametrize(
    ("table", "column", "text"),
    [
        ("entity", "name", "decoy-service"),
        ("entity", "external_id", "fault-17"),
        ("change_event", "summary", "inject latency"),
        ("fact", "field", "simulated"),
        ("alert", "text", "root cause: the pool"),
    ],
)
def test_a_world_that_tells_is_found(trap: Subject, table: str, column: str, text: str):
    """Wherever a word of the generator stands, the audit reads it."""
    made = with_column(trap.made, table, column, lambda values: [text, *values[1:]])
    assert audit.world_findings(Subject(trap.spec, made))


def test_an_id_that_holds_the_incidents_own_is_found(trap: Subject):
    """An id made from the name of its incident would carry over to every log line."""
    own = trap.spec.id.rpartition("-")[2]
    made = with_column(trap.made, "entity", "external_id", lambda v: [f"arn-{own}", *v[1:]])
    assert "holds the incident's" in audit.world_findings(Subject(trap.spec, made))[0]


def test_a_cause_that_no_tool_shows_is_found(trap: Subject, worlds: Path):
    """Its change taken out of the world, the incident cannot be solved."""
    truth = replace(trap.truth, culprit_change="c-00000000")
    broken = Subject(trap.spec, replace(trap.made, truth=truth), folder=worlds / trap.spec.id)
    found = audit.reach_findings(broken)
    assert any("default pages" in one for one in found)


def test_a_cause_that_is_handed_out_is_found(trap: Subject, worlds: Path):
    """The newest change of all as the cause of a trap: one call without arguments would do."""
    newest = max(trap.view.rows("change_event"), key=lambda row: (row["ts"], row["id"]))["id"]
    truth = replace(trap.truth, culprit_change=newest)
    broken = Subject(trap.spec, replace(trap.made, truth=truth), folder=worlds / trap.spec.id)
    assert "the first page of one generic search holds the cause" in audit.reach_findings(broken)
