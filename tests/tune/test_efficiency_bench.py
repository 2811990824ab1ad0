"""The table of what strategies pay: medians, goals, and what is kept between sittings."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.efficiency import keeping
from bench.efficiency.table import ARMS, BEGIN, END, PAGE, Measured, goal, table


def row(arm: str, seed: int, played: int, fixed: int, broken: int = 0) -> Measured:
    """One row; a view of another row's job has no end of its own."""
    status = "" if next(one for one in ARMS if one.name == arm).of else "saturated"
    one = Measured(arm, seed, status, played, 48, (12, 12))
    return one.gained(1, 1 + fixed - broken, fixed, broken, 9)


def rows(reflect: int, gain: int) -> list[Measured]:
    """Three seeds of every arm, the search of gepa at 200 investigations and 6 fixed."""
    played = {"reflect": reflect, "reflect, clusters = 3": 150,
              "gepa": 300, "gepa, search alone": 200, "blind": 400}  # fmt: skip
    return [
        row(arm, seed, spent + seed, 0 if arm == "blind" else gain if arm == "reflect" else 6)
        for arm, spent in played.items()
        for seed in (1, 2, 3)
    ]


def test_the_table_shows_medians_with_their_range() -> None:
    """A row for each arm; where nothing was fixed there is no price."""
    lines = table(rows(90, 6))
    assert len(lines) == 2 + len(ARMS)
    cells = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert cells == [
        "reflect", "3 saturated", "12 of 12", "92 (91-93)", "48", "1 → 7 of 9", "6 / 0", "15",
    ]  # fmt: skip
    assert lines[-1].endswith("| nothing fixed |")
    assert "| gepa, search alone | - |" in lines[5]


@pytest.mark.parametrize(
    ("reflect", "gain", "met"), [(90, 6, True), (120, 6, False), (90, 5, False)]
)
def test_the_goal_is_half_the_price_for_no_smaller_gain(reflect: int, gain: int, met: bool) -> None:
    """Too dear or too small a gain misses it, and the line says so."""
    said = next(line for line in goal(rows(reflect, gain)) if "`gepa, search alone`" in line)
    assert said.endswith("met)." if met else "missed).")


def test_a_finished_seed_is_kept_until_the_code_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept comes back as it was; with other code it is measured again."""
    monkeypatch.setattr(keeping, "FOLDER", tmp_path)
    keeping.keep(1, rows(90, 6))
    assert keeping.kept(1) == rows(90, 6)
    assert keeping.kept(2) is None
    monkeypatch.setattr(keeping, "_digest", lambda: "other")
    assert keeping.kept(1) is None


def test_the_page_has_a_place_for_the_table() -> None:
    """Once, with both marks."""
    text = PAGE.read_text(encoding="utf-8")
    assert (text.count(BEGIN), text.index(BEGIN) < text.index(END)) == (1, True)
