"""What one investigation, one question or one judgement takes: measured earlier, or assumed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.llm.messages import Usage
from heldout.llm.prices import Price
from heldout.pipeline.planning.earlier import begun_jobs
from heldout.store import Ledger
from heldout.store.queries import Cost, cost
from heldout.store.spending import proposing

ENOUGH = 10
"""Earlier ones from which a mean is taken; with fewer the assumption stands."""
WHOLE = ("train", "screen", "confirm", "score")
"""Purposes of runs whose investigations are whole ones."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Means of one of something. ``basis`` says where they come from, for people."""

    calls: float
    input_tokens: float
    cached_tokens: float
    output_tokens: float
    basis: str
    assumed: bool = True

    @property
    def tokens(self) -> float:
        """In and out."""
        return self.input_tokens + self.output_tokens

    def usd(self, count: float, price: Price | None) -> float | None:
        """What ``count`` of them cost; ``None`` without a price."""
        if price is None:
            return None
        used = Usage(
            input_tokens=round(count * self.input_tokens),
            output_tokens=round(count * self.output_tokens),
            cached_tokens=round(count * self.cached_tokens),
        )
        return price.of(used)


ASSUMED = Unit(
    20, 150_000, 0, 6_000,
    "an investigation: assumed 20 calls, 150 k tokens in and none of them cached, 6 k out",
)  # fmt: skip
"""As many calls and tokens in as a simulated model needs, with the longer answers of a real one."""
ASSUMED_SHORT = Unit(1, 7_000, 0, 500, "a probe: assumed 1 call, 7 k tokens in, 500 out")
ASSUMED_CALL = Unit(1, 4_000, 0, 1_500, "a proposer's call: assumed 4 k tokens in, 1.5 k out")
ASSUMED_JUDGED = Unit(1, 3_000, 0, 600, "a verdict by a model: assumed 3 k tokens in, 600 out")


def investigation(ledger: Ledger | None, model: str, max_steps: int) -> Unit:
    """One whole investigation by a model, of ``max_steps`` tool calls at most."""
    spent = _sum(cost(ledger, model=model, purpose=one) for one in WHOLE) if ledger else NOTHING
    known = _mean(spent, spent.investigations, f"an investigation by {model}")
    return known or _assumed(max_steps)


def _assumed(max_steps: int) -> Unit:
    """What nobody measured; a lower limit bounds calls, and tokens in proportion."""
    if max_steps >= ASSUMED.calls:
        return ASSUMED
    share = max_steps / ASSUMED.calls
    read, written = share * ASSUMED.input_tokens, share * ASSUMED.output_tokens
    said = (
        f"an investigation: assumed {max_steps} calls, where its limit is, "
        f"{read / 1000:.0f} k tokens in and none of them cached, {written / 1000:.1f} k out"
    )
    return Unit(max_steps, read, 0, written, said)


def probe(ledger: Ledger | None, model: str) -> Unit | None:
    """One question of the probes, alert-only ones and whole ones mixed; ``None`` if none was."""
    spent = cost(ledger, model=model, purpose="probe") if ledger else NOTHING
    return _mean(spent, spent.investigations, f"a probe of {model}")


def proposal_call(ledger: Ledger | None, proposer: str) -> Unit:
    """One call of a proposer, be it to read a failure or to write a draft."""
    if ledger is None:
        return ASSUMED_CALL
    mine = [one.job for one in begun_jobs(ledger) if one.proposer == proposer]
    spent = _sum(proposing(ledger, job=one) for one in mine)
    return _mean(spent, spent.calls, f"a call of {proposer}") or ASSUMED_CALL


def judgement(ledger: Ledger | None, model: str) -> Unit:
    """One verdict by judging models on an investigation of ``model``; a panel's calls in sum."""
    spent = _sum(cost(ledger, model=model, purpose=one) for one in WHOLE) if ledger else NOTHING
    if not spent.judge_calls or spent.investigations < ENOUGH:
        return ASSUMED_JUDGED
    each = 1 / spent.investigations
    said = f"a verdict: mean over {spent.investigations} earlier investigations by {model}"
    # The ledger keeps a verdict's tokens in sum; nearly all of them are what the judge read.
    return Unit(spent.judge_calls * each, spent.judge_tokens * each, 0, 0, said, assumed=False)


NOTHING = Cost(0, 0, 0, 0, 0, 0.0, 0.0)


def _sum(costs: Iterable[Cost]) -> Cost:
    total = NOTHING
    for one in costs:
        total += one
    return total


def _mean(spent: Cost, count: int, what: str) -> Unit | None:
    if count < ENOUGH:
        return None
    return Unit(
        spent.calls / count,
        spent.input_tokens / count,
        spent.cached_tokens / count,
        spent.output_tokens / count,
        f"{what}: mean of {count} earlier ones",
        assumed=False,
    )
