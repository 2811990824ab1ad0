"""A process killed at any point loses nothing that was finished and pays nothing twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import run_process as process
import run_stubs as stubs
from run_server import LOOKS, Server

from heldout.errors import ConfigError, StoreError, UsageError
from heldout.run import outcomes, play, resume
from heldout.run.journal import Journal
from heldout.run.landing import ingest_landed
from heldout.store import Ledger, Scrubber
from heldout.store import queries as q

SCRIPT = Path(process.__file__)
CALLS = process.INCIDENTS * 2 * (LOOKS + 1)


def start(root: Path, url: str, *words: str) -> subprocess.Popen[str]:
    """Start a process that plays."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(root), url, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENAI_API_KEY": "sk-a-secret-of-the-tests"},
    )


def finish(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a process."""
    out, err = running.communicate(timeout=60)
    return running.returncode, out.strip(), err


def rows(root: Path, run: str) -> list[Any]:
    """Everything of a run but its times."""
    with Ledger.open(stubs.settings_of(root).ledger) as ledger:
        found = outcomes(ledger, run)
        result = []
        for one in found:
            trace = one.trace
            assert trace is not None
            steps = [replace(step, seconds=0.0) for step in trace.steps]
            tokens = (trace.calls, trace.input_tokens, trace.output_tokens, trace.usd)
            key = (one.incident, one.arm, one.repeat, one.attempt, one.reason, one.verdict)
            result.append((key, tokens, steps, trace.messages, trace.submission))
        assert len(ledger.read("SELECT * FROM verdicts WHERE run = ?", [run])) == len(found)
        assert q.run(ledger, run).status == "finished"
    return result


def kept(root: Path) -> int:
    """Replies that lie on disk after a kill: in the ledger, in landing files, in journals."""
    settings = stubs.settings_of(root)
    done: set[tuple[str, str]] = set()
    if settings.ledger.exists():
        with Ledger.open(settings.ledger) as ledger:
            sql = "SELECT incident, arm FROM investigations"
            done = {(row["incident"], row["arm"]) for row in ledger.read(sql)}
    for path in settings.landing.rglob("*.json"):
        record = json.loads(path.read_text())
        done.add((record["incident"], record["arm"]))
    lines = 0
    for path in (settings.state / "journal").rglob("*.jsonl"):
        incident, arm = path.name.split("--")[:2]
        if (incident, arm) not in done:
            lines += path.read_bytes().count(b"\n")
    return len(done) * (LOOKS + 1) + lines


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The rows of a run that nobody disturbs."""
    root = tmp_path_factory.mktemp("undisturbed")
    with Server(delay=0) as server:
        code, run, err = finish(start(root, server.url, "play"))
        assert code == 0, err
        assert server.total == CALLS
    return rows(root, run)


def check_resumed(root: Path, server: Server, expected: list[Any]) -> None:
    """Resume in a new process: same rows, and exactly the replies not on disk are asked again."""
    before, there = server.total, kept(root)
    with Ledger.open(stubs.settings_of(root).ledger) as ledger:
        known = q.runs(ledger)
    code, run, err = finish(start(root, server.url, known[0].run if known else "play"))
    assert code == 0, err
    assert server.total - before == CALLS - there
    found = rows(root, run)
    assert [row[0] for row in found] == [row[0] for row in expected]
    assert found == expected
    state = stubs.settings_of(root).state
    left = [path for name in ("landing", "journal") for path in (state / name).rglob("*.*")]
    assert not left


SAMPLED = {"before journal", "torn landing", "after landing", "before commit", "after commit"}
"""Killed at in every run of the tests; the other points and moments only in slow ones."""


def moments() -> list[Any]:
    """(point, how often it was passed before) to be killed at."""
    return [
        pytest.param(
            point,
            number,
            marks=() if number == 2 and point in SAMPLED else pytest.mark.slow,
        )
        for point in process.POINTS
        for number in (1, 2, 6)
    ]


@pytest.mark.parametrize(("point", "number"), moments())
def test_a_process_killed_at_a_point_is_resumed(
    tmp_path: Path, undisturbed: list[Any], point: str, number: int
):
    """SIGKILL before, within and after every write: same rows, nothing finished is asked again."""
    with Server() as server:
        code, _, _ = finish(start(tmp_path, server.url, "play", point, str(number)))
        assert code == -signal.SIGKILL
        check_resumed(tmp_path, server, undisturbed)


def kill_at_request(root: Path, server: Server, number: int, delay: float) -> None:
    """Kill the playing process from outside, a moment after its n-th request."""
    running = start(root, server.url, "play")

    def hit(count: int) -> None:
        if count == number:
            os.kill(running.pid, signal.SIGKILL)

    server.delay = delay
    server.on_request = hit
    code, _, err = finish(running)
    assert code == -signal.SIGKILL, err
    server.on_request = lambda _: None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_fifty_random_kills(tmp_path: Path, undisturbed: list[Any], seed: int):
    """Killed at a random request, from outside, and resumed."""
    dice = random.Random(seed)
    with Server() as server:
        kill_at_request(tmp_path, server, dice.randint(1, CALLS), dice.random() * 0.01)
        check_resumed(tmp_path, server, undisturbed)


@pytest.mark.slow
def test_killed_twice_and_resumed_twice(tmp_path: Path, undisturbed: list[Any]):
    """A resumed run may be killed as well."""
    with Server() as server:
        finish(start(tmp_path, server.url, "play", "after journal", "5"))
        with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
            run = q.runs(ledger)[0].run
        code, _, _ = finish(start(tmp_path, server.url, run, "after landing", "2"))
        assert code == -signal.SIGKILL
        check_resumed(tmp_path, server, undisturbed)


def test_no_secret_reaches_any_file(tmp_path: Path):
    """The provider's key is in no file of the project, whatever is written."""
    with Server() as server:
        finish(start(tmp_path, server.url, "play", "after landing", "3"))
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert any(path.suffix == ".json" and "landing" in str(path) for path in files)
        assert any(path.suffix == ".jsonl" for path in files)
        assert not [path for path in files if b"sk-a-secret" in path.read_bytes()]


def in_process(root: Path, run: str = "", client: Any = None, **changed: Any) -> Any:
    """Play or resume with the scripted client."""
    settings = stubs.settings_of(root)
    client = client or stubs.ScriptedClient()
    more: dict[str, Any] = {"client_factory": lambda _: client, "judge": stubs.judge}
    more["interface"] = changed.pop("interface", stubs.StubInterface())
    with Ledger.open(settings.ledger) as ledger:
        if run:
            return asyncio.run(resume(run, ledger, settings, **more))
        plan = stubs.plan_of([stubs.case(root, "i-1"), stubs.case(root, "i-2")], **changed)
        return asyncio.run(play(plan, ledger, settings, **more))


def test_resume_takes_everything_from_the_manifest(tmp_path: Path):
    """The resumed plan is the stored one, brains and cases included."""
    first = in_process(tmp_path, seed=7, repeats=3)
    again = in_process(tmp_path, run=first.run[:6])
    assert again.plan == first.plan
    assert again.run == first.run


def test_resume_refuses_other_tools(tmp_path: Path):
    """Half a run with other tools would not be comparable."""
    first = in_process(tmp_path)

    class Other(stubs.StubInterface):
        name = "other"

    with pytest.raises(ConfigError, match="tools have changed"):
        in_process(tmp_path, run=first.run, interface=Other())


def test_an_unknown_run_is_named(tmp_path: Path):
    """A run that is not there is a usage error that lists what is."""
    first = in_process(tmp_path)
    with pytest.raises(UsageError, match="no run"):
        in_process(tmp_path, run="zz")
    with pytest.raises(UsageError, match=first.run) as error:
        in_process(tmp_path, run="zz")
    assert error.value.exit_code == 2


def test_a_capped_run_goes_on_where_it_was_stopped(tmp_path: Path):
    """What a cap stopped midway is continued from its journal, so its replies are paid once."""
    from heldout.run import Caps

    settings, client = stubs.settings_of(tmp_path), stubs.ScriptedClient()
    plan = stubs.plan_of([stubs.case(tmp_path, "i-1")], repeats=1, max_invalid=1.0)
    more: dict[str, Any] = {"interface": stubs.StubInterface(), "judge": stubs.judge}
    with Ledger.open(settings.ledger) as ledger:
        first = asyncio.run(
            play(
                plan,
                ledger,
                settings,
                client_factory=lambda _: client,
                caps=Caps(max_tokens=500),
                **more,
            )
        )
        assert {one.reason for one in first.outcomes} == {"cap"}
        second = asyncio.run(
            resume(first.run, ledger, settings, client_factory=lambda _: client, **more)
        )
        spent = q.cost(ledger, run=first.run)
    assert sorted(one.verdict.result for one in second.outcomes) == ["invalid"] * 2 + ["pass"] * 2
    assert client.calls == 2 * (LOOKS + 1) == spent.calls
    assert spent.usd == pytest.approx(0.01 * client.calls)


def test_a_disk_that_fills_up_while_resuming_keeps_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A journal that cannot be continued is not a journal of another conversation: it is kept."""
    client, real, written = stubs.ScriptedClient(), Journal.write, [0]

    def write(self: Journal, entry: Any) -> None:
        written[0] += 1
        if written[0] in {3, 4}:
            self.broken = True
            raise StoreError("no space left")
        real(self, entry)

    monkeypatch.setattr(Journal, "write", write)
    for _ in range(2):
        with pytest.raises(StoreError, match="no space"):
            in_process(tmp_path, client=client, repeats=1, concurrency=1)
    result = in_process(tmp_path, client=client, repeats=1, concurrency=1)
    assert [one.verdict.result for one in result.outcomes] == ["pass"] * 4
    assert client.calls == 4 * (LOOKS + 1) + 2, "only the two replies that could not be kept"


def test_a_journal_of_another_conversation_is_dropped(tmp_path: Path):
    """Entries that do not fit are not used: the investigation is played afresh, and passes."""
    client = stubs.ScriptedClient()
    first = in_process(tmp_path, repeats=1)
    other = tmp_path / "other"
    settings = stubs.settings_of(other)
    plan = stubs.plan_of([stubs.case(other, "i-1"), stubs.case(other, "i-2")], repeats=1)
    from heldout.agent.journal import JournalEntry
    from heldout.llm import ModelReply
    from heldout.run.manifest import pinned
    from heldout.run.slots import slots

    run = pinned(plan, settings, stubs.StubInterface()).key()
    for slot in slots(plan):
        journal = Journal(
            settings.state / "journal" / run / f"{slot.file_name(0)}.jsonl", None, Scrubber()
        )
        journal.write(JournalEntry(0, "another", 0.0, ModelReply("hello")))
        journal.close()
    result = in_process(other, client=client, repeats=1)
    assert result.run == run
    assert [one.verdict.result for one in result.outcomes] == ["pass"] * 4
    assert client.calls == 4 * (LOOKS + 1)
    assert len(first.outcomes) == 4


def test_a_torn_last_line_of_a_journal_is_dropped(tmp_path: Path):
    """Only whole lines count, and what is written next replaces the torn one."""
    from heldout.agent.journal import JournalEntry
    from heldout.llm import ModelReply

    path = tmp_path / "j.jsonl"
    journal = Journal(path, None, Scrubber())
    entries = [JournalEntry(n, "a", 0.0, ModelReply(f"text {n}")) for n in range(3)]
    for entry in entries:
        journal.write(entry)
    journal.close()
    path.write_bytes(path.read_bytes()[:-5])
    again = Journal(path, None, Scrubber())
    assert again.read() == tuple(entries[:2])
    again.write(entries[2])
    again.close()
    assert Journal(path, None, Scrubber()).read() == tuple(entries)


def test_a_damaged_landing_file_is_named_and_kept(tmp_path: Path):
    """Landing files are written whole; one that is not was altered, and a person decides."""
    settings = stubs.settings_of(tmp_path)
    path = settings.landing / "run" / "x.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 1}')
    with Ledger.open(settings.ledger) as ledger, pytest.raises(StoreError, match=r"x\.json"):
        ingest_landed(ledger, settings.landing)
    assert path.exists()


def test_a_landing_file_is_ingested_once(tmp_path: Path):
    """The same record twice leaves one row; the negative control is that it does leave one."""
    from heldout.run import landing as module

    seen: list[str] = []
    real = module.land
    import heldout.run.player as player

    player.land = lambda path, text: (seen.append(text), real(path, text))  # type: ignore[assignment,func-returns-value]
    try:
        result = in_process(tmp_path, repeats=1)
    finally:
        player.land = real
    settings = stubs.settings_of(tmp_path)
    for _ in range(2):
        path = settings.landing / result.run / "again.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(seen[0])
        with Ledger.open(settings.ledger) as ledger:
            assert ingest_landed(ledger, settings.landing) == 1
            assert len(q.investigations(ledger, result.run)) == 4
            assert len(ledger.read("SELECT * FROM verdicts")) == 4
        assert not path.exists()
    fresh = stubs.settings_of(tmp_path / "fresh")
    path = fresh.landing / result.run / "first.json"
    path.parent.mkdir(parents=True)
    path.write_text(seen[0])
    with Ledger.open(fresh.ledger) as ledger:
        ingest_landed(ledger, fresh.landing)
        assert len(q.investigations(ledger, result.run)) == 1


@pytest.mark.parametrize(
    "text", ["plain", "näïve ✓ \u2028 next", "half \ud800 a pair", 'a "quote"\n']
)
def test_a_reply_of_any_text_survives_the_journal(tmp_path: Path, text: str):
    """Whatever a model writes is one line that is read back as it was."""
    from heldout.agent.journal import JournalEntry
    from heldout.llm import ModelReply, ToolCall, Usage

    call = ToolCall("c1", "look", '{"at": "' + text.replace('"', "").replace("\n", "") + '"}')
    reply = ModelReply(text, (call,), "tool_calls", Usage(3, 2, 1), usd=None, refusal=text)
    entry = JournalEntry(0, "a" * 32, 1.25, reply)
    journal = Journal(tmp_path / "j.jsonl", None, Scrubber())
    journal.write(entry)
    journal.close()
    assert (tmp_path / "j.jsonl").read_bytes().count(b"\n") == 1
    assert Journal(tmp_path / "j.jsonl", None, Scrubber()).read() == (entry,)
