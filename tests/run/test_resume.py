"""Going on with a run: from its manifest, its journals, its landing files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import run_stubs as stubs
from run_killed import finish, start
from run_server import LOOKS, Server

from heldout.errors import ConfigError, StoreError, UsageError
from heldout.run import play, resume
from heldout.run.journal import Journal
from heldout.run.landing import ingest_landed
from heldout.store import Ledger, Scrubber
from heldout.store import queries as q


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
