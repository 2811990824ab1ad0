"""A tuning job from baseline to proposal, its endings, and what it remembers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from heldout.behaviour import ProbeOptions
from heldout.brain import Brain, load_brain
from heldout.canaries import Watch
from heldout.edit import apply_edits, apply_unified_diff, diff_hash, edit_from_plain
from heldout.errors import ConfigError, UsageError
from heldout.gate.report import HELD_OUT_HINT, Finding
from heldout.gate.rules import advice
from heldout.store import Ledger
from heldout.store import brain as stored_brain
from heldout.store.queries import edit_events, gate_reports, jobs, proposals
from heldout.tune import TuneOptions, TuneResult, resume_tune, tune

MODEL = "sim/anchored@low"
OVERLAY = "overlays/models/sim-anchored-low/method.md"
OPTIONS = TuneOptions(job="tune-test", probes=ProbeOptions(rename=0))


def go(
    project: Any,
    parts: Any,
    monkeypatch: pytest.MonkeyPatch,
    *,
    runs: Any = None,
    gate: Any = None,
    proposer: Any = None,
    options: TuneOptions = OPTIONS,
    events: list[Any] | None = None,
    ledger: Ledger | None = None,
    watch: Watch | None = None,
) -> TuneResult:
    """Run a job over the project with fakes where none is given."""
    runs = runs or parts.runs(project.needs)
    monkeypatch.setattr("heldout.tune.player.play", runs.play)

    async def job(opened: Ledger) -> TuneResult:
        return await tune(
            project.settings,
            opened,
            model=MODEL,
            proposer=proposer or parts.proposer(),
            cases=project.cases,
            gate=gate or parts.gate(),
            interface=parts.interface(),
            options=options,
            watch=watch or Watch(),
            on_event=(events if events is not None else []).append,
        )

    if ledger is not None:
        return asyncio.run(job(ledger))
    with project.ledger() as opened:
        return asyncio.run(job(opened))


def line(text: str, file: str = OVERLAY) -> dict[str, Any]:
    """An edit that appends one line, as a model writes it."""
    return {"ops": [{"file": file, "action": "append", "text": text}], "reason": "because"}


GOOD = "- Search the 14 days before the alert."
NEAR = "- A change at the onset is not proof; check that its diff touches the mechanism."


def test_a_job_saturates_train_and_proposes(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From failures to a proposal that a reviewer can apply, with the simulated proposer."""
    gate, proposer, before = parts.gate(), parts.proposer(), load_brain(project.settings.brain)
    with project.ledger() as ledger:
        done = go(project, parts, monkeypatch, gate=gate, proposer=proposer, ledger=ledger)
        assert done.status == "saturated"
        assert done.train == (12, 12)
        assert done.after.hash != done.before.hash == before.hash
        (row,) = proposals(ledger)
        assert row.proposal == done.proposal
        assert row.diff_hash == diff_hash(before, done.after)
        edits = [edit_from_plain(one["edit"]) for one in row.edits]
        assert apply_edits(before, edits).hash == row.after_hash
        assert apply_unified_diff(before, row.diff).hash == row.after_hash
        assert stored_brain(ledger, row.after_hash).hash == done.after.hash
        traps = row.evidence["traps"]
        assert (traps["fixed_incidents"], traps["broken_incidents"]) == (8, 0)
        assert row.evidence["controls"]["broken"] == 0
        assert row.edits[0]["target"]["fixed"] > 0
        assert row.edits[0]["regression"]["broken"] == 0
        assert row.evidence["trace_pair"]["step"] == 3
        assert row.evidence["size"]["lines_after"] > row.evidence["size"]["lines_before"]
        assert jobs(ledger)[0].status == "saturated"
    assert load_brain(project.settings.brain).hash == before.hash, "tuning wrote to the brain"


def test_edits_go_to_the_models_overlay_by_default(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another model's prompt stays as it was; with target 'base' the shared file changes."""
    done = go(project, parts, monkeypatch)
    assert done.after.files == done.before.files
    assert list(done.after.extra) == [OVERLAY]
    assert done.after.prompt("openai/other") == done.before.prompt("openai/other")
    base = go(project, parts, monkeypatch, options=replace(OPTIONS, job="tune-base", target="base"))
    assert base.after.extra == {}
    assert base.after.files["method.md"] != base.before.files["method.md"]


def test_an_overlay_job_cannot_touch_the_base(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draft outside the model's overlay is refused before it costs a gate run or a screen."""
    gate = parts.gate()
    proposer = parts.proposer(lambda _: [line(GOOD, "method.md")])
    done = go(project, parts, monkeypatch, gate=gate, proposer=proposer)
    assert done.proposal == ""
    assert done.rejected["form"] >= 1
    assert gate.checks == []


def test_nothing_to_fix_ends_at_once(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job without failures asks no proposer, and says so."""
    proposer = parts.proposer()
    runs = parts.runs(dict.fromkeys(project.needs, ""))
    done = go(project, parts, monkeypatch, runs=runs, proposer=proposer)
    assert (done.status, done.proposal, done.rounds) == ("saturated", "", 0)
    assert "no failure" in done.reason
    assert proposer.bodies == []
    assert len(runs.plans) == 1


def test_edits_without_effect_end_as_nothing_new(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cluster gets its tries; rejected drafts are remembered and shown to the proposer."""
    lines = iter(f"- Be careful, take {word}." for word in ["care", "time", "heart", "note"])
    proposer = parts.proposer(lambda _: [line(next(lines))])
    done = go(project, parts, monkeypatch, proposer=proposer)
    assert (done.status, done.proposal) == ("nothing_new", "")
    assert done.rejected == {"screen": done.rounds}
    asked = [b["messages"][-1]["content"] for b in proposer.bodies]
    asked = [text for text in asked if "[[ ## diagnoses ## ]]" in text]
    assert "take care" not in asked[0]
    assert "take care" in asked[-1]
    assert "no effect" in asked[-1]


def test_an_edit_that_breaks_passing_incidents_is_rejected(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fixing the target is not enough: what passed before must still pass."""
    runs = parts.runs(project.needs, breaks="oldest change")
    proposer = parts.proposer(lambda _: [line(f"{GOOD} Always blame the oldest change.")])
    done = go(project, parts, monkeypatch, runs=runs, proposer=proposer)
    assert done.proposal == ""
    with project.ledger() as ledger:
        fell = [row for row in edit_events(ledger) if row.event == "rejected"]
    assert any("broke passing incidents" in row.detail["reason"] for row in fell)


def test_the_gate_sees_the_whole_brain_and_the_judges_words(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each check is from the job's first brain to the brain with all accepted edits."""
    gate = parts.gate()
    proposer = parts.proposer(lambda i: [line(GOOD if i == 0 else NEAR)])
    done = go(project, parts, monkeypatch, gate=gate, proposer=proposer)
    assert done.status == "saturated"
    first, last = gate.checks[0], gate.checks[-1]
    assert first[0].hash == last[0].hash == done.before.hash
    assert GOOD in last[1].all_files()[OVERLAY]
    assert any("tarnwick-ledger" in text for text in last[3])


def test_a_leak_is_refused_mended_and_remembered(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The author gets its own marked line back; the mended draft goes on; both stand in the rows."""
    proposer = parts.proposer(
        lambda i: [line(f"{GOOD}\n- See PR #4711.") if i == 0 else line(NEAR)]
    )
    done = go(project, parts, monkeypatch, proposer=proposer)
    assert done.status == "saturated"
    assert done.rejected == {"gate": 1}
    assert "PR #" not in str(done.after.extra)
    with project.ledger() as ledger:
        events = [row.event for row in edit_events(ledger)]
        reports = gate_reports(ledger)
    assert events.index("revised") > events.index("rejected") > events.index("gated")
    assert [report.passed for report in reports] == [False, True, True]
    revising = [b["messages"][-1]["content"] for b in proposer.bodies]
    revising = [text for text in revising if "[[ ## findings ## ]]" in text]
    assert "See PR #4711" in revising[0]
    later = [b["messages"][-1]["content"] for b in proposer.bodies][-1]
    assert "See [...]<value-1>" in later
    assert "4711" not in later, "what the mark left over was not redacted"
    assert "the checker refused it" in later


def test_a_draft_gets_three_checks_at_most(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate that always refuses ends the edit, not the job."""

    class Never(parts.gate):  # type: ignore[misc, name-defined]
        def check(self, before: Brain, after: Brain, **more: Any) -> Any:
            report = super().check(before, after, **more)
            text = after.extra[OVERLAY].splitlines()
            marks = [
                replace_finding(number, mark)
                for number, mark in enumerate(text, 1)
                if mark.startswith("- ")
            ][:1]
            return replace(report, passed=False, findings=tuple(marks))

    def replace_finding(number: int, text: str) -> Any:
        return Finding("phrase", "reject", OVERLAY, number, 1, 2, text, hint="say it otherwise")

    gate = Never()
    many = "\n".join(f"- Line {word}." for word in ("one", "two", "three", "four", "five"))
    done = go(
        project,
        parts,
        monkeypatch,
        gate=gate,
        proposer=parts.proposer(lambda _: [line(many)]),
        options=replace(OPTIONS, max_rounds=1),
    )
    assert len(gate.checks) == 3
    assert done.proposal == ""


@pytest.mark.parametrize("held_out", [False, True])
def test_the_author_of_a_refused_edit_learns_no_side(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, held_out: bool
) -> None:
    """What it is told is the same sentence for a value of train and for one of the held-out half."""
    hit = Finding(
        "incident-value", "reject", OVERLAY, 3, 1, 2, "41 s", "41s", "duration", "tiny/inc-1",
        "a hint of its own",
    )  # fmt: skip

    class Values(parts.gate):  # type: ignore[misc, name-defined]
        def check(self, before: Brain, after: Brain, **more: Any) -> Any:
            report = super().check(before, after, **more)
            return replace(report, passed=False, findings=(hit.redacted() if held_out else hit,))

    proposer = parts.proposer(lambda _: [line("- Wait 41 s.")])
    options = replace(OPTIONS, max_rounds=1)
    go(project, parts, monkeypatch, gate=Values(), proposer=proposer, options=options)
    texts = [body["messages"][-1]["content"] for body in proposer.bodies]
    (told,) = [text for text in texts if "[[ ## findings ## ]]" in text][:1]
    assert advice("incident-value", "") in told
    for secret in ("a hint of its own", HELD_OUT_HINT, "inc-1", "held-out"):
        assert secret not in told


def test_a_refused_edit_is_not_paid_for_again(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words with the same brain are dropped before gate and screen (of two passes)."""
    gate, runs = parts.gate(), parts.runs(project.needs)
    proposer = parts.proposer(lambda _: [line("- Take care.")])
    done = go(project, parts, monkeypatch, gate=gate, runs=runs, proposer=proposer)
    assert done.rounds > 1
    assert (len(gate.checks), done.rejected) == (1, {"screen": 1})
    assert [plan.purpose for plan in runs.plans] == ["train", "screen", "screen"]


def test_a_held_out_hit_aborts_the_job(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Material of the held-out half in an edit means that the pipeline leaks: no retry, no result."""
    gate = parts.gate(leak=True)
    done = go(project, parts, monkeypatch, gate=gate)
    assert (done.status, done.proposal, len(gate.checks)) == ("aborted", "", 1)
    with project.ledger() as ledger:
        assert jobs(ledger)[0].status == "aborted"
        assert proposals(ledger) == []


def test_a_gate_that_cannot_run_refuses(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fail closed: without a gate nothing is screened, and the job still ends in order."""
    from heldout.errors import GateError

    class Broken:
        def check(self, *_: Any, **__: Any) -> Any:
            raise GateError("the gate is down")

    runs = parts.runs(project.needs)
    done = go(project, parts, monkeypatch, gate=Broken(), runs=runs)
    assert done.proposal == ""
    assert {plan.purpose for plan in runs.plans} == {"train"}


def test_a_cap_stops_cleanly(project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caps in USD and tokens end the job with a status; nothing unconfirmed is proposed."""
    for options in (replace(OPTIONS, max_usd=0.6), replace(OPTIONS, max_tokens=60_000)):
        tight = replace(options, job=f"tune-{options.max_usd}")
        done = go(project, parts, monkeypatch, options=tight)
        assert (done.status, done.proposal) == ("budget", "")
        assert "cap" in done.reason
    with project.ledger() as ledger:
        assert all(row.status == "budget" for row in jobs(ledger))


def test_what_fits_under_a_cap_is_confirmed_and_proposed(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rounds leave a share of the cap, so that what was accepted can be measured again."""
    proposer = parts.proposer(lambda i: [line(GOOD if i == 0 else f"- Note {i}.")])
    done = go(
        project,
        parts,
        monkeypatch,
        proposer=proposer,
        options=replace(OPTIONS, max_usd=4.0, max_rounds=90, cluster_tries=90),
    )
    assert (done.status, "cap" in done.reason) == ("budget", True)
    assert done.proposal


def test_rounds_and_lines_are_limits(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A used-up number of rounds or lines ends the job, with what it has."""
    proposer = parts.proposer(lambda i: [line(GOOD)])
    done = go(
        project, parts, monkeypatch, proposer=proposer, options=replace(OPTIONS, max_rounds=1)
    )
    assert (done.status, bool(done.proposal)) == ("budget", True)
    lines = replace(OPTIONS, job="tune-lines", max_added_lines=1)
    done = go(
        project, parts, monkeypatch, proposer=parts.proposer(lambda i: [line(GOOD)]), options=lines
    )
    assert "added lines" in done.reason


def test_a_malformed_proposer_ends_in_order(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proposer that answers prose only costs its calls and is written down; nothing crashes."""

    class Prose(parts.proposer):  # type: ignore[misc, name-defined]
        async def complete(self, request: Any) -> Any:
            return replace(await super().complete(request), text="I would rather not.")

    done = go(project, parts, monkeypatch, proposer=Prose())
    assert (done.status, done.proposal) == ("nothing_new", "")
    with project.ledger() as ledger:
        failures = [row.detail["failure"] for row in edit_events(ledger)]
    assert failures
    assert all("did not parse" in text for text in failures)


def test_no_prompt_holds_a_name_or_an_id(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Captured bodies hold none of what the tools, the alert and the judge named."""
    proposer = parts.proposer()
    go(project, parts, monkeypatch, proposer=proposer)
    sent = str([body["messages"] for body in proposer.bodies]).casefold()
    names = ["quillmere", "tarnwick", "mira.holt", "c-00000", "e-00000", "4711", "2026-03",
             "maxconns", "trap-0", "late-1"]  # fmt: skip
    assert len(proposer.bodies) > 5
    assert [name for name in names if name in sent] == []


def test_progress_and_events_are_told(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever watches hears of each stage in words."""
    events: list[Any] = []
    go(project, parts, monkeypatch, events=events)
    kinds = [event.kind for event in events]
    for kind in ("measured", "diagnosed", "cluster", "gate", "screened", "accepted", "confirmed",
                 "proposal", "done"):  # fmt: skip
        assert kind in kinds
    assert all(event.message for event in events if event.kind != "progress")


def _plain_rows(ledger: Ledger) -> list[Any]:
    rows = [(row.edit, row.round, row.event, row.detail) for row in edit_events(ledger)]
    reports = [(row.edit, row.passed, row.after_hash) for row in gate_reports(ledger)]
    made = [(row.proposal, row.diff_hash, row.edits, row.evidence) for row in proposals(ledger)]
    ends = [(row.status, row.detail) for row in jobs(ledger)]
    return [rows, reports, made, ends]


@pytest.mark.parametrize("kill", [("runs", 0), ("runs", 2), ("runs", 5), ("asks", 3), ("asks", 9)])
def test_a_killed_job_resumes_to_the_same_rows(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, kill: tuple[str, int]
) -> None:
    """Wherever it is cut, the resumed job ends with the rows of an uninterrupted one."""
    drafts = [[line(f"{GOOD}\n- See PR #4711.")], [line("- Take care.")], [line(NEAR)]]
    whole = go(project, parts, monkeypatch, proposer=parts.proposer(drafts.__getitem__))
    assert (whole.status, len(whole.accepted)) == ("saturated", 2)
    with project.ledger() as ledger:
        wanted = _plain_rows(ledger)
    asked_in_all = len([r for r in wanted[0] if r[2] in {"diagnosed", "asked", "revised"}])
    project.settings.ledger.unlink()

    runs, proposer = parts.runs(project.needs), parts.proposer(drafts.__getitem__)
    if kill[0] == "runs":
        runs.kill_at = kill[1]
    else:
        proposer.fail_at = kill[1]
    with pytest.raises(parts.killed):
        go(project, parts, monkeypatch, runs=runs, proposer=proposer)
    runs.kill_at = proposer.fail_at = None
    cut = runs.investigations
    with project.ledger() as ledger:
        again = asyncio.run(
            resume_tune(
                project.settings, ledger, "tune-te", cases=project.cases, gate=parts.gate(),
                interface=parts.interface(), proposer=proposer, watch=Watch(),
            )
        )  # fmt: skip
        assert _plain_rows(ledger) == wanted
    assert again.after.hash == whole.after.hash
    assert runs.investigations - cut < runs.investigations or cut == 0
    assert len({plan.key() for plan in runs.plans}) == len(runs.plans), "a run was played twice"
    assert len(proposer.bodies) <= asked_in_all + 8


def test_resuming_a_finished_job_adds_nothing(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result comes again from the rows; no call is made and no row is added."""
    runs = parts.runs(project.needs)
    first = go(project, parts, monkeypatch, runs=runs)
    with project.ledger() as ledger:
        wanted, count = _plain_rows(ledger), len(ledger.read("SELECT * FROM jobs"))
        proposer = parts.proposer()
        again = go(project, parts, monkeypatch, runs=runs, proposer=proposer, ledger=ledger)
        assert _plain_rows(ledger) == wanted
        assert len(ledger.read("SELECT * FROM jobs")) == count
    assert proposer.bodies == []
    assert (again.proposal, again.status) == (first.proposal, first.status)


def test_a_job_is_resumed_with_its_own_cases_only(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other incidents would be another job; an unknown id names those that exist."""
    go(project, parts, monkeypatch)
    with project.ledger() as ledger:
        given: dict[str, Any] = {"gate": parts.gate(), "interface": parts.interface()}
        with pytest.raises(ConfigError, match="not those"):
            asyncio.run(
                resume_tune(project.settings, ledger, "tune-test", cases=project.cases[1:], **given)
            )
        with pytest.raises(UsageError, match="tune-test"):
            asyncio.run(
                resume_tune(project.settings, ledger, "tune-x", cases=project.cases, **given)
            )


def test_test_side_cases_are_refused(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job never takes a case of the held-out half."""
    project.cases = (replace(project.cases[0], side="test"), *project.cases[1:])
    with pytest.raises(UsageError, match="train-side"):
        go(project, parts, monkeypatch)


def test_an_effect_that_fresh_repeats_do_not_show_is_not_proposed(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was accepted on luck falls at the confirmation."""

    class Lucky(parts.runs):  # type: ignore[misc, name-defined]
        async def play(self, plan: Any, *args: Any, **more: Any) -> Any:
            if plan.purpose == "confirm":
                self.needs = dict.fromkeys(self.needs, "")
            return await super().play(plan, *args, **more)

    done = go(project, parts, monkeypatch, runs=Lucky(project.needs))
    assert (done.status, done.proposal) == ("nothing_new", "")
    assert done.accepted
    assert done.after.hash == done.before.hash
    assert "fresh repeats" in done.reason
