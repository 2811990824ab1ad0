"""The bench of acceptance: what it draws has the committed effect, and its page keeps its text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bench.acceptance import measured, table
from bench.acceptance.effects import EFFECTS, INCIDENTS, draw
from bench.acceptance.rules import nets

EFFECT = {effect.name: effect for effect in EFFECTS}


def _moved(name: str, rho: float = 0.5) -> tuple[float, float, float]:
    """Mean change on the cluster, on what counts as solved, and over the half."""
    rng, seen = np.random.default_rng(11), []
    for _ in range(300):
        half = draw(rng, EFFECT[name], rho, 8)
        change = half.after - half.before
        seen.append((change[half.cluster].mean(), change[half.solved].mean(), change.mean()))
    cluster, solved, whole = np.array(seen).mean(axis=0)
    return float(cluster), float(solved), float(whole)


def test_no_effect_has_none_over_the_half() -> None:
    """Nothing, moved and redrawn leave the mean; redrawn fixes what failed and breaks the rest."""
    assert _moved("none") == (0.0, 0.0, 0.0)
    assert abs(_moved("none, moved")[0]) < 0.02
    cluster, solved, whole = _moved("none, redrawn")
    assert cluster > 0.05 > -0.02 > solved
    assert abs(whole) < 0.02


def test_fixes_and_harm_are_where_they_are_said_to_be() -> None:
    """A medium edit touches its cluster alone, mild harm everything else."""
    cluster, solved, whole = _moved("medium")
    assert cluster > 0.15
    assert solved == 0.0
    assert whole == pytest.approx(cluster * 8 / INCIDENTS, rel=0.2)
    assert _moved("mild harm")[0] == 0.0
    assert _moved("mild harm")[1] < -0.10


def test_a_page_is_written_between_its_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few draws: every rule, job and net has its row, the text around stays, and it repeats."""
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    monkeypatch.setattr(table, "PAGE", page)
    monkeypatch.setattr(table, "CORRELATIONS", (0.5, 0.8))
    cells, jobs = [], []
    for rho in (0.5, 0.8):
        single, whole = measured(2, 1, rho)
        cells += single
        jobs += whole
    assert measured(2, 1, 0.8) == (cells[-len(single) :], jobs[-len(whole) :])
    table.write_page(table.Measured(cells, jobs, nets(2)))
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith(f"{table.END}\nafter\n")
    assert "old" not in text
    for row in (
        "| none, redrawn | rejected |",
        "| one medium | 0.5 |",
        "| evidence, all of a job |",
    ):
        assert row in text
