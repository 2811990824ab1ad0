"""A program as the agent: what it is judged by, what ends it, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.serve.conftest import BRAIN, FOREIGN, investigated

from heldout.agent import SandboxFailure
from heldout.agent.program import ProgramAgent, ProgramOptions
from heldout.agent.program.workplace import Usage, Workplace
from heldout.behaviour.closed_book import AlertOnly
from heldout.brain import Brain
from heldout.errors import ConfigError
from heldout.graph import WorldInterface
from heldout.incident import Incident
from heldout.run import Limits
from heldout.serve.process import Serving


def alive(pids: list[int]) -> list[int]:
    """Those processes that still run."""
    found = []
    for pid in pids:
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z":
            found.append(pid)
    return found


def gone(pids: list[int], seconds: float = 15.0) -> bool:
    """Whether all of them end within some seconds."""
    deadline = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pids)


def test_a_program_leaves_a_normal_trace(world: Path):
    """Steps are what was served, the conversation is written from them, usage is what it says."""
    trace = asyncio.run(investigated(world, "usage", "noise=40000", "submit", tools="git"))
    assert trace.stop_reason == "submitted"
    assert [step.tool for step in trace.steps] == ["git", "submit_diagnosis"]
    assert trace.steps[0].shown_ids
    assert trace.submission.complete
    assert trace.submission.root_cause_change in trace.steps[0].shown_ids
    assert (trace.usd, trace.input_tokens, trace.output_tokens, trace.calls) == (0.01, 900, 80, 3)
    assert trace.served_model == "m-1"
    roles = [message["role"] for message in trace.messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert "Look before the day" in trace.messages[0]["content"]
    printed = trace.messages[-1]["content"]
    assert "bytes left out" in printed
    assert len(printed) < 17_000


def test_a_crash_is_the_programs_own_and_leaves_no_children(world: Path, tmp_path: Path):
    """It ends as a crash without an answer; a daemon and an orphan of it are killed with it."""
    pids_file = tmp_path / "pids"
    trace = asyncio.run(investigated(world, f"children={pids_file}", "crash"))
    assert trace.stop_reason == "crash"
    assert not trace.submission.complete
    assert "the agent fell over" in trace.detail
    assert "no usage was reported" in trace.detail
    assert trace.usd is None
    pids = [int(one) for one in pids_file.read_text().split()]
    assert len(pids) == 2
    assert gone(pids)


def test_the_children_of_a_program_would_outlive_it(tmp_path: Path):
    """Without the supervisor both stay: the test above can fail."""
    pids_file = tmp_path / "pids"
    script = (
        "import asyncio,sys; sys.path.insert(0, sys.argv[1]); import foreign_agent as f; "
        "asyncio.run(f.act('children=' + sys.argv[2], None))"
    )
    env = {**os.environ, "HELDOUT_SCRATCH": str(tmp_path)}
    words = [sys.executable, "-c", script, str(FOREIGN.parent), str(pids_file)]
    subprocess.run(words, env=env, check=True, start_new_session=True)
    pids = [int(one) for one in pids_file.read_text().split()]
    try:
        assert alive(pids) == pids
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def test_limits_end_an_investigation(world: Path):
    """Steps are held by the server, seconds by the clock, and an exit without an answer is named."""

    async def all_three() -> list[str]:
        traces = await asyncio.gather(
            investigated(world, "calls=5", max_steps=3),
            investigated(world, "hang", max_seconds=4.0),
            investigated(world, "calls=1"),
        )
        assert len(traces[0].steps) == 3
        return [trace.stop_reason for trace in traces]

    assert asyncio.run(all_three()) == ["max_steps", "max_seconds", "no_submission"]


def test_a_serving_process_that_dies_is_nobodys_wrong_answer(
    world: Path, monkeypatch: pytest.MonkeyPatch
):
    """A killed server is a sandbox failure, which makes the investigation invalid."""
    begin = Serving.start

    async def doomed(assignment: object) -> Serving:
        serving = await begin(assignment)  # type: ignore[arg-type]
        await serving.url()
        asyncio.get_running_loop().call_later(1.0, serving._process.kill)
        return serving

    monkeypatch.setattr(Serving, "start", doomed)
    with pytest.raises(SandboxFailure, match="killed"):
        asyncio.run(investigated(world, "hang"))


def test_a_killed_heldout_takes_program_and_server_with_it(world: Path, tmp_path: Path):
    """After SIGKILL of the process that plays, nothing that it started goes on."""
    pids_file = tmp_path / "pids"
    script = (
        "import asyncio,sys; from pathlib import Path; from tests.serve.conftest import "
        "investigated; asyncio.run(investigated(Path(sys.argv[1]), 'children=' + sys.argv[2], "
        "'hang'))"
    )
    root = Path(__file__).resolve().parents[2]
    playing = subprocess.Popen(
        [sys.executable, "-c", script, str(world), str(pids_file)], cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if pids_file.exists() and len(pids_file.read_text().split()) == 2:
            break
        time.sleep(0.1)
    pids = [int(one) for one in pids_file.read_text().split()]
    tree = descendants(playing.pid)
    assert len(tree) >= 3
    playing.kill()
    playing.wait()
    assert gone([*pids, *tree])


def descendants(pid: int) -> list[int]:
    """Every process that a process started, however far down."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def test_a_program_may_speak_stdio(world: Path):
    """The command that it is told joins the same server: what was asked there is in the trace."""
    trace = asyncio.run(investigated(world, "stdio", tools="git"))
    assert trace.stop_reason == "submitted", trace.detail
    assert [step.tool for step in trace.steps] == ["git", "submit_diagnosis"]


def test_skills_on_demand_are_read_over_mcp(world: Path):
    """A brain with skills on demand brings the tool that its prompt speaks of."""
    skill = "---\nname: pools\ndescription: Reading pools\n---\nCount what waits.\n"
    brain = Brain(
        files={"method.md": "Look.\n", "skills/pools/SKILL.md": skill},
        load=("method.md",),
        on_demand=("skills/pools/SKILL.md",),
    )
    agent = ProgramAgent(ProgramOptions(f"{sys.executable} {FOREIGN} skill=pools skill=x"))
    incident = Incident("inc-1", "s", "alert", world, "d")
    trace = asyncio.run(
        agent(incident, brain, None, WorldInterface(), model="m", limits=Limits(), seed=1)  # type: ignore[arg-type]
    )
    assert [step.tool for step in trace.steps] == ["read_skill", "read_skill"]
    assert "Count what waits." in trace.steps[0].answer
    assert "pools" in trace.steps[1].answer
    assert trace.steps[1].is_error


def test_a_program_that_cannot_be_started_is_a_matter_of_settings(world: Path, tmp_path: Path):
    """No program, an unreadable command line and a cap that cannot be held are named at once."""
    for words in ("no-such-program-anywhere", "'unclosed", str(tmp_path)):
        with pytest.raises(ConfigError, match=r"agent\.command"):
            ProgramAgent(ProgramOptions(words, root=tmp_path))
    agent = ProgramAgent(ProgramOptions(sys.executable))
    incident = Incident("inc-1", "s", "alert", world, "d")
    limits = Limits(max_usd=1.0)
    with pytest.raises(ConfigError, match="max_usd"):
        asyncio.run(
            agent(incident, BRAIN, None, WorldInterface(), model="m", limits=limits, seed=1)  # type: ignore[arg-type]
        )


def test_words_that_name_a_file_of_the_project_are_absolute(tmp_path: Path):
    """A script is found although the program runs elsewhere; other words stay as they are."""
    (tmp_path / "agent.py").write_text("")
    options = ProgramOptions("python3 agent.py --config agent.py other.py", root=tmp_path)
    _, script, *rest = options.words()
    assert script == str(tmp_path / "agent.py")
    assert rest == ["--config", str(tmp_path / "agent.py"), "other.py"]


def test_an_edited_program_is_another_one(tmp_path: Path):
    """The digest follows the files of the project that the command names, not their place."""
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        home.mkdir()
        (home / "agent.py").write_text("print(1)")
    made = [ProgramOptions("python3 agent.py", root=home) for home in homes]
    assert made[0].digest() == made[1].digest()
    (homes[1] / "agent.py").write_text("print(2)")
    assert made[0].digest() != made[1].digest()
    assert made[0].digest() != ProgramOptions("python3 agent.py -v", root=homes[0]).digest()


def test_an_alert_alone_is_served_without_tools(world: Path):
    """Where the environment offers nothing but the answer, so does the serving process."""
    agent = ProgramAgent(ProgramOptions(f"{sys.executable} {FOREIGN} calls=1"))
    incident = Incident("inc-1", "s", "alert", world, "d")
    alone = AlertOnly(WorldInterface())
    trace = asyncio.run(
        agent(incident, BRAIN, None, alone, model="m", limits=Limits(), seed=1)  # type: ignore[arg-type]
    )
    assert trace.steps[0].is_error
    assert "unknown_tool" in trace.steps[0].answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"input_tokens": 5, "usd": 0.5}', Usage(input_tokens=5, usd=0.5, reported=True)),
        ('{"input_tokens": -5, "calls": true, "usd": NaN}', Usage(reported=True)),
        ('{"usd": "much", "output_tokens": 1e9}', Usage(reported=True)),
        ("[1]", Usage()),
        ("{", Usage()),
    ],
)
def test_usage_is_read_with_suspicion(tmp_path: Path, text: str, expected: Usage):
    """Only whole, finite, positive figures count; anything else says nothing."""
    place = Workplace(tmp_path)
    place.work.mkdir()
    assert place.usage() == Usage()
    place.usage_file.write_text(text)
    assert place.usage() == expected


def test_a_usage_file_that_is_a_link_or_a_pipe_says_nothing(tmp_path: Path):
    """A program can neither make heldout read another file nor make it wait."""
    place = Workplace(tmp_path)
    place.work.mkdir()
    (tmp_path / "other.json").write_text('{"usd": 1}')
    place.usage_file.symlink_to(tmp_path / "other.json")
    assert place.usage() == Usage()
    place.usage_file.unlink()
    os.mkfifo(place.usage_file)
    assert place.usage() == Usage()
