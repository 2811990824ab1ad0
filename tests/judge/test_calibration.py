"""Calibration: the labelled answers themselves, and that a judge's faults are found by them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer, Seen, all_hold

from heldout.errors import ConfigError, UsageError
from heldout.judge import JudgeChoice, Verdict, judge_exact
from heldout.judge.calibration import (
    Calibration,
    calibrate,
    calibration_text,
    compared,
    decided_by_words,
    keep,
    standing,
)
from heldout.judge.labels import CLASSES, built_in, labels_from
from heldout.judge.quoting import without_appeals
from heldout.store import Ledger
from heldout.store.judging import calibrations

LABELS = built_in()


def shown(mechanism: str) -> str:
    """A mechanism as a judging model sees it."""
    return without_appeals(mechanism)[0]


RIGHTLY = {shown(one.submission.mechanism): one.result == "pass" for one in LABELS.answers}

DRAWN = sorted(
    (shown(one.submission.mechanism) for one in LABELS.answers if decided_by_words(one)),
    key=lambda text: hashlib.sha256(text.encode()).hexdigest(),
)


def planted(seen: Seen, wrong: float) -> dict[str, Any]:
    """A judge that knows every label and errs on a fixed share of the answers, drawn by hash."""
    erring = seen.mechanism in DRAWN[: round(len(DRAWN) * wrong)]
    return all_hold(seen, yes=RIGHTLY[seen.mechanism] != erring)


def calibrated(server: JudgeServer, *models: str) -> Calibration:
    """The calibration of the judge at a server."""

    async def run() -> Calibration:
        panel = server.panel(*models)
        try:
            return await calibrate(panel, LABELS)
        finally:
            await panel.aclose()

    return asyncio.run(run())


def test_the_labelled_answers_are_many_and_of_every_class():
    """At least 120 answers, twelve of each class, no text twice, only two classes pass."""
    counts = Counter(one.kind for one in LABELS.answers)
    assert sum(counts.values()) >= 120
    assert set(counts) == set(CLASSES)
    assert min(counts.values()) >= 12
    texts = [one.submission.mechanism for one in LABELS.answers]
    assert len(set(texts)) == len(texts)
    for one in LABELS.answers:
        assert (one.result == "pass") == (one.kind in ("right", "rightly_open"))
    assert sum(decided_by_words(one) for one in LABELS.answers) >= 60


def test_the_exact_judge_is_good_and_its_limits_are_known():
    """Kappa above 0.8 at the interval's lower end; what it errs on are words that no list holds."""
    found = asyncio.run(calibrate(judge_exact, LABELS))
    assert found.kappa.value > 0.88
    assert found.kappa.low > 0.8
    assert found.invalid == 0
    wrong_passes = [one for one in found.errors if not one.startswith("right")]
    assert len(wrong_passes) <= 2
    for kind in ("wrong_entity", "wrong_change", "injection", "honest_miss", "confident_wrong"):
        assert set(found.confusion[kind]) == {"fail"}


def test_a_judge_that_errs_on_one_in_ten_is_found_out(server: JudgeServer):
    """Over the real wire, the intervals hold the planted rate and the kappa that it implies."""
    server.think = lambda seen: planted(seen, 0.1)
    found = calibrated(server)
    assert found.words_agreement.low <= 0.9 <= found.words_agreement.high
    asked = [one for one in LABELS.answers if decided_by_words(one)]
    share = sum(one.result == "pass" for one in asked) / len(asked)
    said = share * 0.9 + (1 - share) * 0.1
    chance = share * said + (1 - share) * (1 - said)
    assert found.words_kappa.low <= (0.9 - chance) / (1 - chance) <= found.words_kappa.high
    assert found.words_kappa.high < 1
    assert len(found.errors) == round(len(asked) / 10)


def test_a_perfect_and_a_bad_judge_are_told_apart(server: JudgeServer):
    """The planted judge without errors has kappa 1, with 40 % errors far less: the test can fail."""
    server.think = lambda seen: planted(seen, 0.0)
    perfect = calibrated(server)
    assert (perfect.words_kappa.value, perfect.errors) == (1, ())
    server.think = lambda seen: planted(seen, 0.4)
    assert not calibrated(server).words_agreement.high >= 0.9


def test_one_that_always_passes_is_worth_nothing(server: JudgeServer):
    """Constant praise has kappa 0, as a whole judge and as a model where words decide."""
    always = asyncio.run(calibrate(lambda *_: Verdict("pass", "", "stub"), LABELS))
    assert always.kappa[:3] == pytest.approx((0, 0, 0), abs=1e-6)
    found = calibrated(server)
    assert found.words_kappa.value == pytest.approx(0)
    assert found.confusion["wrong_entity"] == {"fail": 14}


def test_the_members_of_a_panel_are_told_apart(server: JudgeServer):
    """A panel of two good models and a bad one is good, and says which one is bad."""
    rates = {"good": 0.0, "fair": 0.1, "bad": 0.5}
    server.think = lambda seen: planted(seen, rates[seen.model])
    found = calibrated(server, "lab/good", "lab/fair", "lab/bad")
    kappas = {model: one.value for model, one in found.members.items()}
    assert kappas["lab/good"] == 1 > kappas["lab/fair"] > kappas["lab/bad"]
    assert found.words_kappa.value > kappas["lab/bad"]
    assert "member lab/bad: kappa" in calibration_text("llm", found)
    assert calibrated(server, "lab/good").members == {}


def test_invalid_answers_are_counted_apart(server: JudgeServer):
    """A judge that cannot be read on some answers loses them, not its kappa."""
    server.think = lambda seen: "?" if len(seen.mechanism) % 7 == 0 else planted(seen, 0.0)
    found = calibrated(server)
    assert found.invalid > 0
    assert found.words_kappa.value == 1
    assert f"invalid {found.invalid}" in calibration_text("llm", found)


def test_a_refused_key_ends_a_calibration(server: JudgeServer):
    """No figures from a judge that never answered."""
    server.think = lambda _: 401
    with pytest.raises(ConfigError):
        calibrated(server)


def test_a_team_brings_its_own_labels(tmp_path: Path):
    """Answers about built-in incidents or with truths of their own; a bad line is named."""
    path = tmp_path / "ours.jsonl"
    rows: list[dict[str, Any]] = [
        {"incident": "cal-01", "entity": "e-ca0100e1", "change": "c-ca0100c1", "result": "pass",
         "mechanism": "The connection pool was exhausted."},
        {"entity": "e-1", "change": None, "mechanism": "The disk is full.", "result": "fail",
         "class": "ours",
         "truth": {"incident": "i", "accepted_entities": ["e-2"], "mechanism": "It is full."}},
    ]  # fmt: skip
    path.write_text("\n".join(json.dumps(row) for row in rows))
    labels = labels_from(path)
    found = asyncio.run(calibrate(judge_exact, labels))
    assert (found.answers, found.agreement.value, found.labels) == (2, 1, "ours.jsonl")
    assert "ours" in calibration_text("exact", found)
    for bad in ({"result": "good"}, {"mechanism": 1, "result": "pass"}, {"truth": {"x": 1}}):
        path.write_text(json.dumps(rows[0]) + "\n" + json.dumps(bad))
        with pytest.raises(UsageError, match="answer 2"):
            labels_from(path)
    for text in ("", "not json", "[1]"):
        path.write_text(text)
        with pytest.raises(UsageError):
            labels_from(path)


def test_a_calibration_is_bound_to_judge_prompts_and_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Missing, fresh, stale after a word of a prompt changed, and never borrowed by other models."""
    choice = JudgeChoice("llm", ("lab/judge",))
    found = compared(LABELS, [one.result for one in LABELS.answers], _no_cost())
    with Ledger.open(tmp_path / "ledger.duckdb") as ledger:
        assert "NOT CALIBRATED" in standing(ledger, choice, "lab/agent")[0]
        keep(ledger, choice, LABELS, found)
        assert calibrations(ledger)[0].result["answers"] == len(LABELS.answers)
        assert "kappa 1.00" in standing(ledger, choice, "lab/agent")[0]
        assert standing(ledger, JudgeChoice(), "lab/agent") == []
        other = JudgeChoice("llm", ("lab/other",))
        assert "NOT CALIBRATED" in standing(ledger, other, "lab/agent")[0]
        own = standing(ledger, choice, "lab/judge@high")
        assert own[0] == "JUDGED BY THE MODEL UNDER TEST: lab/judge"
        monkeypatch.setattr("heldout.judge.choice.prompts_hash", lambda: "another")
        assert "STALE" in standing(ledger, choice, "lab/agent")[0]


def _no_cost() -> Any:
    from heldout.signatures.records import Spent

    return Spent()


def test_an_unknown_kappa_is_stored_and_told_as_unknown(tmp_path: Path):
    """Labels of one kind only give no kappa: NaN becomes null in the ledger and 'unknown' in text."""
    few = labels_of_one_kind()
    found = compared(few, ["pass"] * len(few.answers), _no_cost())
    assert math.isnan(found.kappa.value)
    assert "kappa unknown" in calibration_text("exact", found)
    assert found.plain()["kappa"][0] is None
    with Ledger.open(tmp_path / "ledger.duckdb") as ledger:
        keep(ledger, JudgeChoice("llm", ("lab/j",)), few, found)
        assert "none" in standing(ledger, JudgeChoice("llm", ("lab/j",)), "a/b")[0]


def labels_of_one_kind() -> Any:
    """The right answers alone."""
    from dataclasses import replace

    right = tuple(one for one in LABELS.answers if one.result == "pass")
    return replace(LABELS, name="ours", answers=right)
