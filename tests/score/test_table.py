"""The table for a sceptic: one row per arm, held against before, with nothing made up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from heldout.brain import Brain
from heldout.compare import Footprints
from heldout.report import gather, render_html, render_text
from heldout.score import read_score
from heldout.score.table import unseen
from heldout.score.views import Material
from heldout.store import queries


def helped(incident: str, hinted: bool, seed: int) -> bool:
    """The hint solves traps up to the eighth and breaks one control."""
    if incident.startswith("calm"):
        return not (hinted and incident == "calm-00")
    return incident < "trap-02" or (hinted and incident < "trap-09")


def rows(score: Any) -> dict[str, Any]:
    """The table by arm."""
    return {row.arm: row for row in score.table}


def test_each_arm_has_a_row_against_before(bench: Any, make_actor: Any):
    """Solved, fixed, broken, p raw and adjusted, controls with their bound, runs and tokens."""
    bench.score(make_actor(helped), arms=("placebo",))
    score = bench.score(make_actor(helped), arms=("placebo", "format"))
    table = rows(score)
    assert list(table) == ["before", "placebo", "format", "after"]
    assert (table["before"].solved, table["before"].p, table["before"].harm) == (2, None, None)
    tuned = table["after"]
    assert (tuned.solved, tuned.fixed, tuned.broken) == (9, 7, 0)
    assert tuned.p == score.traps.p
    assert tuned.p_adjusted == pytest.approx(2 * tuned.p)
    assert (tuned.harm.broken, tuned.harm.paired) == (1, 4)
    assert tuned.harm.upper == score.harm.upper
    assert tuned.rivalry is None
    fake = table["placebo"]
    assert (fake.solved, fake.fixed, fake.broken, fake.p) == (2, 0, 0, 1.0)
    assert (fake.rivalry.ahead, fake.rivalry.behind) == (7, 0)
    assert fake.harm.broken == 0
    assert (fake.valid, fake.planned, fake.invalid, fake.absent) == (14, 14, 0, 0)
    assert fake.tokens == 14 * 110
    assert fake.usd == pytest.approx(0.14)
    assert read_score(queries.scores(bench.ledger)[0].result) == score


def test_other_arms_change_nothing_of_the_primary_comparison(bench: Any, make_actor: Any):
    """Whatever else is played, after against before is the same count and the same p."""
    alone = bench.score(make_actor(helped), arms=())
    among = bench.score(make_actor(helped), arms=("noop", "placebo", "format"))
    assert among.traps.cells == alone.traps.cells
    assert among.traps.p == alone.traps.p
    assert among.endpoint["primary"] == alone.endpoint["primary"]
    assert "further arms" in among.endpoint["exploratory"]


def test_an_unknown_price_stays_unknown(bench: Any, make_actor: Any):
    """No arm whose model has no price is shown as free."""
    score = bench.score(make_actor(helped, usd=None))
    assert all(row.usd is None for row in score.table)
    text = render_text(gather(bench.ledger, bench.settings))
    line = next(one for one in text.splitlines() if one.startswith("no-op") and "unknown" in one)
    assert not line.rstrip().endswith("0.00")


def test_an_arm_that_fails_is_invalid_and_not_wrong(bench: Any, make_actor: Any):
    """What the provider lost stands in its own column, for the arm that lost it."""
    from heldout.errors import ProviderUnavailable

    down = make_actor(
        helped,
        fail=lambda incident, hinted: (
            ProviderUnavailable("503") if hinted and incident == "trap-01" else None
        ),
    )
    table = rows(bench.score(down))
    assert table["after"].invalid == 1
    assert table["before"].invalid == 0
    assert table["after"].broken == 0


def cases_of(bench: Any, **families: str) -> Any:
    """Material with families and traps of train, and the first case's own."""
    return Material(
        cases=bench.cases, outcomes={"before": [], "after": []}, repeats=1,
        train_families=frozenset(families["families"].split()),
        train_traps=frozenset(families["traps"].split()), footprints=Footprints(),
    )  # fmt: skip


def test_unseen_is_a_family_or_a_trap_that_train_lacks(bench: Any):
    """The second half of the traps is of family quota; a trap that train lacks counts as well."""
    quota = [f"trap-{n:02}" for n in range(5, 10)]
    assert unseen(cases_of(bench, families="pool", traps="latent")) == quota
    assert unseen(cases_of(bench, families="pool quota", traps="latent")) == []
    assert len(unseen(cases_of(bench, families="pool quota", traps="decoy")) or ()) == 10
    assert unseen(cases_of(bench, families="", traps="latent")) is None


def test_the_table_is_read_back_from_the_ledger(bench: Any, make_actor: Any):
    """Text and page hold every row, the hashed endpoint, the look, the class and the multiplicity."""
    score = bench.score(make_actor(helped), arms=("noop", "placebo"))
    data = gather(bench.ledger, bench.settings, score.score)
    text, page = render_text(data), render_html(data)
    for shown in (text, page):
        assert "placebo" in shown
        assert "no-op" in shown
        assert "tuned" in shown
    flat = " ".join(text.split())
    assert f"Endpoint {score.endpoint_hash}" in flat
    assert "look 1 of 2" in flat
    assert score.evidence.sentence() in flat
    assert "The other 2 row(s) are exploratory" in flat
    assert "up to 10 % of such tables" in flat
    assert "no set from outside was scored" in flat
    again = gather(bench.ledger, bench.settings, score.score)
    assert again.arms == data.arms
    assert score.endpoint_hash in page


def test_what_the_change_does_not_beat_is_said(bench: Any, make_actor: Any):
    """A lead over every arm is said as one; a change that does nothing leads none of them."""
    bench.score(make_actor(helped), arms=("placebo",))
    leads = gather(bench.ledger, bench.settings).arms.notes
    assert "Tuned leads every other arm, each at p < 0.05 and not adjusted." in leads
    bench.score(make_actor(lambda *_: True), arms=("placebo", "format"))
    level = gather(bench.ledger, bench.settings).arms.notes
    assert any(note.startswith("No lead of tuned is shown over: placebo, ") for note in level)


def test_an_outside_score_of_the_same_brains_stands_in_its_column(
    bench: Any, make_actor: Any, new_case: Any
):
    """Same brains and model on recorded incidents of another set: its rows, else a dash."""
    outside = tuple(
        new_case(bench.settings.root, f"trap-2{n}", "trap", origin="recorded") for n in range(3)
    )
    home = bench.score(make_actor(helped), arms=("noop", "placebo"))
    assert all(line.outside == "-" for line in gather(bench.ledger, bench.settings).arms.lines)
    actor = make_actor(lambda incident, hinted, seed: hinted)
    other = bench.score(actor, cases=outside, arms=("noop",), set="recorded")
    data = gather(bench.ledger, bench.settings, home.score)
    shown = {line.name: line.outside for line in data.arms.lines}
    assert shown == {"before": "0 of 3", "no-op": "0 of 3", "placebo": "-", "tuned": "3 of 3"}
    note = next(note for note in data.arms.notes if note.startswith("Outside"))
    assert "recorded" in note
    assert other.score in note


def test_a_score_from_before_there_was_a_table_still_has_rows(bench: Any, make_actor: Any):
    """What its comparisons say is shown, and what they do not is a dash."""
    score = bench.score(make_actor(helped), arms=("placebo",))
    from heldout.report.evidence import arm_rows_of

    old = {row.arm: row for row in arm_rows_of(replace(score, table=()))}
    new = rows(score)
    for arm, row in old.items():
        assert (row.solved, row.fixed, row.p_adjusted) == (
            new[arm].solved, new[arm].fixed, new[arm].p_adjusted,
        )  # fmt: skip
        assert row.unseen is None


def test_hostile_words_of_arms_are_shown_harmless(
    bench: Any, make_actor: Any, brains: tuple[Brain, Brain]
):
    """A set's name with markup or escapes in it can neither draw nor move a cursor."""
    score = bench.score(make_actor(helped), arms=("placebo",))
    bad = dict(score.endpoint)
    bad["further"] = {"placebo": {"what": "<script>x</script>\x1b[2J", "remark": "", "facts": True}}
    bad["left_out"] = {"blind": "<img src=x>\x1b[1m"}
    from heldout.report.evidence import evidence_table, evidence_text

    found = evidence_table(bench.ledger, replace(score, endpoint=bad))
    assert found is not None
    assert "\x1b" not in evidence_text(found)
    data = replace(gather(bench.ledger, bench.settings, score.score), arms=found)
    page = render_html(data)
    assert "<script>" not in page
    assert "<img" not in page
    assert next(line for line in found.lines if line.facts).name == "placebo†"
