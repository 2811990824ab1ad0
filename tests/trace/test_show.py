"""Transcripts: what is shown, how, side by side, and what stays closed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.trace.conftest import Project, case, end_score, heldout, played

from heldout.errors import SplitViolation, UsageError
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.transcript import (
    Wanted,
    difference_plain,
    find,
    require_open,
    side_by_side,
    transcript,
    transcript_plain,
)
from heldout.transcript.verdicts import criteria_lines


def test_a_transcript_reads_from_alert_to_cost(project: Project, ledger: Ledger):
    """Alert, each call with its answer, the diagnosis, the verdict with criteria, the cost."""
    text = transcript(find(ledger, Wanted(project.train[:6], "inc-one", "before")))
    for said in (
        "incident inc-one · train half",
        "FAIL · 15 steps in 15 model calls · 15,000 tokens in",
        "0.1500 USD",
        "Fired at 2026-03-04T12:00:00Z",
        "kubectl_logs pod=quay-core-a",
        "refused, unknown_tool",
        "get_entity not json",
        "refused, unknown_argument: list_changes has no argument 'service'",
        "window 2026-03-04T00:00:00Z to 2026-03-04T12:00:00Z",
        "outside the window",
        "refused, unavailable: no metric data",
        "no rows",
        "root cause entity   e-00000063",
        "fail · judge exact",
        "criteria: answered yes",
    ):
        assert said in text, said
    order = [text.index(word) for word in ("\nAlert", "\nSteps", "\nSubmitted", "\nVerdicts")]
    assert order == sorted(order)


def test_hostile_text_is_harmless_and_lines_are_wrapped(project: Project, ledger: Ledger):
    """No escape reaches the terminal, no line is wider than the page, in full as well."""
    for full in (False, True):
        text = transcript(find(ledger, Wanted(project.train, "inc-one", "before")), full=full)
        assert "IGNORE ALL RULES" in text
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= 100


def test_full_shortens_nothing(project: Project, ledger: Ledger):
    """All rows of an answer are shown, and as many characters as came back."""
    found = find(ledger, Wanted(project.train, "inc-one", "after"))
    short, full = transcript(found), transcript(found, full=True)
    assert "more rows came back" in short
    assert "more rows came back" not in full
    assert len(full) > 1.4 * len(short)


def test_two_investigations_stand_side_by_side(project: Project, ledger: Ledger):
    """The first different call is marked once, and both answers stand at the end."""
    one, two = (find(ledger, Wanted(project.train, "inc-one", arm)) for arm in ("before", "after"))
    text = side_by_side(one, two)
    assert "first different call: step 2" in text
    marked = [line for line in text.splitlines() if ">>" in line]
    assert len(marked) == 1
    assert "kubectl_logs" in marked[0]
    assert "get_neighbors" in marked[0]
    assert "FAIL" in text
    assert "PASS" in text
    assert "entity e-00000004" in text.split("What each found")[1]
    assert max(map(len, text.splitlines())) <= 100
    assert difference_plain(one, two)["first_difference"] == 1
    assert difference_plain(one, one)["first_difference"] is None
    assert "the calls are the same" in side_by_side(one, one)


def test_names_that_fit_none_or_several_are_refused(project: Project, ledger: Ledger):
    """An unknown run, incident, arm or repeat is a usage error that says what there is."""
    for wanted, said in (
        (Wanted("nonesuch", "inc-one"), "names no run"),
        (Wanted(project.train, "inc-one"), "several arms"),
        (Wanted(project.train, "inc-", "after"), "inc-one, inc-two"),
        (Wanted(project.train, "inc-one", "nonesuch"), "It has: before, after"),
        (Wanted(project.train, "inc-one", "after", 7), "Repeats that were played: 0"),
    ):
        with pytest.raises(UsageError, match=said):
            find(ledger, wanted)


def test_an_unanswered_investigation_is_shown_too(project: Project, ledger: Ledger):
    """Words without a call, what the harness said to them, and that nothing was submitted."""
    text = transcript(find(ledger, Wanted(project.mute, "inc-one")), width=140)
    assert "says     I give up." in text
    assert "is told  Your reply called no tool." in text
    assert "ended: no_submission" in text


def test_a_second_opinion_stands_beside_the_first(project: Project, tmp_path: Path):
    """Verdicts of other judges and of people are listed with who gave them."""
    home = Path(shutil.copytree(project.settings.root, tmp_path / "p"))
    with Ledger.open(Settings(root=home).ledger) as ledger:
        slot = {"run": project.train, "incident": "inc-one", "arm": "before", "repeat": 0}
        verdict = {"attempt": 0, "judge": "person", "result": "pass", "author": "Kim"}
        ledger.append("verdicts", [{**slot, **verdict, "reasoning": "good enough\x1b[2J"}])
        found = find(ledger, Wanted(project.train, "inc-one", "before"))
        text = transcript(found)
    assert "pass · Kim (a person)" in text
    assert "FAIL, LATER PASS" in text
    assert "good enough" in text
    assert [one["author"] for one in transcript_plain(found)["verdicts"]] == [None, "Kim"]


def test_a_panels_opinions_are_told_one_by_one():
    """Criteria on a line, then each judge's answers with reasons; a failure, figures, nesting."""
    said = list(
        criteria_lines(
            {
                "entity": True,
                "decided_by": "words",
                "lcs": {"passed": False, "l": {"one": "yes"}},
                "members": {
                    "x/judge": {
                        "result": "fail",
                        "answers": {"causes": "several", "entity": "yes"},
                        "reasons": {"causes": "names two"},
                    },
                    "y/judge": {"result": "invalid", "failure": "no JSON"},
                },
            }
        )
    )
    assert said == [
        "criteria: entity yes, decided_by words",
        "lcs: passed no, l.one yes",
        "- x/judge: fail; causes several (names two); entity yes",
        "- y/judge: result invalid, failure no JSON",
    ]


def test_the_held_out_half_stays_closed_until_its_score_has_ended(project: Project, tmp_path: Path):
    """Refused without a score and while it runs, open when it has ended: nothing else opens it."""
    home = Path(shutil.copytree(project.settings.root, tmp_path / "p"))
    wanted = Wanted(project.test, "inc-test", "before")
    with Ledger.open(Settings(root=home).ledger) as ledger:
        with pytest.raises(SplitViolation, match="its score has not ended"):
            find(ledger, wanted)
        end_score(ledger, project.test, ended=False)
        with pytest.raises(SplitViolation):
            find(ledger, wanted)
        end_score(ledger, "another run")
        with pytest.raises(SplitViolation):
            find(ledger, wanted)
        end_score(ledger, project.test)
        assert "held-out half" in transcript(find(ledger, wanted))


def test_a_train_incident_of_a_mixed_run_is_open(project: Project, tmp_path: Path):
    """Where a run holds both sides, the guard looks at the incident that is asked for."""
    home = Path(shutil.copytree(project.settings.root, tmp_path / "p"))
    settings = Settings(root=home, set="small")
    with Ledger.open(settings.ledger) as ledger, pytest.MonkeyPatch.context() as patch:
        patch.setattr("heldout.split._role", "score")
        cases = [case(settings, "inc-one"), case(settings, "inc-test", "test")]
        run = played(ledger, settings, cases, seed=5)
        assert find(ledger, Wanted(run, "inc-one", "after")).row.incident == "inc-one"
        with pytest.raises(SplitViolation):
            find(ledger, Wanted(run, "inc-test", "after"))
        from heldout.store import queries

        with pytest.raises(SplitViolation):
            require_open(ledger, queries.run(ledger, run))


def test_the_command_shows_lists_and_refuses(project: Project):
    """Exit codes and words of the command line, and a pager that goes away early."""
    home = project.settings.root
    listed = heldout(home, "show", project.train[:8])
    assert listed.returncode == 0
    assert listed.stdout.count("inc-one") == 2
    shown = heldout(home, "show", f"{project.train}:after", "inc-one", "--json")
    plain = json.loads(shown.stdout)
    assert plain["verdicts"][0]["result"] == "pass"
    assert [one["step"]["tool"] for one in plain["events"] if one["step"]][-1] == "submit_diagnosis"
    side = heldout(
        home, "show", f"{project.train}:before", "inc-one", "--diff", f"{project.train}:after"
    )
    assert "first different call: step 2" in side.stdout
    closed = heldout(home, "show", project.test)
    assert (closed.returncode, closed.stdout) == (1, "")
    assert "its score has not ended" in closed.stderr
    assert "Traceback" not in closed.stderr
    assert heldout(home, "show", project.train, "--repeat", "1").returncode == 2
