"""A process killed while it waits for the judge: what was finished is not paid for again."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

from judge_server import JudgeServer, Seen, all_hold
from judge_stubs import Interface
from run_stubs import LOOKS, ScriptedClient, case, plan_of, settings_of

from heldout.run import Terms, play
from heldout.store import Ledger, queries

CHILD = textwrap.dedent(
    """
    import sys
    sys.path[:0] = {paths!r}
    from test_killed_judging import played
    from pathlib import Path
    played(Path({root!r}), {url!r})
    """
)


def played(root: Path, url: str) -> tuple[ScriptedClient, Any, queries.Cost]:
    """Three incidents, one at a time, judged at a server."""
    client = ScriptedClient()

    async def go() -> tuple[Any, queries.Cost]:
        one = plan_of(
            [case(root, f"i{number}") for number in range(3)],
            repeats=1, concurrency=1, arms=plan_of([]).arms[:1],
            terms=Terms(judge="llm", judge_models=("lab/judge",), judge_base_url=url),
        )  # fmt: skip
        with Ledger.open(root / "ledger.duckdb") as ledger:
            result = await play(
                one, ledger, settings_of(root), interface=Interface(),
                client_factory=lambda _: client,
            )  # fmt: skip
            return result, queries.cost(ledger, run=result.run)

    return client, *asyncio.run(go())


def test_killed_while_the_judge_thinks(tmp_path: Path, server: JudgeServer):
    """The second verdict is cut off by SIGKILL: afterwards only its judge and the third are paid."""
    waiting, release = threading.Event(), threading.Event()

    def think(seen: Seen) -> dict[str, Any]:
        if len(server.seen) == 2:
            waiting.set()
            release.wait(30)
        return all_hold(seen)

    server.think = think
    here = Path(__file__).parent
    paths = [str(here), str(here.parent / "run")]
    code = CHILD.format(paths=paths, root=str(tmp_path), url=server.url)
    child = subprocess.Popen([sys.executable, "-c", code])
    try:
        assert waiting.wait(60)
    finally:
        child.kill()
        child.wait()
        release.set()
    client, result, cost = played(tmp_path, server.url)
    assert [one.verdict.result for one in result.outcomes] == ["pass"] * 3
    assert client.calls == LOOKS + 1
    assert cost.calls == 3 * (LOOKS + 1)
    assert len(server.seen) == 4
