"""What a score may spend: asked before a look is counted, and honest about what a cap cut off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from heldout.errors import CapReached, ConfigError
from heldout.run.caps import Budget, Caps
from heldout.run.month import Month
from heldout.score.means import require_means
from heldout.settings import MonthSettings
from heldout.store import queries


def always(incident: str, hinted: bool, seed: int) -> bool:
    """A model that finds every cause."""
    return True


def test_a_used_up_month_opens_nothing(bench: Any, make_actor: Any):
    """The score is refused before its look is counted or a model asked."""
    bench.score(make_actor(always))
    before = queries.looks(bench.ledger, "openai/actor@low")
    actor, spent = make_actor(always), replace(bench.settings, month=MonthSettings(max_usd=0.01))
    with pytest.raises(CapReached, match=r"cap of 0\.01 USD is reached"):
        bench.score(actor, settings=spent)
    assert queries.looks(bench.ledger, "openai/actor@low") == before
    assert len(queries.scores(bench.ledger)) == 1
    assert not actor.asked


def test_a_score_that_the_month_cut_short_has_no_result_and_goes_on(bench: Any, make_actor: Any):
    """It is not booked as indecisive: raised caps or the next month finish the same score."""
    tight = replace(bench.settings, month=MonthSettings(max_tokens=1500))
    with pytest.raises(CapReached, match="--resume"):
        bench.score(make_actor(always), settings=tight)
    opened = queries.scores(bench.ledger)[0]
    assert opened.outcome is None
    rest = make_actor(always)
    score = bench.score(rest, resume=opened.score, settings=bench.settings)
    assert score.score == opened.score
    assert score.sides["before"].coverage == 1.0
    assert set(queries.looks(bench.ledger, "openai/actor@low").values()) == {1}
    assert 0 < len(rest.asked) < sum(side.valid for side in score.sides.values())


def test_a_cap_in_usd_needs_prices_of_every_model(bench: Any):
    """The model under test and judging models; a client of one's own says what it costs."""
    asked = Budget(Caps(max_usd=3.0))
    with pytest.raises(ConfigError, match="openai/unheard-of@low has no price"):
        require_means(bench.settings, "openai/unheard-of@low", asked, priced=False)
    require_means(bench.settings, "openai/unheard-of@low", asked, priced=True)
    require_means(bench.settings, "sim/anchored@low", asked, priced=False)
    judged = bench.settings.judge.model_copy(update={"by": "llm", "models": ("openai/odd",)})
    wide = Budget(Caps(), within=Month(MonthSettings(max_usd=3.0)))
    with pytest.raises(ConfigError, match="openai/odd has no price"):
        require_means(replace(bench.settings, judge=judged), "sim/anchored@low", wide, priced=False)
