"""A small agent that knows nothing of heldout: the MCP client, a scripted policy, its own loop.

What it does besides is told by words on its command line, for the tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def investigate(session: ClientSession) -> None:
    """Look at the newest changes of what fails most, and blame the newest."""

    async def ask(tool: str, **args: Any) -> dict[str, Any]:
        result = await session.call_tool(tool, args)
        return dict(json.loads(result.content[0].text))

    tools = {tool.name for tool in (await session.list_tools()).tools}
    if "git" in tools:
        log = (await ask("git", command="git log -n 1"))["output"]
        words = log.split()
        change = words[words.index("Change-Id:") + 1]
        entity = words[words.index("Entity:") + 1]
    else:
        window = {"since": "2000-01-01", "until": "2100-01-01"}
        newest = (await ask("list_changes", **window, types=["config", "deploy"]))["rows"][0]
        change, entity = newest["id"], newest["entities"][0]["id"]
    answer = await ask(
        "submit_diagnosis",
        root_cause_entity=entity,
        root_cause_change=change,
        mechanism="the newest change broke it",
        evidence_ids=[change],
    )
    assert answer == {"accepted": True}, answer


async def main(words: list[str]) -> None:
    """Do what the words say, in order."""
    async with (
        streamablehttp_client(os.environ["HELDOUT_MCP_URL"]) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        told = await session.initialize()
        assert told.instructions
        alert = Path(os.environ["HELDOUT_ALERT"]).read_text()
        assert alert in told.instructions
        assert (Path(os.environ["HELDOUT_BRAIN"]) / "brain.toml").is_file()
        for word in words:
            await act(word, session)


async def act(word: str, session: ClientSession) -> None:
    """One thing."""
    scratch = Path(os.environ["HELDOUT_SCRATCH"])
    name, _, value = word.partition("=")
    if name == "submit":
        await investigate(session)
    elif name == "usage":
        used = {"input_tokens": 900, "output_tokens": 80, "calls": 3, "usd": 0.01, "model": "m-1"}
        Path(os.environ["HELDOUT_USAGE"]).write_text(json.dumps(used))
    elif name == "crash":
        raise RuntimeError("the agent fell over")
    elif name == "hang":
        time.sleep(600)
    elif name == "children":
        # One in its own session, one that was orphaned: neither is in the program's group.
        script = (
            f"import time,os; open({value!r},'a').write(f'{{os.getpid()}}\\n'); time.sleep(600)"
        )
        subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
        subprocess.run(["sh", "-c", f'"{sys.executable}" -c "$0" &', script], check=True)
        while len(Path(value).read_text().split() if Path(value).exists() else "") < 2:
            time.sleep(0.02)
    elif name == "calls":
        for number in range(int(value)):
            await session.call_tool("search_entities", {"query": f"a{number}"})
    elif name == "skill":
        result = await session.call_tool("read_skill", {"name": value})
        print("SKILL", result.isError, result.content[0].text)
    elif name == "stdio":
        program, *rest = shlex.split(os.environ["HELDOUT_MCP_COMMAND"])
        config = json.loads(Path(os.environ["HELDOUT_MCP_CONFIG"]).read_text())
        assert config["mcpServers"]["heldout"]["url"] == os.environ["HELDOUT_MCP_URL"]
        parameters = StdioServerParameters(command=program, args=rest)
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as other:
            await other.initialize()
            await investigate(other)
    elif name == "noise":
        print("y" * int(value))
    elif name == "open":
        try:
            print("OPENED", len(Path(value).read_bytes()))
        except OSError as error:
            print("REFUSED", type(error).__name__)
    elif name == "write":
        try:
            Path(value).write_text("x")
            print("WROTE", value)
        except OSError as error:
            print("REFUSED", type(error).__name__)
    elif name == "environment":
        print("ENVIRONMENT", json.dumps(sorted(os.environ)), scratch.is_dir(), os.getcwd())
    else:
        raise ValueError(word)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
