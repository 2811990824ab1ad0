"""Reasoning tokens of a run's replies stand in its rows, also where an attempt failed half-way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import run_stubs as stubs

from heldout.llm import ModelReply, ModelRequest
from heldout.run import outcomes, play
from heldout.store import Ledger
from heldout.store import queries as stored


class Reasoning(stubs.ScriptedClient):
    """Seven tokens of reasoning in each reply."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One reply."""
        reply = await super().complete(request)
        return replace(reply, usage=replace(reply.usage, reasoning_tokens=7))


def test_reasoning_tokens_are_kept(tmp_path: Path):
    """Rows and traces hold seven for each call; a failed attempt holds those it paid for."""
    settings = stubs.settings_of(tmp_path)
    plan = stubs.plan_of(
        [stubs.case(tmp_path, "i-1"), stubs.case(tmp_path, "i-2", "down1")], max_invalid=1.0
    )
    with Ledger.open(settings.ledger) as ledger:
        result = asyncio.run(
            play(
                plan,
                ledger,
                settings,
                interface=stubs.StubInterface(),
                client_factory=lambda _: Reasoning(),
                judge=stubs.judge,
            )
        )
        rows = stored.investigations(ledger, result.run)
        traces = [one.trace for one in outcomes(ledger, result.run) if one.trace]
    assert {row.reason for row in rows} > {""}
    for row in rows:
        assert row.reasoning_tokens == 7 * row.calls
    assert traces
    assert all(trace.reasoning_tokens == 7 * trace.calls for trace in traces)
