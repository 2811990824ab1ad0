"""What a simulated model says depends on the conversation alone, not on what it answered before."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from heldout.llm.simulated import agents, handle
from heldout.llm.simulated.underway import Waiting

BRAIN = "Look at the changes of the past 14 days.\nRead the diff before you blame a change."


def conversation(bench: Any, world: Any, *, seed: int, model: str) -> list[dict[str, Any]]:
    """Every request of one investigation, in order, until it submits."""
    offered = [{"type": "function", "function": {"name": t, "parameters": {}}} for t in bench.tools]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": BRAIN},
        {"role": "user", "content": bench.alert(seed)},
    ]
    bodies = []
    for _ in range(60):
        body = {"model": model, "messages": list(messages), "tools": offered, "seed": seed}
        bodies.append(body)
        message = handle(body)["choices"][0]["message"]
        messages.append(message)
        (call,) = message["tool_calls"]
        name, args = call["function"]["name"], json.loads(call["function"]["arguments"])
        if name == "submit_diagnosis":
            return bodies
        told = world.call(name, args)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": told})
    raise AssertionError("it never submitted")


def anew(monkeypatch: pytest.MonkeyPatch, body: dict[str, Any]) -> dict[str, Any]:
    """The reply of a process that has answered nothing yet."""
    with monkeypatch.context() as patch:
        patch.setattr(agents, "_WAITING", Waiting())
        return handle(body)


@pytest.mark.parametrize("model", ["anchored", "scattered"])
def test_replies_are_those_of_a_process_that_begins_in_the_middle(
    bench: Any, monkeypatch: pytest.MonkeyPatch, model: str
):
    """Of every world and turn, in any order and twice, the reply is the one of a fresh start."""
    bodies = [
        body
        for seed in (1, 2)
        for world in (bench.latent(), bench.onset(), bench.patchy())
        for body in conversation(bench, world, seed=seed, model=model)
    ]
    wanted = [anew(monkeypatch, body) for body in bodies]
    assert [handle(body) for body in bodies] == wanted
    order = list(range(len(bodies))) * 2
    random.Random(3).shuffle(order)
    assert [handle(bodies[at]) for at in order] == [wanted[at] for at in order]


def test_an_answer_that_differs_is_not_taken_for_the_one_before(
    bench: Any, monkeypatch: pytest.MonkeyPatch
):
    """Two conversations that part at their third answer each go their own way."""
    first = conversation(bench, bench.latent(), seed=1, model="anchored")
    for body in first[:5]:
        handle(body)
    body = first[5]
    messages = [dict(message) for message in body["messages"]]
    told = [message for message in messages if message["role"] == "tool"]
    told[2]["content"] = '{"error": {"type": "unavailable", "message": "no data", "near": []}}'
    other = {**body, "messages": messages}
    assert handle(other) == anew(monkeypatch, other)


def test_a_program_is_gone_on_with(bench: Any, monkeypatch: pytest.MonkeyPatch):
    """A whole conversation begins its program once, not at every request."""
    begun = []
    temper, program = agents._PROGRAMS["anchored"]
    counted = {"anchored": (temper, lambda *given: begun.append(1) or program(*given))}
    monkeypatch.setattr(agents, "_PROGRAMS", counted)
    monkeypatch.setattr(agents, "_WAITING", Waiting())
    assert len(conversation(bench, bench.latent(), seed=1, model="anchored")) > 5
    assert len(begun) == 1
