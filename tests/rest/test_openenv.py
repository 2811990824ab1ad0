"""OpenEnv's own client and validator against the served environment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

openenv = pytest.importorskip(
    "openenv", reason="the extra is not installed: pip install 'heldout[openenv]'"
)

from openenv.core.generic_client import GenericEnvClient  # noqa: E402
from tests.rest.scripts import REPORT, edited  # noqa: E402

from heldout.repair.tasks import tasks  # noqa: E402
from heldout.rest.openenv import RepairEnvironment, served  # noqa: E402

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


def played(address: str, task: str) -> list[Any]:
    """Everything that a client sees of an episode with an edit in it."""
    with GenericEnvClient(base_url=address, message_timeout_s=120).sync() as client:
        seen = [client.reset(task=task, episode_id="e")]
        seen += [call(client, tool, **args) for tool, args in edited(task)]
        return [(one.observation, one.reward, one.done) for one in seen]


def test_sixteen_sessions_at_once_equal_one_after_another(address: str):
    """Observations and rewards are the same, whoever else edits meanwhile."""
    some = served()[::9]
    expected = {task: played(address, task) for task in some}
    wanted = [some[at % len(some)] for at in range(16)]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda task: played(address, task), wanted)) == [
            expected[task] for task in wanted
        ]
    assert len({str(one) for one in expected.values()}) == len(some)


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
