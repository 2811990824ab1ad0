"""Further opinions on stored runs: appended, never instead, and closed until a score has ended."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer, all_hold
from judge_stubs import Interface
from run_stubs import ScriptedClient, case, plan_of, settings_of

from heldout.errors import UsageError
from heldout.judge import JudgeChoice
from heldout.rejudge import Again, agreement_of, agreement_text, judge_again, override
from heldout.report.judges import comparison_notes, judge_notes
from heldout.run import Terms, outcomes, play
from heldout.settings import JudgeSettings, Settings
from heldout.store import Ledger, queries
from heldout.store.judging import further_opinions
from heldout.transcript import Wanted


def stored_run(root: Path, ledger: Ledger, **changed: Any) -> str:
    """A run of two incidents, one answered rightly, judged by the exact judge."""
    cases = [case(root, "i0"), case(root, "i1", "wrong")]
    one = plan_of(cases, repeats=1, **changed)
    result = asyncio.run(
        play(one, ledger, settings_of(root), interface=Interface(),
             client_factory=lambda _: ScriptedClient())
    )  # fmt: skip
    return result.run


def again(root: Path, ledger: Ledger, run: str, choice: JudgeChoice, **more: Any) -> Again:
    """The run judged again."""
    settings = more.pop("settings", settings_of(root))
    return asyncio.run(judge_again(settings, ledger, run, choice, **more))


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """An open ledger."""
    with Ledger.open(tmp_path / "ledger.duckdb") as opened:
        yield opened


def test_a_further_verdict_changes_no_figure(tmp_path: Path, ledger: Ledger, server: JudgeServer):
    """The first verdict stays the run's; the newest opinion stands beside it."""
    run = stored_run(tmp_path, ledger)
    before = [(o.incident, o.verdict) for o in outcomes(ledger, run)]
    server.think = lambda seen: all_hold(seen, yes=False)
    done = again(tmp_path, ledger, run, named(server), settings=trusting(tmp_path))
    assert (done.judged, done.kept, done.invalid) == (4, 0, 0)
    assert (done.own, done.new) == ((2, 2), (0, 4))
    assert {(one.incident, one.before, one.now) for one in done.changed} == {("i0", "pass", "fail")}
    assert [(o.incident, o.verdict) for o in outcomes(ledger, run)] == before
    newest = outcomes(ledger, run, newest_verdict=True)
    assert {o.verdict.judge for o in newest} == {"llm"}
    assert queries.cost(ledger, run=run).judge_calls == done.spent.calls > 0


def named(server: JudgeServer) -> JudgeChoice:
    """A judging model at a server."""
    return server.choice("lab/judge")


def trusting(root: Path) -> Settings:
    """Settings that name the judging model."""
    return Settings(root=root, judge=JudgeSettings(by="llm", models=("lab/judge",)))


def test_the_same_judge_is_asked_once(tmp_path: Path, ledger: Ledger, server: JudgeServer):
    """Judging again by the very same judge asks nothing; another model does."""
    run = stored_run(tmp_path, ledger)
    again(tmp_path, ledger, run, named(server))
    asked = len(server.seen)
    done = again(tmp_path, ledger, run, named(server))
    assert (done.judged, done.kept, len(server.seen)) == (0, 4, asked)
    assert again(tmp_path, ledger, run, server.choice("lab/other")).judged == 4


def test_the_exact_judge_can_judge_again(tmp_path: Path, ledger: Ledger):
    """By exact it agrees with itself, and costs nothing."""
    run = stored_run(tmp_path, ledger)
    done = again(tmp_path, ledger, run, JudgeChoice())
    assert done.own == done.new
    assert done.changed == ()
    assert done.kappa.value == 1
    assert done.spent.calls == 0


def test_no_verdict_leaves_no_row(tmp_path: Path, ledger: Ledger, server: JudgeServer):
    """A judge without an answer adds nothing; what ids decide is decided all the same."""
    run = stored_run(tmp_path, ledger)
    server.think = lambda _: "unreadable"
    done = again(tmp_path, ledger, run, named(server))
    assert (done.judged, done.invalid) == (2, 2)
    assert "twice" in done.why_invalid
    counts = [len(row.verdicts) for row in queries.investigations(ledger, run)]
    assert sorted(counts) == [1, 1, 2, 2]


def test_a_model_does_not_judge_itself_unasked(tmp_path: Path, ledger: Ledger, server: JudgeServer):
    """The run's own model is refused unless the settings name it as a judge."""
    run = stored_run(tmp_path, ledger)
    own = server.choice("fake/model@high")
    with pytest.raises(UsageError, match="judge itself"):
        again(tmp_path, ledger, run, own)
    named_own = JudgeSettings(by="llm", models=("fake/model@high",))
    settings = Settings(root=tmp_path, judge=named_own)
    assert again(tmp_path, ledger, run, own, settings=settings).judged == 4


def test_a_person_overrides_with_name_and_reason(tmp_path: Path, ledger: Ledger):
    """A person's verdict is one row more, with the author; the first one stays."""
    run = stored_run(tmp_path, ledger)
    done = override(
        ledger, Wanted(run, "i1", "before", 0), "pass", name="kim", reason="meant the same"
    )
    assert (done.before, done.result) == ("fail", "pass")
    row = next(
        row
        for row in queries.investigations(ledger, run)
        if (row.incident, row.arm) == ("i1", "before")
    )
    first, second = row.verdicts
    assert (first.result, second.result) == ("fail", "pass")
    assert (second.judge, second.author, second.reasoning) == ("person", "kim", "meant the same")


@pytest.mark.parametrize(
    ("incident", "repeat", "result", "name", "reason"),
    [
        ("i0", 7, "pass", "kim", "x"),
        ("nope", 0, "pass", "kim", "x"),
        ("i0", 0, "perhaps", "kim", "x"),
        ("i0", 0, "pass", " ", "x"),
        ("i0", 0, "pass", "kim", ""),
    ],
)
def test_an_override_that_does_not_fit_is_refused(
    tmp_path: Path, ledger: Ledger, incident: str, repeat: int, result: Any, name: str, reason: str
):
    """No such investigation, no verdict, no name, no reason: a usage error, and no row."""
    run = stored_run(tmp_path, ledger)
    wanted = Wanted(run, incident, "before", repeat)
    with pytest.raises(UsageError):
        override(ledger, wanted, result, name=name, reason=reason)
    assert all(len(row.verdicts) == 1 for row in queries.investigations(ledger, run))


def test_agreement_compares_judges_in_pairs(tmp_path: Path, ledger: Ledger, server: JudgeServer):
    """Exact, models and people, each by its newest verdict; disagreements are named."""
    run = stored_run(tmp_path, ledger)
    assert "no investigation has two judges" in agreement_text(agreement_of(ledger, run))
    server.think = lambda seen: all_hold(seen, yes=False)
    again(tmp_path, ledger, run, named(server))
    override(ledger, Wanted(run, "i0", "before", 0), "pass", name="kim", reason="it is right")
    found = agreement_of(ledger, run)
    by_name = {(pair.one, pair.two): pair for pair in found.pairs}
    assert (by_name["exact", "llm"].both, by_name["exact", "llm"].agreed) == (4, 2)
    assert by_name["exact", "person"].agreed == 1
    assert by_name["llm", "person"].agreed == 0
    assert by_name["exact", "llm"].kappa.value == 0
    text = agreement_text(found)
    assert "own verdicts (what every figure rests on): 2 pass, 2 fail, 0 invalid" in text
    assert "i0 before repeat 0: llm fail, person pass" in text


HELD_OUT = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    sys.path[:0] = [{here!r}, {runs!r}]
    from run_stubs import ScriptedClient, case, plan_of, settings_of
    from judge_stubs import Interface
    from heldout.errors import SplitViolation
    from heldout.judge import JudgeChoice
    from heldout.rejudge import agreement_of, judge_again, override
    from heldout.run import play
    from heldout.split import declare_process
    from heldout.store import Ledger
    from heldout.transcript import Wanted

    root, role, ended = Path({root!r}), {role!r}, {ended!r}
    with Ledger.open(root / "ledger.duckdb") as ledger:
        if role == "score":
            declare_process("score")
            plan = plan_of([case(root, "i0", side="test")], purpose="score", repeats=1)
            result = asyncio.run(play(plan, ledger, settings_of(root), interface=Interface(),
                                      client_factory=lambda _: ScriptedClient()))
            row = {{"score": "s1", "model": "fake/model", "started": 1, "run": result.run}}
            ledger.append("scores", [row])
            print(result.run)
        else:
            if role:
                declare_process(role)
            run = {run!r}
            if ended:
                ledger.append("scores", [{{"score": "s1", "model": "fake/model", "started": 1,
                    "run": run, "outcome": "gain", "ended": 2,
                    "result_json": {{"runs": [run]}}}}])
                ledger.flush()
            tries = (
                lambda: asyncio.run(judge_again(settings_of(root), ledger, run, JudgeChoice())),
                lambda: override(ledger, Wanted(run, "i0", "before", 0), "fail", name="k",
                                 reason="r"),
                lambda: agreement_of(ledger, run),
            )
            for one in tries:
                try:
                    one()
                    print("open")
                except SplitViolation:
                    print("closed")
    """
)


def held_out(root: Path, role: str, run: str = "", ended: bool = False) -> list[str]:
    """What a process of a role may do with a scored run: judge again, override, compare."""
    here = Path(__file__).parent
    code = HELD_OUT.format(
        here=str(here), runs=str(here.parent / "run"), root=str(root), role=role, run=run,
        ended=ended,
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


def test_a_scored_run_opens_after_its_score_and_to_the_right_process(tmp_path: Path):
    """Before the end everything is closed; after it, only a process declared for it sees truths."""
    (run,) = held_out(tmp_path, "score")
    assert held_out(tmp_path, "rejudge", run) == ["closed"] * 3
    assert held_out(tmp_path, "tune", run, ended=True) == ["closed", "open", "open"]
    assert held_out(tmp_path, "", run) == ["closed", "open", "open"]
    assert held_out(tmp_path, "rejudge", run) == ["open"] * 3


def test_a_report_names_its_judges_and_further_opinions(
    tmp_path: Path, ledger: Ledger, server: JudgeServer
):
    """Nothing of the exact judge alone; an uncalibrated model, one's own, and later opinions are."""
    run = stored_run(tmp_path, ledger)
    assert judge_notes(ledger, [run]) == ()
    override(ledger, Wanted(run, "i1", "before", 0), "pass", name="kim", reason="r")
    override(ledger, Wanted(run, "i0", "before", 0), "pass", name="kim", reason="r")
    assert further_opinions(ledger, run) == (2, 1)
    (note,) = judge_notes(ledger, [run])
    assert "2 investigations" in note
    assert "1 of them another" in note
    terms = Terms(judge="llm", judge_models=("fake/model",), judge_base_url=server.url)
    own = stored_run(tmp_path, ledger, terms=terms)
    assert judge_notes(ledger, [own]) == (
        "JUDGED BY THE MODEL UNDER TEST: fake/model",
        "judge llm (fake/model): NOT CALIBRATED; run 'heldout judge calibrate'",
    )
    assert comparison_notes(ledger, f"{run}:before", f"{own}:after")[0].startswith(
        "JUDGED DIFFERENTLY: exact and llm (fake/model)"
    )
    assert comparison_notes(ledger, f"{own}:before", f"{own}:after") == [
        *judge_notes(ledger, [own])
    ]
