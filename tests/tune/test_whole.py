"""The whole job with nothing faked: worlds, tools, simulated models, judge, gate, ledger."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from heldout.brain import load_brain
from heldout.build import cases
from heldout.edit import apply_edits, edit_from_plain
from heldout.gate import GateProcess
from heldout.graph import WorldInterface, read_table
from heldout.llm import ModelReply, ModelRequest, open_client
from heldout.settings import Settings, load_settings
from heldout.store import Ledger
from heldout.store.queries import edit_events, investigations, proposals, runs
from heldout.tune import TuneOptions, tune

ROOT = Path(__file__).parents[2]
MODEL = "sim/anchored@low"
OPTIONS: dict[str, Any] = {"job": "tune-whole", "repeats": 2, "max_rounds": 2, "looks": 2}
MAKE = """
    import sys
    from pathlib import Path
    from heldout.build import SetPlan, make_set
    from heldout.settings import load_settings
    from heldout.split import declare_process
    declare_process("build")
    plan = SetPlan("tiny", seed=5, traps=10, onset_controls=2, no_change=0, scale=0.3,
                   log_lines=2000, events=1200)
    make_set(load_settings(Path(sys.argv[1])), plan)
"""
TUNE = """
    import asyncio, json, sys
    from pathlib import Path
    from heldout.build import cases
    from heldout.gate import GateProcess
    from heldout.graph import WorldInterface
    from heldout.settings import load_settings
    from heldout.split import declare_process
    from heldout.store import Ledger
    from heldout.tune import TuneOptions, tune
    declare_process("tune")
    settings = load_settings(Path(sys.argv[1]))
    with Ledger.open(settings.ledger) as ledger, GateProcess(settings) as gate:
        done = asyncio.run(tune(
            settings, ledger, model="sim/anchored@low", proposer="sim/proposer",
            cases=cases(settings, "tiny", "train"), gate=gate, interface=WorldInterface(),
            options=TuneOptions.of(settings, **json.loads(sys.argv[2])),
            on_event=lambda event: event.kind == "progress" and print(event.data.done, flush=True),
        ))
    assert "litellm" not in sys.modules
    print(done.status)
"""


def _python(code: str, *args: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(code), *args]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a small set, made in a process of its own."""
    root = tmp_path_factory.mktemp("whole") / "project"
    root.mkdir()
    shutil.copytree(ROOT / "brain", root / "brain")
    shutil.copytree(ROOT / "checkers", root / "checkers")
    (root / "datasets").mkdir()
    (root / "heldout.toml").write_text('name = "whole"\nset = "tiny"\n')
    subprocess.run(_python(MAKE, str(root)), check=True, timeout=300)
    return root


@pytest.fixture
def settings(made: Path) -> Settings:
    """The project with an empty ledger; worlds stay."""
    found = load_settings(made)
    for name in ("landing", "journal"):
        shutil.rmtree(found.state / name, ignore_errors=True)
    for path in found.state.glob("ledger.duckdb*"):
        path.unlink()
    return found


class Recorder:
    """The simulated proposer over its real client, keeping what is sent."""

    def __init__(self) -> None:
        self.client = open_client("sim/proposer")
        self.sent: list[str] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.sent += [str(message["content"]) for message in request.messages]
        return await self.client.complete(request)


@pytest.mark.slow
def test_the_main_path_works_and_names_nothing(settings: Settings) -> None:
    """A real job ends in order; its proposal applies; no name of any world was sent."""
    train = cases(settings, "tiny", "train")
    recorder = Recorder()
    with Ledger.open(settings.ledger) as ledger, GateProcess(settings) as gate:
        done = asyncio.run(
            tune(
                settings, ledger, model=MODEL, proposer=recorder, cases=train, gate=gate,
                interface=WorldInterface(), options=TuneOptions.of(settings, **OPTIONS),
            )
        )  # fmt: skip
        assert done.status in {"saturated", "budget", "nothing_new"}
        assert done.accepted, "the simulated proposer helped with nothing"
        (row,) = proposals(ledger)
        edits = [edit_from_plain(one["edit"]) for one in row.edits]
        assert apply_edits(load_brain(settings.brain), edits).hash == row.after_hash
        assert row.evidence["traps"]["fixed"] > row.evidence["traps"]["broken"]
        events = [event.event for event in edit_events(ledger)]
    assert {"diagnosed", "drafted", "gated", "screened", "accepted", "proposed"} <= set(events)
    sent = "\n".join(recorder.sent).casefold()
    assert "[[ ## digest ## ]]" in sent
    plain = "\n".join([*load_brain(settings.brain).all_files().values(), _forms()]).casefold()
    for case in train:
        for entity in read_table(case.incident.world, "entity"):
            assert entity["id"] not in sent
            name = str(entity["name"]).casefold()
            if len(name) < 4 or re.search(rf"\b{re.escape(name)}\b", plain):
                continue
            assert not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", sent), name


def _forms() -> str:
    from heldout.llm.simulated.proposer_phrases import ADVICE
    from heldout.signatures import forms

    said = [forms.DIAGNOSE, forms.PROPOSE, forms.REVISE, forms.COMPRESS, json.dumps(ADVICE)]
    return "\n".join(said)


def _rows(ledger: Ledger) -> list[Any]:
    events = [
        (row.edit, row.round, row.event, _timeless(row.detail)) for row in edit_events(ledger)
    ]
    played = [
        (row.run, one.incident, one.arm, one.repeat, one.attempt, one.verdicts[0].result, one.calls)
        for row in runs(ledger)
        for one in investigations(ledger, row.run)
    ]
    made = [(row.proposal, row.diff_hash) for row in proposals(ledger)]
    return [events, sorted(played), made]


def _timeless(detail: Any) -> Any:
    return {k: v for k, v in detail.items() if k != "cost"} if isinstance(detail, dict) else detail


@pytest.mark.slow
def test_a_killed_job_ends_with_the_same_rows(settings: Settings) -> None:
    """SIGKILL in the middle of train; the same job again ends like an uninterrupted one."""
    options = json.dumps({**OPTIONS, "max_rounds": 1})
    command = _python(TUNE, str(settings.root), options)
    subprocess.run(command, check=True, timeout=300, capture_output=True)
    with Ledger.open(settings.ledger) as ledger:
        wanted = _rows(ledger)
    settings.ledger.unlink()
    for name in ("landing", "journal"):
        shutil.rmtree(settings.state / name, ignore_errors=True)

    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None
    for said in child.stdout:
        if int(said) >= 5:
            child.kill()
            break
    assert child.wait(timeout=30) == -signal.SIGKILL
    child.stdout.close()
    with Ledger.open(settings.ledger) as ledger:
        cut = _rows(ledger)
    assert 0 < len(cut[1]) < len(wanted[1])
    subprocess.run(command, check=True, timeout=300, capture_output=True)
    with Ledger.open(settings.ledger) as ledger:
        assert _rows(ledger) == wanted
