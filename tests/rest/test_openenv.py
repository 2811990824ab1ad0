"""OpenEnv's own client against the served environment, and a guard for each of its surprises."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

openenv = pytest.importorskip(
    "openenv", reason="the extra is not installed: pip install 'heldout[openenv]'"
)

from openenv.core.generic_client import GenericEnvClient  # noqa: E402

from heldout.repair.defect import MECHANISMS  # noqa: E402
from heldout.repair.tasks import tasks  # noqa: E402
from heldout.rest.openenv import RepairAction, RepairEnvironment, served  # noqa: E402

REPORT = {"service": "shared", "file": "f.py", "symbol": "s", "mechanism": MECHANISMS[0]}
ROOT = Path(__file__).resolve().parents[2]
MIGRATION = next(
    one.id for one in tasks().values()
    if one.half == "train" and one.family == "migration" and one.seed == 0
)  # fmt: skip


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A served environment, stopped again."""
    child = subprocess.Popen(
        [sys.executable, "-m", "heldout.cli.main", "serve", "repair", "--openenv", "--port", "0"],
        stderr=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip
    assert child.stderr is not None
    found = None
    for _ in range(50):
        found = re.search(r"http://127\.0\.0\.1:\d+", child.stderr.readline())
        if found:
            break
    assert found
    yield found[0]
    child.send_signal(signal.SIGINT)
    child.wait(30)


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    """OpenEnv's client with a session of its own."""
    with GenericEnvClient(base_url=address).sync() as one:
        yield one


def call(client: Any, tool: str, **args: Any) -> Any:
    """One step as the client makes it."""
    return client.step({"tool": tool, "args": args})


def test_an_episode_is_played_to_its_grade(client: Any):
    """The right repair is paid the grade in sum, and the last step ends it."""
    begun = client.reset(task=MIGRATION)
    assert begun.observation["step"] == 0
    first = call(client, "list_migrations")
    assert (first.observation["step"], first.done) == (1, False)
    rewards = [first.reward]
    newest = re.findall(r'"name": "(\w+)"', first.observation["text"])[-1]
    rewards.append(call(client, "rollback_migration", migration=newest, restore=True).reward)
    last = call(client, "submit_report", **REPORT)
    rewards.append(last.reward)
    assert last.done
    assert last.observation["end_reason"] == "submitted"
    assert 0.5 < sum(rewards) <= 1.0


def test_sessions_are_apart_and_say_their_episode(address: str):
    """Two clients each have a step count and an episode of their own."""
    with (
        GenericEnvClient(base_url=address).sync() as one,
        GenericEnvClient(base_url=address).sync() as two,
    ):
        ids = {one.reset(index=0).observation["episode_id"],
               two.reset(index=0).observation["episode_id"]}  # fmt: skip
        call(one, "list_alerts")
        assert call(two, "list_alerts").observation["step"] == 1
        assert len(ids) == 2
        assert one.state()["step_count"] == 1


def test_a_step_before_a_reset_is_an_error_that_pays_nothing(client: Any):
    """So a client whose session was lost and opened anew does not play on unawares."""
    said = call(client, "list_alerts")
    assert (said.observation["is_error"], said.reward) == (True, 0.0)
    assert "reset first" in said.observation["text"]


def test_a_step_after_the_end_pays_nothing(client: Any):
    """The framework would take it; the environment does not."""
    client.reset(task=MIGRATION)
    call(client, "submit_report", **REPORT)
    after = call(client, "list_alerts")
    assert (after.observation["is_error"], after.reward, after.observation["step"]) == (
        True,
        0.0,
        1,
    )


def test_a_closed_environment_answers_with_an_error():
    """A reaped session's socket may stay open; what it reaches is shut."""
    one = RepairEnvironment()
    one.reset(task=MIGRATION)
    one.close()
    said = one.step(RepairAction(tool="list_alerts"))
    assert said.is_error
    assert "closed" in said.text
    assert one.reset(task=MIGRATION).is_error


def test_what_breaks_inside_is_unscored_and_not_told(monkeypatch: pytest.MonkeyPatch):
    """Exception text stays here; the reward is none, never 0."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("truth of the inside")

    one = RepairEnvironment()
    one.reset(task=MIGRATION)
    monkeypatch.setattr("heldout.repair.episode.Episode.call", broken)
    said = one.step(RepairAction(tool="list_alerts"))
    assert (said.reward, said.done, said.end_reason) == (None, True, "unscored")
    assert "truth" not in said.text
    one.close()


@pytest.mark.parametrize(
    "odd", [{"index": "x"}, {"index": None}, {"task": []}, {"episode_id": "e" * 101}]
)
def test_an_odd_reset_is_refused_in_words(client: Any, odd: dict[str, Any]):
    """No exception text reaches the client, and the session can go on."""
    said = client.reset(**odd)
    assert (said.observation["is_error"], said.reward) == (True, 0.0)
    assert not client.reset(task=MIGRATION).observation["is_error"]


def test_the_state_and_the_tasks_tell_nothing_more():
    """Ids that say nothing, the train half alone, and a state of five fields."""
    one = RepairEnvironment()
    one.reset(task=MIGRATION)
    assert set(one.state.model_dump()) == {
        "episode_id", "step_count", "task", "minute", "end_reason",
    }  # fmt: skip
    assert one.list_splits() == ["train"]
    assert [task["id"] for task in one.list_tasks("train")] == list(served())
    held = {task.id for task in tasks().values() if task.half == "test"}
    assert not held & set(served())
    with pytest.raises(IndexError):
        one.get_task("test", 0)
    assert one.reset(split="test").is_error
    one.close()


def test_the_frameworks_own_validation_passes(address: str):
    """Against the running server, and over the package's manifest."""
    command = [sys.executable, "-m", "openenv.cli", "validate"]
    done = subprocess.run([*command, "--url", address], capture_output=True, text=True, check=False)
    assert (done.returncode, "Verdict: PASS" in done.stdout) == (0, True), done.stdout
    package = str(ROOT / "deploy" / "openenv")
    done = subprocess.run(
        [*command, package, "--skip-build"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "FAIL" not in done.stdout
