"""What the settings say about wires, roles and prices reaches the clients that jobs open."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.llm import responses, wire

from heldout.canaries import Watch
from heldout.llm import ModelRequest
from heldout.llm.limiter import limiter_for
from heldout.run.plan import Plan, Terms
from heldout.run.play import _open_client
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
