"""One incident over MCP and HTTP: real processes, the official client, SREGym's endpoints."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from tests.graph.worlds import cid, eid
from tests.serve.conftest import ALERT, FOREIGN

from heldout.errors import ConfigError
from heldout.graph import open_interface
from heldout.run import outcomes
from heldout.scaffold import make_project
from heldout.serve import process
from heldout.serve.process import Served, Serving
from heldout.serve.sitting import Assignment, Sitting
from heldout.serve.solution import read_solution
from heldout.split import Split, read_split, write_split
from heldout.store import Ledger, queries

DEMO = Path(__file__).resolve().parents[2] / "datasets" / "demo"
SECRET = "sk-a-key-of-nobody-0123456789"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one train incident of the demo's set, and a held-out one."""
    home = tmp_path_factory.mktemp("served") / "project"
    make_project(home)
    target = home / "datasets" / "incidents"
    split = read_split(DEMO)
    for chosen in (split.train[0], split.test[0]):
        shutil.copy(DEMO / "specs" / f"{chosen}.toml", target / "specs")
        shutil.copy(DEMO / "alerts" / f"{chosen}.md", target / "alerts")
    write_split(Split("incidents", split.train[:1], split.test[:1]), target)
    shutil.copy(FOREIGN, home / "agent.py")
    return home


def heldout(project: Path, *words: str, code: int = 0) -> str:
    """Run the command; what it prints, or on an error what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", *words], cwd=project, capture_output=True,
        text=True, check=False, env={**os.environ, "ACME_API_KEY": SECRET},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


def served(assignment: Assignment, play: Callable[[Serving], Awaitable[None]]) -> Served:
    """Serve the small world, let ``play`` work, and return the record."""

    async def run() -> Served:
        serving = await Serving.start(assignment)
        try:
            await play(serving)
        finally:
            record = await serving.stop()
        return record

    return asyncio.run(run())


async def asked(session: ClientSession, tool: str, **args: Any) -> dict[str, Any]:
    """One call's answer."""
    result = await session.call_tool(tool, args)
    return dict(json.loads(result.content[0].text))  # type: ignore[union-attr]


def test_the_official_client_over_stdio(project: Path):
    """Tools, alert, errors and the submission; then a verdict on disk that names no secret."""
    incident = read_split(project / "datasets" / "incidents").train[0]
    server = StdioServerParameters(
        command=sys.executable, cwd=str(project),
        args=["-m", "heldout.cli.main", "serve", "mcp", incident, "--tools", "kubectl,git"],
    )  # fmt: skip

    async def play() -> None:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            told = await session.initialize()
            alert = (await session.get_prompt("alert")).messages[0].content.text  # type: ignore[union-attr]
            assert alert in (told.instructions or "")
            resource = (await session.read_resource("heldout://alert")).contents[0]  # type: ignore[arg-type]
            assert resource.text == alert  # type: ignore[union-attr]
            names = [tool.name for tool in (await session.list_tools()).tools]
            assert names == ["kubectl", "git", "submit_diagnosis"]
            assert "NAME" in (await asked(session, "kubectl", command="get deploy -A"))["output"]
            assert (await asked(session, "kubectl", line="x"))["error"][
                "type"
            ] == "unknown_argument"
            assert (await asked(session, "nope"))["error"]["type"] == "unknown_tool"
            answer = await asked(
                session, "submit_diagnosis", root_cause_entity="none", root_cause_change="none",
                mechanism="nothing is wrong",
            )  # fmt: skip
            assert answer == {"accepted": True}

    asyncio.run(play())
    kept = list((project / ".heldout" / "served").glob("*.json"))
    assert len(kept) == 1
    record = json.loads(kept[0].read_text())
    assert [step["tool"] for step in record["steps"]] == [
        "kubectl", "kubectl", "nope", "submit_diagnosis",
    ]  # fmt: skip
    assert record["verdict"]["result"] in ("pass", "fail")


def test_only_train_incidents_are_served(project: Path):
    """A held-out incident is refused before anything is served."""
    split = read_split(project / "datasets" / "incidents")
    said = heldout(project, "serve", "mcp", split.test[0], code=2)
    assert "no such train incident" in said


def test_the_official_client_over_http(world: Path):
    """The same over streamable HTTP, at an address that only its holder knows; limits hold."""

    async def play(serving: Serving) -> None:
        url = await serving.url()
        async with (
            streamablehttp_client(url) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            for _ in range(2):
                assert "rows" in await asked(session, "search_entities", query="quay")
            assert (await asked(session, "check_health"))["error"]["type"] == "limit_reached"
            answer = await asked(
                session, "submit_diagnosis", root_cause_entity=eid(4), root_cause_change=cid(1),
                mechanism="the pool was shrunk",
            )  # fmt: skip
            assert answer == {"accepted": True}
            assert "ended" in (await asked(session, "check_health"))["error"]["message"]
        async with httpx2.AsyncClient() as client:
            assert (await client.post(f"{await serving.base()}/mcp")).status_code == 404
            foreign = {
                "host": "evil.example",
                "content-type": "application/json",
                "accept": "application/json, text/event-stream",
            }
            assert (await client.post(url, headers=foreign, content="{}")).status_code == 421

    told = Assignment(str(world), ALERT, max_steps=2, transport="http", prefix="/hard-to-guess")
    record = served(told, play)
    assert [step["index"] for step in record.steps] == [0, 1, 2]
    assert record.limit == "max_steps"
    assert record.submission is not None
    assert record.submission.root_cause_change == cid(1)
    assert record.ended


def test_sregyms_endpoints(world: Path):
    """App, status, one submission; the answer never says whether it is right."""
    solution = f"ConfigMap quay-settings ({eid(4)}) was cut by {cid(1)}, not {cid(2)}"

    async def play(serving: Serving) -> None:
        async with httpx2.AsyncClient(base_url=await serving.base()) as client:
            app = (await client.get("/get_app")).json()
            assert app.keys() == {"app_name", "namespace", "descriptions"}
            assert ALERT in app["descriptions"]
            assert (await client.get("/status")).json() == {"stage": "diagnosis"}
            assert (await client.post("/submit", json={"text": "x"})).status_code == 422
            done = await client.post("/submit", json={"solution": solution})
            assert done.json() == {"status": "200", "message": "Submission received"}
            assert (await client.get("/status")).json() == {"stage": "done"}
            again = await client.post("/submit", json={"solution": solution})
            assert again.json()["status"] == "done"

    told = Assignment(str(world), ALERT, transport="http", prefix="/p", sregym=True)
    record = served(told, play)
    assert record.submission is not None
    assert record.submission.root_cause_entity == eid(4)
    assert record.submission.root_cause_change == cid(1)
    assert record.submission.mechanism == solution


@pytest.mark.parametrize(
    ("solution", "entity", "change"),
    [
        (f"{eid(4)} was cut by {cid(1)}, then {eid(2)} failed", eid(4), cid(1)),
        ("the cause is Cache/quay-cache. It is full", eid(6), "none"),
        ("service/quay-core is down in both clusters", "none", "none"),
        ("", "none", "none"),
        (json.dumps({"root_cause_entity": eid(3), "root_cause_change": cid(2)}), eid(3), cid(2)),
        ("[" * 100_000, "none", "none"),
    ],
)
def test_a_solution_in_prose_is_read_for_ids(world: Path, solution: str, entity: str, change: str):
    """The first ids count, a name only where one entity bears it, JSON as it is."""
    sitting = Sitting(Assignment(str(world), ALERT), open_interface("git"), lambda line: None)
    found = read_solution(sitting, solution)
    assert (found["root_cause_entity"], found["root_cause_change"]) == (entity, change)


def test_heldout_run_with_a_foreign_agent(project: Path):
    """The whole way: a program plays train incidents, and its results are rows like any other."""
    state = project / ".heldout"
    truth = next((state / "truths").rglob("*.*"), project / "datasets")
    spec = next((project / "datasets" / "incidents" / "specs").iterdir())
    (project / "heldout.toml").write_text(
        'name = "x"\nset = "incidents"\n[agent]\nenv = ["ACME_API_KEY"]\ntools = "git"\n'
        "[run]\nconcurrency = 1\n"
    )
    words = f"environment open={spec} open={truth} open={state}/ledger.duckdb usage submit"
    command = f"{sys.executable} agent.py {words}"
    told = ["--agent-command", command, "--repeats", "2", "--quiet"]
    capped = heldout(project, "run", *told, "--max-tokens", "1")
    assert "cap of 1 tokens is reached: 1 not started" in capped
    # What it is resumed with stands in its manifest, not in the settings.
    settings = (project / "heldout.toml").read_text()
    (project / "heldout.toml").write_text(settings.replace('tools = "git"', 'tools = "kubectl"'))
    said = heldout(project, "resume", "--quiet")
    assert "program/agent" in said
    assert "coverage 100%" in said
    assert "0.02 USD" in said
    with Ledger.open(state / "ledger.duckdb", read_only=True) as ledger:
        run = queries.runs(ledger, purpose="train")[-1]
        found = list(outcomes(ledger, run.run))
        messages = [list(one.trace.messages) for one in found if one.trace]
    assert run.manifest["terms"]["tools"] == "git"
    assert run.manifest["terms"]["agent_command"] == command
    assert len(messages) == 2
    assert {one.trace.stop_reason for one in found if one.trace} == {"submitted"}
    for said_ in messages:
        printed = said_[-1]["content"]
        assert "ACME_API_KEY" in printed
        assert SECRET not in json.dumps(said_)
        assert "OPENED" not in printed
        assert printed.count("REFUSED PermissionError") == 3
    shown = heldout(project, "show", run.run[:8], found[0].incident)
    assert "submit_diagnosis" in shown
    with (project / "agent.py").open("a") as file:
        file.write("# another version\n")
    changed = heldout(project, "resume", run.run[:8], "--repeats", "3", "--quiet", code=1)
    assert "the agent's program has changed since this run began" in changed


@pytest.mark.slow
def test_a_score_plays_a_program(project: Path):
    """The held-out half is served from the score's process, and counted like a model's."""
    (project / "heldout.toml").write_text(
        f'set = "incidents"\n[models]\nagent = "program/x"\n[agent]\ntools = "git"\n'
        f'command = "{sys.executable} agent.py usage submit"\n[score]\nrepeats = 1\n'
    )
    played = heldout(project, "run", "--repeats", "1", "--quiet")
    before = played.split("brain ")[1].split()[0]
    with (project / "brain" / "method.md").open("a") as file:
        file.write("\nLook at what changed before the day of the alert.\n")
    said = heldout(project, "score", "--before", before)
    assert "program/x" in said
    assert "USD per run" in said
    assert "tool calls per run" in said


def test_serving_without_the_sdk_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    """Without the extra the error names what to install."""
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"heldout\[mcp\]"):
        process.require_mcp()


def test_a_program_is_not_booked_as_a_simulated_model(project: Path):
    """Results of a program under the name of a simulated model are refused."""
    said = heldout(
        project, "run", "--agent-command", f"{sys.executable} agent.py submit", "--model",
        "sim/anchored@low", code=1,
    )  # fmt: skip
    assert "simulated model" in said
    said = heldout(project, "run", "--model", "sim/anchored@low", "--tools", "git", code=1)
    assert "knows the native tools only" in said


def test_serving_over_http_by_hand_ends_with_ctrl_c(project: Path):
    """The address is told on standard error; an interrupt ends it cleanly, with a record."""
    incident = read_split(project / "datasets" / "incidents").train[0]
    words = [sys.executable, "-m", "heldout.cli.main", "serve", "mcp", incident, "--http", "0"]
    serving = subprocess.Popen(
        words, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert serving.stderr is not None
    assert "http://127.0.0.1:" in serving.stderr.readline()
    serving.send_signal(signal.SIGINT)
    out, err = serving.communicate(timeout=30)
    assert serving.returncode == 0, err
    assert out == ""
    assert "nothing was submitted" in err
