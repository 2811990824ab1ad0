"""Sessions of the environment: side by side, cancelled, and broken at their end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from tests.agent.toy import BRAIN, INCIDENT, LIMITS, Scripted, Toy, ToySession, look, play, submit

from heldout.agent import SandboxFailure, Trace, investigate
from heldout.interface import ToolAnswer


class Meeting(Toy):
    """An environment whose ``look`` waits until two sessions look at the same time."""

    def open(self, task_ref: str, seed: int) -> ToySession:
        """A session that meets the other one."""
        session = super().open(task_ref, seed)
        plain = session.call

        def call(tool: str, args: Mapping[str, Any]) -> ToolAnswer:
            if tool == "look":
                self.barrier.wait(timeout=10)
            return plain(tool, args)

        session.call = call  # type: ignore[method-assign]
        return session

    barrier = threading.Barrier(2)


def test_a_slow_tool_holds_up_nobody_else():
    """Two investigations are inside their tools at once, in one event loop."""
    toy = Meeting()

    async def both() -> list[Trace]:
        return await asyncio.gather(
            *(
                investigate(
                    INCIDENT,
                    BRAIN,
                    Scripted((look(), submit())),
                    toy,
                    model="openai/x",
                    limits=LIMITS,
                    seed=seed,
                )
                for seed in (1, 2)
            )
        )

    assert [trace.stop_reason for trace in asyncio.run(both())] == ["submitted", "submitted"]


def test_a_cancelled_investigation_closes_its_session_after_the_call():
    """Cancelling waits for the call that runs, then closes; nothing runs on a closed session."""
    entered, release = threading.Event(), threading.Event()
    toy = Toy()
    order: list[str] = []
    plain_open = toy.open

    def opened(task_ref: str, seed: int) -> ToySession:
        session = plain_open(task_ref, seed)

        def call(tool: str, args: Mapping[str, Any]) -> ToolAnswer:
            entered.set()
            release.wait(10)
            order.append("answered")
            return ToolAnswer("{}")

        def close() -> None:
            order.append("closed")

        session.call, session.close = call, close  # type: ignore[method-assign]
        return session

    toy.open = opened  # type: ignore[method-assign]

    async def main() -> None:
        task = asyncio.create_task(
            investigate(
                INCIDENT, BRAIN, Scripted((look(),)), toy, model="openai/x", limits=LIMITS, seed=1
            )
        )
        while not entered.is_set():
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.sleep(0.02)
        assert not task.done()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert order == ["answered", "closed"]


@pytest.mark.parametrize("method", ["finish", "close"])
def test_an_environment_that_breaks_at_the_end_is_a_sandbox_failure(
    monkeypatch: pytest.MonkeyPatch, method: str
):
    """A session that breaks while it hands over or lets go is not the agent's fault either."""

    def broken(self: object) -> None:
        raise KeyError("gone")

    toy = Toy()
    monkeypatch.setattr("tests.agent.toy.ToySession." + method, broken)
    with pytest.raises(SandboxFailure, match=method):
        play(look(), submit(), toy=toy)
