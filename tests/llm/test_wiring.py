"""What the settings say about wires, roles and prices reaches the clients that jobs open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tests.agent.toy import BRAIN, INCIDENT, LIMITS, Toy
from tests.llm import responses, wire

from heldout.agent import JournalEntry, Trace, investigate
from heldout.canaries import Watch
from heldout.llm import ModelRequest, open_client
from heldout.llm.limiter import limiter_for
from heldout.run.opening import _open_client
from heldout.run.plan import Plan, Terms
from heldout.settings import GateSettings, Models, Settings
from heldout.tune.job import _client
from heldout.tune.options import TuneOptions
from heldout.tune.reviewing import reviewing

HELLO = ModelRequest(({"role": "user", "content": "hello"},))


def test_a_run_asks_over_the_wire_of_its_plan_with_the_projects_prices(tmp_path: Path):
    """The plan's wire is spoken, and a price of the project is the reply's cost."""
    (tmp_path / "prices.toml").write_text('[local."m"]\ninput = 10\noutput = 0\n')

    async def main(url: str) -> float | None:
        plan = Plan("train", "s", "local/m", (), (), 1, base_url=url, terms=Terms(wire="responses"))
        client = _open_client(Settings(tmp_path), plan)
        reply = await client.complete(HELLO)
        await client.aclose()
        return reply.usd

    with wire.WireServer(responses.text("hi")) as server:
        assert asyncio.run(main(server.url)) == 100 * 10 / 1e6
        assert server.requests[0].path == "/v1/responses"


def test_the_proposer_and_the_reviewer_have_their_own_wire_and_slots(tmp_path: Path):
    """Each job's client works under its role's limiter; the proposer over its own wire."""

    async def main(url: str) -> list[str]:
        settings = Settings(
            tmp_path,
            models=Models(proposer_base_url=url, proposer_wire="responses"),
            gate=GateSettings(reviewer="local/r", reviewer_base_url=url),
        )
        client, opened = _client(settings, "local/m", TuneOptions())
        assert client.limiter is limiter_for("local", "m", url, "proposer")
        await client.complete(HELLO)
        await opened.aclose()
        async with reviewing(settings, Watch()) as reviewer:
            assert reviewer is not None
            assert limiter_for("local", "r", url, "reviewer").ceiling == 8
            assert limiter_for("local", "r", url, "agent").ceiling == 1
        return [asked.path for asked in server.requests]

    with wire.WireServer(responses.text("hi")) as server:
        assert asyncio.run(main(server.url)) == ["/v1/responses"]


def test_an_investigation_over_responses_keeps_its_reasoning_to_itself():
    """Reasoning goes back each turn, stands in no trace, and a replay asks for nothing again."""
    thoughts = [responses.reasoning(number, f"secret-{number}") for number in (1, 2)]
    steps = [
        responses.says(thoughts[0], responses.function_call("look", '{"q": "a"}', "c1")),
        responses.says(thoughts[1], responses.function_call("look", '{"q": "b"}', "c2")),
        responses.says(responses.function_call("submit_diagnosis", '{"mechanism": "m"}', "c3")),
    ]
    journal: list[JournalEntry] = []

    async def main(url: str, recorded: Sequence[JournalEntry]) -> Trace:
        async with open_client("local/m", base_url=url, wire="responses") as client:
            return await investigate(
                INCIDENT,
                BRAIN,
                client,
                Toy(),
                model="local/m",
                limits=LIMITS,
                seed=1,
                on_step=journal.append,
                resume_steps=recorded,
            )

    with wire.WireServer(*steps) as server:
        trace = asyncio.run(main(server.url, ()))
        kept = [JournalEntry.from_json(entry.to_json()) for entry in journal]
        again = asyncio.run(main(server.url, kept))
        assert len(server.requests) == 3
    kinds = [item["type"] for item in server.requests[2].body["input"]]
    turn = ["reasoning", "function_call", "function_call_output"]
    assert kinds == ["message", "message", *turn, *turn]
    assert server.requests[2].body["input"][2]["encrypted_content"] == "secret-1"
    assert (trace.stop_reason, trace.reasoning_tokens) == ("submitted", 3 * 4)
    assert "secret" not in repr(trace)
    assert again.messages == trace.messages
