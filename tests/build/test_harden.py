"""Hardening raises what a model aces, and nothing that it measured is used again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.build.small import PLAN, project
from tests.simulate.small import small_spec

from heldout import split as split_module
from heldout.brain import load_brain
from heldout.build import build_everything, cases, make_set
from heldout.build.admission import Admitted, Result
from heldout.build.harden import MOST_TRAPS, harden, raised_forms
from heldout.build.labels import FILE, label, read_labels
from heldout.build.making import SetReport
from heldout.build.measuring import Yardstick
from heldout.build.similarity import portrait
from heldout.build.validity.entry import Entry
from heldout.errors import HeldoutError, SpecError
from heldout.graph import WorldInterface
from heldout.run import Arm, Plan, RunResult, play
from heldout.run.reduce import solved_by_incident
from heldout.settings import Settings
from heldout.simulate.knobs import NUMERIC, checked
from heldout.simulate.streams import stream
from heldout.split import HeldoutAccess, read_specs
from heldout.stats import mcnemar_exact
from heldout.store import Ledger
from heldout.store.queries import runs
from heldout.truth import Spec

MODEL = "sim/anchored"


@pytest.fixture(scope="module", autouse=True)
def build_role() -> Iterator[None]:
    """These tests run as a build process."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


def _admitted(spec: Spec) -> Admitted:
    return Admitted(spec, "", Entry(spec, 0, portrait(spec)), frozenset())


def _pool(count: int) -> list[Admitted]:
    base = small_spec()
    return [_admitted(replace(base, id=f"inc-{n:04}", seed=n)) for n in range(count)]


@dataclass
class Noisy:
    """A model that passes each repeat with a chance of its own per incident, whatever it was told."""

    chance: Mapping[str, float]
    repeats: int = 3
    asked: list[tuple[str, int]] = field(default_factory=list)

    def __call__(self, incidents: Sequence[Admitted], name: str) -> dict[str, float]:
        self.asked.append((name, len(incidents)))
        rates = {}
        for one in incidents:
            draws = stream("noisy", name, one.spec.id).random(self.repeats)
            rates[one.spec.id] = float((draws < self.chance[one.spec.id]).mean())
        return rates


def _remade(groups: Sequence[Sequence[Spec]]) -> list[Result]:
    """Every first candidate is valid."""
    return [Result(_admitted(group[0]), ()) for group in groups]


def test_what_is_aced_is_raised_in_bounded_rounds():
    """An incident that stays aced is raised each round; one that fails is measured once."""
    pool = _pool(4)
    pool.append(_admitted(replace(pool[0].spec, id="inc-ctrl", kind="onset_control")))
    chance = {one.spec.id: 0.0 for one in pool} | {"inc-0000": 1.0, "inc-ctrl": 1.0}
    model = Noisy(chance)
    done = harden(pool, model, _remade, Counter(), rounds=2)
    assert done.raised == {"inc-0000": 2}
    assert done.solved == ["inc-0000"]
    assert [asked for _, asked in model.asked] == [4, 1, 1]
    assert len({name for name, _ in model.asked}) == 3
    before, after = pool[0].spec, done.pool[0].spec
    assert float(after.knobs["latency_days"]) > float(before.knobs["latency_days"])
    assert float(after.knobs["hops"]) > float(before.knobs["hops"])
    assert len(after.traps) > len(before.traps)
    assert [one.spec for one in done.pool[1:]] == [one.spec for one in pool[1:]]


def test_what_cannot_be_raised_stays_and_its_discards_count():
    """When the gate discards every raised form, the incident is kept as it was."""
    pool, discards = _pool(1), Counter[str]()
    done = harden(
        pool, Noisy({"inc-0000": 1.0}), lambda groups: [Result(None, ("oracle",) * 3)], discards
    )
    assert done.pool == pool
    assert done.solved == ["inc-0000"]
    assert discards == {"oracle": 3}


def test_knobs_are_raised_to_their_limits_and_no_further():
    """Every raised form is in range; at all limits there is none."""
    spec, steps = small_spec(knobs={"decoys": 1, "noise": 1.0, "hops": 1, "latency_days": 0.3}), 0
    while forms := raised_forms(spec, steps):
        spec, steps = forms[0], steps + 1
        assert all(checked(form.knobs) and len(form.traps) <= MOST_TRAPS for form in forms)
        assert all(form.fault == spec.fault and form.id == spec.id for form in forms)
        assert steps < 20
    assert all(spec.knobs[name] == NUMERIC[name].most for name in ("latency_days", "hops", "noise"))
    assert len(spec.traps) == MOST_TRAPS


def test_regression_to_the_mean_is_no_gain():
    """What chose the incidents is biased; two fresh measurements of them agree.

    All incidents are alike, so an honest before and after with one brain must agree. The rates that
    hardening kept them by are lower than the truth by chance alone: as a baseline they would show a
    gain. Labels and both arms of a score come from runs of their own, and show none.
    """
    pool = _pool(400)
    model = Noisy({one.spec.id: 0.6 for one in pool})
    done = harden(pool, model, lambda groups: [Result(None, ()) for _ in groups], Counter())
    kept = [one for one in done.pool if one.spec.id not in set(done.solved)]
    assert 0 < len(kept) < len(pool)

    def mean(name: str) -> float:
        return sum(model(kept, name).values()) / len(kept)

    labels, before, after = mean("labels"), mean("score before"), mean("score after")
    noise = 3 * (0.6 * 0.4 / (3 * len(kept)) * 2) ** 0.5
    assert labels - mean("harden-1") > noise
    assert abs(labels - before) < noise
    assert abs(after - before) < noise


@pytest.fixture(scope="module")
def hardened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, SetReport]:
    """A small set, hardened against the anchored model."""
    settings = project(tmp_path_factory.mktemp("hardened"), brain=True)
    plan = replace(PLAN, traps=3, onset_controls=1, no_change=0, spare=1.0)
    yardstick = Yardstick(settings, plan.name, MODEL, load_brain(settings.brain), repeats=2)
    return settings, make_set(settings, plan, against=yardstick, rounds=1)


def test_labels_are_measured_apart_and_stand_in_no_spec(hardened: tuple[Settings, SetReport]):
    """They name model, brain, repeats and day, cover the set, and come from runs of their own."""
    settings, report = hardened
    directory = settings.set_dir("tiny")
    labels = read_labels(directory)
    assert labels is not None
    assert (labels.model, labels.repeats) == (MODEL, 2)
    assert labels.brain == load_brain(settings.brain).hash
    assert set(labels.rates) == {path.stem for path in (directory / "specs").iterdir()}
    specs = (*read_specs(directory, "train"), *read_specs(directory, "test", HeldoutAccess()))
    assert all(checked(spec.knobs) for spec in specs)
    assert "hardened against sim/anchored" in "\n".join(report.lines())
    assert "made 0" in build_everything(settings, "tiny", workers=1).text
    assert len(list(settings.worlds.iterdir())) == len(specs)
    with Ledger.open(settings.ledger) as ledger:
        played = {row.run: row for row in runs(ledger)}
    assert {row.purpose for row in played.values()} == {"probe"}
    hardening = set(played) - set(labels.runs)
    assert hardening
    assert set(labels.runs) < set(played)


def _scored(settings: Settings, seed: int) -> RunResult:
    """Both halves of the set, played as a score plays them, with one brain in both arms."""
    brain = load_brain(settings.brain)
    access = HeldoutAccess()
    plan = Plan(
        purpose="score", set="tiny", model=MODEL,
        cases=(*cases(settings, "tiny", "train"), *cases(settings, "tiny", "test", access)),
        arms=(Arm("before", brain), Arm("after", brain)), repeats=2, seed=seed,
    )  # fmt: skip
    with Ledger.open(settings.ledger) as ledger:
        return asyncio.run(play(plan, ledger, settings, interface=WorldInterface()))


def test_a_noop_edit_on_a_hardened_set_shows_no_gain(hardened: tuple[Settings, SetReport]):
    """The same brain before and after: fresh runs, other noise, and no significant difference."""
    settings, _ = hardened
    labels = read_labels(settings.set_dir("tiny"))
    assert labels is not None
    one, two = _scored(settings, 11), _scored(settings, 12)
    assert not {one.run, two.run} & set(labels.runs)
    within = solved_by_incident(one.outcomes, one.plan, "before")
    assert within == solved_by_incident(one.outcomes, one.plan, "after")
    across = solved_by_incident(two.outcomes, two.plan, "after")
    fixed = sum(bool(across[name]) and not within[name] for name in within)
    broken = sum(bool(within[name]) and not across[name] for name in within)
    assert mcnemar_exact(fixed, broken) > 0.05


def test_a_measurement_is_paid_for_once_and_never_shared(hardened: tuple[Settings, SetReport]):
    """The same name is the same run; another name is another, with another noise."""
    settings, _ = hardened
    incidents = [
        Admitted(replace(small_spec(), id=case.incident.id, world_digest=case.incident.digest,
                         truth_digest=case.truth_digest, kind=case.kind), case.incident.alert,
                 Entry(small_spec(), 0, portrait(small_spec())), frozenset())
        for case in cases(settings, "tiny", "train")[:1]
    ]  # fmt: skip
    yardstick = Yardstick(settings, "tiny", MODEL, load_brain(settings.brain), repeats=1)
    first = yardstick.rates(incidents, "a")
    assert yardstick.rates(incidents, "a") == first
    yardstick.rates(incidents, "b")
    assert yardstick.runs["a"] != yardstick.runs["b"]
    assert yardstick.rates([], "none") == {}


def test_half_a_measurement_is_an_error(hardened: tuple[Settings, SetReport]):
    """A cap that leaves investigations unstarted makes no labels of what is left."""
    settings, _ = hardened
    case = cases(settings, "tiny", "train")[0]
    spec = replace(small_spec(), id=case.incident.id, world_digest=case.incident.digest,
                   truth_digest=case.truth_digest)  # fmt: skip
    one = Admitted(spec, case.incident.alert, Entry(spec, 0, portrait(spec)), frozenset())
    yardstick = Yardstick(
        settings, "tiny", MODEL, load_brain(settings.brain), repeats=2, max_usd=0.0
    )
    with pytest.raises(HeldoutError, match="'capped' is not complete"):
        yardstick.rates([one], "capped")


def test_labels_are_read_with_care(tmp_path: Path):
    """No file is no labels; a malformed one is named with its field."""
    assert read_labels(tmp_path) is None
    (tmp_path / FILE).write_text("model = 3\n", encoding="utf-8")
    with pytest.raises(SpecError, match="field 'model'"):
        read_labels(tmp_path)
    (tmp_path / FILE).write_text("model = \n", encoding="utf-8")
    with pytest.raises(SpecError, match="not TOML"):
        read_labels(tmp_path)
    assert [label(rate) for rate in (0.0, 0.3, 0.8, 1.0)] == ["never", "seldom", "often", "always"]
