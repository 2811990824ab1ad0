"""Rewards of steps: they sum to the grade, no loop earns, and the environment's failure is none."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.repair.played import TEMPLATES, ask, change, look, repair, report

from heldout.repair.defect import Repair
from heldout.repair.episode import Episode
from heldout.repair.grade import grade
from heldout.repair.instance import Instance
from heldout.repair.interface import RepairInterface
from heldout.repair.reward import MENDED, Rewards
from heldout.repair.sandbox.runner import Sandbox, SandboxError
from heldout.repair.tasks import tasks


def watched(name: str = "features-after-cache") -> tuple[Episode, Rewards]:
    """An episode whose steps are rewarded; whoever asks closes it."""
    rewards = Rewards()
    return Episode(Instance(TEMPLATES[name], 0), Sandbox(), watch=rewards), rewards


def paid(rewards: Rewards) -> float:
    """What was paid so far."""
    return math.fsum(one or 0.0 for one in rewards.steps)


def test_a_repair_is_paid_when_it_is_made():
    """The edit that mends earns; the whole sums to the grade that an unwatched episode has."""
    episode, rewards = watched()
    look(episode)
    assert paid(rewards) == 0
    repair(episode, episode.instance.template.fix)
    assert rewards.steps[-1] == pytest.approx(MENDED, abs=0.25)
    report(episode)
    found = grade(episode)
    assert found.score is not None
    assert paid(rewards) == pytest.approx(found.score)
    assert len(rewards.steps) == len(episode.steps)
    assert all(one is not None and -1 <= one <= 1 for one in rewards.steps)
    assert rewards.grade == found
    episode.close()


def test_a_loop_earns_nothing():
    """Mending, taking back, viewing and testing again and again sums to what the first round paid."""
    episode, rewards = watched()
    place = episode.instance.truth.file
    ask(episode, "view_file", path=place)
    once = paid(rewards)
    assert once > 0
    for _ in range(3):
        change(episode, episode.instance.template.fix.changes[0])
        ask(episode, "view_file", path=place)
        ask(episode, "revert_edit")
        ask(episode, "run_tests", suite="unit")
        assert paid(rewards) == pytest.approx(once)
    episode.close()


def _mend(episode: Episode) -> None:
    change(episode, episode.instance.template.fix.changes[0])


def _spoil(episode: Episode) -> None:
    wrong: Repair = episode.instance.template.wrong[1]
    change(episode, wrong.changes[0])


MOVES: dict[str, Callable[[Episode], object]] = {
    "view": lambda one: one.call("view_file", {"path": one.instance.truth.file}),
    "view another": lambda one: one.call("view_file", {"path": "shared/db.py"}),
    "revert": lambda one: one.call("revert_edit", {}),
    "mend": _mend,
    "spoil": _spoil,
    "nonsense": lambda one: one.call("reboot", {"all": True}),
    "hint": lambda one: one.call("ask_senior", {}),
}


def check_sum(moves: list[str], *, reported: bool) -> None:
    """Play moves, end, and compare what was paid with the grade."""
    episode, rewards = watched()
    for move in moves:
        try:
            MOVES[move](episode)
        except ValueError:
            continue  # What was to be changed does not stand there any more.
    if reported:
        report(episode, evidence=[])
    score = rewards.settle(episode).score
    assert score is not None
    assert paid(rewards) == pytest.approx(score)
    assert len(rewards.steps) == len(episode.steps)
    episode.close()


@pytest.mark.parametrize("reported", [True, False])
def test_rewards_sum_to_the_grade(reported: bool):
    """With a report and without: the sum is the grade, since a beginning's potential is 0."""
    check_sum(["view", "spoil", "revert", "nonsense", "hint"], reported=reported)


@pytest.mark.slow
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
@given(
    moves=st.lists(st.sampled_from(sorted(MOVES)), min_size=1, max_size=8), reported=st.booleans()
)
def test_all_rewards_sum_to_the_grade(moves: list[str], reported: bool):
    """The same whatever is done, in whatever order."""
    check_sum(moves, reported=reported)


def test_the_same_actions_earn_the_same():
    """Two plays of one episode have equal rewards, to the last digit."""
    seen = []
    for _ in range(2):
        episode, rewards = watched()
        ask(episode, "view_file", path=episode.instance.truth.file)
        _mend(episode)
        report(episode, evidence=[])
        seen.append(rewards.steps)
        episode.close()
    assert seen[0] == seen[1]


def test_a_failure_of_the_environment_is_no_reward(monkeypatch: pytest.MonkeyPatch):
    """Where probes cannot run every reward is None, those before included, and none is 0."""
    episode, rewards = watched()
    ask(episode, "list_alerts")

    def broken(*_: object, **__: object) -> None:
        raise SandboxError("the sandbox does not come up")

    monkeypatch.setattr("heldout.repair.reward.probe", broken)
    _mend(episode)
    assert rewards.steps == [None, None]
    assert rewards.settle(episode).score is not None
    assert rewards.steps == [None, None]
    assert "does not come up" in rewards.unscored
    episode.close()


def test_an_agent_sees_no_reward():
    """With and without rewards every answer has the same bytes."""
    episode, _ = watched()
    plain = Episode(Instance(TEMPLATES["features-after-cache"], 0), Sandbox())
    for one in (episode, plain):
        ask(one, "view_file", path=one.instance.truth.file)
        _mend(one)
    assert [one.text for one in episode.steps] == [one.text for one in plain.steps]
    assert [one.chain for one in episode.steps] == [one.chain for one in plain.steps]
    episode.close()
    plain.close()


def test_a_session_has_rewards_where_they_are_asked_for():
    """Off unless a trainer says so."""
    name = next(one.id for one in tasks().values() if one.half == "train")
    plain, rewarded = (RepairInterface(rewards=on).open(name, 0) for on in (False, True))
    for session in (plain, rewarded):
        session.call("list_alerts", {})
        session.close()
    assert plain.rewards is None
    assert rewarded.rewards is not None
    assert rewarded.rewards.steps == [0.0]
