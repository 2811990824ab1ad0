"""A score judged by models: blind to the arm, pinned before the first call, told in the report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heldout.judge import JudgeChoice, judge_hash
from heldout.report import gather, render_text
from heldout.settings import JudgeSettings
from heldout.store import queries

sys.path.append(str(Path(__file__).parents[1] / "judge"))

from judge_server import JudgeServer


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    """A fake judging model over real loopback HTTP."""
    with JudgeServer() as running:
        yield running


def test_a_score_is_judged_blindly_by_models(bench: Any, make_actor: Any, server: JudgeServer):
    """Both arms go to the same judge with nothing of the brain; the report says it is uncalibrated."""
    settings = JudgeSettings(by="llm", models=("lab/judge",), base_url=server.url)
    judged = replace(bench, settings=replace(bench.settings, judge=settings))
    score = judged.score(make_actor(lambda incident, hinted, seed: hinted))
    assert score.outcome == "gain"
    choice = JudgeChoice.of(settings)
    assert score.endpoint["pins"]["judge"] == judge_hash(choice) != judge_hash()
    for run in score.runs:
        assert queries.run(bench.ledger, run).manifest["terms"]["judge"] == "llm"
    rows = [row for run in score.runs for row in queries.investigations(bench.ledger, run)]
    assert {row.verdicts[0].judge for row in rows} == {"llm"}
    assert sum(queries.cost(bench.ledger, run=run).judge_calls for run in score.runs) == len(
        server.seen
    )
    for seen in server.seen:
        text = (seen.system + seen.prompt).casefold()
        for word in ("before", "after", "noop", "method", "actor"):
            assert word not in text.split(), word
    text = render_text(gather(bench.ledger, judged.settings))
    assert "NOT CALIBRATED" in text
