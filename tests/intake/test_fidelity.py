"""Production's verdicts against the simulated ones: agreement, the same wrong answer, and misses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.run.run_stubs import ScriptedClient, StubInterface, brain, case, judge, plan_of
from typer.testing import CliRunner

import heldout.split as split_module
from heldout.cli.main import app
from heldout.errors import IngestError, SplitViolation, UsageError
from heldout.intake.drafts import DraftState, write_state
from heldout.intake.fidelity import Fidelity, measure, same_answer
from heldout.intake.production import read_lines
from heldout.interface import Submission
from heldout.llm import ModelReply, ModelRequest, ToolCall
from heldout.report.fidelity import fidelity_notes
from heldout.run import Arm, play
from heldout.settings import Models, Settings
from heldout.store import Ledger
from heldout.store.fidelity import fidelities, record_fidelity

WRONG = "The connection pool was exhausted by the deploy at noon"


class Talker(ScriptedClient):
    """Gives its wrong answers a mechanism in words."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One reply."""
        reply = await super().complete(request)
        calls = tuple(
            ToolCall(one.id, one.name, one.arguments.replace('"mechanism": "m"',
                     f'"mechanism": "{WRONG}"')) for one in reply.tool_calls
        )  # fmt: skip
        return replace(reply, tool_calls=calls)


@pytest.fixture
def own(tmp_path: Path) -> Settings:
    """A project whose agent is the scripted model."""
    return Settings(root=tmp_path, models=Models(agent="fake/model"))


@pytest.fixture
def ledger(own: Settings) -> Iterator[Ledger]:
    """A ledger with a finished run: two incidents solved, two answered wrongly."""
    own.state.mkdir(parents=True, exist_ok=True)
    with Ledger.open(own.ledger) as opened:
        played(own, opened)
        yield opened


def played(own: Settings, ledger: Ledger, side: str = "train", **changed: Any) -> str:
    """Play the four incidents; returns the run."""
    cases = [case(own.root, f"i{n}", "" if n < 2 else "wrong", side) for n in range(4)]
    values = {"purpose": "run", "arms": (Arm("base", brain()),), **changed}
    plan = plan_of(cases, **values)
    return asyncio.run(
        play(plan, ledger, own, interface=StubInterface(), client_factory=lambda _: Talker(),
             judge=judge)
    ).run  # fmt: skip


def lines_of(own: Settings, *rows: Any) -> Path:
    """A file of production's verdicts; text is written as it is."""
    path = own.root / "production.jsonl"
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in rows))
    return path


def row(incident: str, verdict: str, answer: Any = "") -> dict[str, Any]:
    """One line of production."""
    return {"incident": incident, "verdict": verdict, "answer": answer}


def test_verdicts_are_compared_incident_by_incident(own: Settings, ledger: Ledger):
    """Agreement, kappa, and the same wrong answer only where both failed and it says enough."""
    path = lines_of(
        own,
        row("i0", "pass"),
        row("i1", "fail", WRONG),
        row("i2", "fail", "the pool of connections was exhausted: deploy around noon"),
        row("i3", "wrong", "an expired certificate on the load balancer"),
    )
    found = measure(own, ledger, path)
    assert [(one.incident, one.production, one.simulated, one.same_wrong)
            for one in found.matched] == [
        ("i0", "pass", "pass", None),
        ("i1", "fail", "pass", None),
        ("i2", "fail", "fail", 1.0),
        ("i3", "fail", "fail", 0.0),
    ]  # fmt: skip
    assert found.agreement.value == 0.75
    assert found.kappa.value == pytest.approx(0.5)
    assert found.kappa.low < 0.5 < found.kappa.high
    assert (found.same_wrong.value, len(found.compared)) == (0.5, 2)
    plain = found.plain()
    assert plain["cells"] == {"pass/pass": 1, "pass/fail": 0, "fail/pass": 1, "fail/fail": 2}
    assert plain["evidence"] == "real model"
    assert "differs" in "\n".join(found.lines())


def test_a_flipped_file_agrees_less(own: Settings, ledger: Ledger):
    """Negative control: production that ended the other way round never agrees."""
    path = lines_of(own, *(row(f"i{n}", "fail" if n < 2 else "pass") for n in range(4)))
    found = measure(own, ledger, path)
    assert found.agreement.value == 0
    assert found.kappa.value == pytest.approx(-1)
    assert found.compared == []
    assert "not known" in "\n".join(found.lines())


def test_a_kappa_that_can_only_be_0_says_so(own: Settings, ledger: Ledger):
    """Where one of the two never varies kappa tells nothing, and that is told."""
    path = lines_of(own, row("i0", "pass"), row("i1", "fail"))
    assert "one of the two always ends alike" in "\n".join(measure(own, ledger, path).lines())
    varied = lines_of(own, row("i0", "pass"), row("i2", "fail", WRONG))
    assert "always ends alike" not in "\n".join(measure(own, ledger, varied).lines())


def test_what_cannot_be_matched_is_listed_with_why(own: Settings, ledger: Ledger):
    """Unknown incidents, other verdicts, and lines that are none; the rest still counts."""
    path = lines_of(own, row("i0", "pass"), row("inc-unknown", "fail"), row("i1", "maybe"),
                    "{not json", json.dumps([1]), "", row("\x1b[2Jx", "fail"))  # fmt: skip
    found = measure(own, ledger, path)
    assert [(line, why) for line, _, why in found.unmatched] == [
        (2, "no run holds a valid verdict on it"),
        (3, "its verdict is neither pass nor fail"),
        (4, "the line is not JSON"),
        (5, "it names no incident"),
        (7, "no run holds a valid verdict on it"),
    ]
    assert len(found.matched) == 1
    assert "\x1b" not in "\n".join(found.lines())


@given(st.lists(st.binary(max_size=60), max_size=6))
@hypothesis_settings(max_examples=50, deadline=None)
def test_any_file_is_read_line_by_line(tmp_path_factory: pytest.TempPathFactory, rows: list[bytes]):
    """Every line is usable, or listed with why; blank ones are neither."""
    path = tmp_path_factory.mktemp("lines") / "p.jsonl"
    path.write_bytes(b"\n".join([*rows, b'{"incident": "i0", "verdict": "pass"}']))
    lines, bad = read_lines(path)
    assert lines[-1].incident == "i0"
    assert all(why for _, _, why in bad)


def test_repeats_of_production_are_one_incident_by_majority(own: Settings, ledger: Ledger):
    """A tie is a fail, as it is unsolved elsewhere."""
    path = lines_of(own, row("i0", "pass"), row("i0", "fail"), row("i1", "pass"), row("i1", "pass"))
    found = measure(own, ledger, path)
    assert [(one.production, one.tries[0]) for one in found.matched] == [("fail", 2), ("pass", 2)]


def test_a_draft_stands_for_the_incidents_it_became(own: Settings, ledger: Ledger):
    """By the draft's id or the report's file name; all of its variants count together."""
    state = DraftState("d-00000001", "outage.md", "0" * 64, "accepted", 1, "stub", "train", 2,
                       ("i2", "i3"))  # fmt: skip
    write_state(own, state)
    path = lines_of(own, row("outage.md", "fail", WRONG), row("d-00000001", "pass"))
    found = measure(own, ledger, path)
    assert [(one.incident, one.simulated, one.tries[1]) for one in found.matched] == [
        ("outage.md", "fail", 4),
        ("d-00000001", "fail", 4),
    ]
    assert found.matched[0].same_wrong == 1.0


def test_the_held_out_half_stays_closed_until_its_score_has_ended(
    own: Settings, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
):
    """A run over it is passed over, and refused where it is named."""
    monkeypatch.setattr(split_module, "_role", "score")
    run = played(own, ledger, side="test", seed=9)
    found = measure(own, ledger, lines_of(own, row("i0", "pass")))
    assert run not in found.runs
    with pytest.raises(SplitViolation):
        measure(own, ledger, lines_of(own, row("i0", "pass")), run=run)


def test_without_a_run_or_a_usable_line_there_is_nothing_to_compare(own: Settings, ledger: Ledger):
    """Both are named errors; so is a file that is not there."""
    with pytest.raises(UsageError, match="no finished run"):
        measure(own, ledger, lines_of(own, row("i0", "pass")), model="other/model")
    with pytest.raises(IngestError, match="no line"):
        measure(own, ledger, lines_of(own, "{"))
    with pytest.raises(IngestError, match="cannot be read"):
        read_lines(own.root / "none.jsonl")


def test_a_comparison_is_kept(own: Settings, ledger: Ledger):
    """What was printed can be read back, by model."""
    found: Fidelity = measure(own, ledger, lines_of(own, row("i0", "pass")))
    record_fidelity(ledger, found.plain())
    ledger.flush()
    kept = fidelities(ledger, model="fake/model")
    assert [dict(one.result) for one in kept] == [json.loads(json.dumps(found.plain()))]
    assert fidelities(ledger, model="other/model") == []


def test_answers_by_id_are_compared_by_id():
    """On one's own estate the ids are the same, so words do not matter."""
    made = Submission(root_cause_entity="e-1", root_cause_change="c-1", mechanism="x")
    assert same_answer({"root_cause_change": "c-1", "mechanism": "other"}, made) is True
    assert same_answer({"root_cause_change": "c-2"}, made) is False
    assert same_answer({"root_cause_entity": "e-1"}, made) is True
    assert same_answer("too short", made) is None


def test_the_command_prints_and_keeps(own: Settings, ledger: Ledger):
    """Text and JSON; the ledger has a row for each."""
    ledger.close()
    (own.root / "heldout.toml").write_text('set = "stub"\n[models]\nagent = "fake/model"\n')
    path = lines_of(own, row("i0", "pass"), row("i3", "fail", WRONG))
    words = ["fidelity", str(path), "--project", str(own.root)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "2 incidents matched" in done.output
    plain = json.loads(CliRunner().invoke(app, [*words, "--json"]).output)
    assert plain["same_wrong"]["value"] == 1.0
    with Ledger.open(own.ledger, read_only=True) as again:
        assert len(fidelities(again)) == 2


def test_a_report_tells_the_newest_comparison_of_its_model(own: Settings, ledger: Ledger):
    """Agreement, kappa and the same wrong answer in words; nothing for a model without one."""
    assert fidelity_notes(ledger, "fake/model") == ()
    rows = [row("i0", "pass"), row("i2", "fail", WRONG), row("i9", "fail")]
    record_fidelity(ledger, measure(own, ledger, lines_of(own, *rows)).plain())
    ledger.flush()
    notes = " ".join(fidelity_notes(ledger, "fake/model"))
    assert "Of 2 incidents of production 100%" in notes
    assert "compared (1), 100%" in notes
    assert "1 lines could not be matched" in notes
    assert fidelity_notes(ledger, "other/model") == fidelity_notes(ledger, "") == ()
