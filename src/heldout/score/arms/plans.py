"""From a request to plans: which arms are played, and which of them beside each other.

``before`` and ``after`` run in one plan, interleaved, with the same seed per incident and repeat,
so that they are paired; so do the further arms and brains. An arm that is made to be played again
stands in a second plan with another seed, played at the same time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.errors import UsageError
from heldout.run.arm import Arm
from heldout.run.plan import Limits, Plan, Terms
from heldout.score.arms.arm import Brains, FurtherArm, Made, Supplies
from heldout.score.arms.noop import noop_seed
from heldout.score.request import ScoreRequest
from heldout.settings import Settings
from heldout.split import Case


@dataclass(frozen=True, slots=True)
class Lineup:
    """The further arms of a score, and why others that were wished for are not played."""

    made: tuple[Made, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def plain(self, known: Mapping[str, FurtherArm]) -> dict[str, Any]:
        """For the endpoint: what each arm is and everything that changes its prompts, by hash."""
        return {
            one.arm.name: {
                "what": known[one.arm.name].what,
                "remark": one.remark,
                "facts": one.facts,
                "shown": _hash(one.arm.plain()),
            }
            for one in self.made
        }


def _hash(plain: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def line_up(supplies: Supplies, known: Mapping[str, FurtherArm]) -> Lineup:
    """Make the arms that a request names, in the order in which they are known.

    One that lacks what it is made from is a :class:`UsageError`, or left out where the request says
    that it may be.
    """
    made: list[Made] = []
    left_out: dict[str, str] = {}
    for name, one in known.items():
        if name not in supplies.request.arms:
            continue
        try:
            made.append(one.make(supplies))
        except UsageError as error:
            if not supplies.request.where_possible:
                raise
            left_out[name] = error.what
    return Lineup(tuple(made), left_out)


def plans_for(
    settings: Settings,
    request: ScoreRequest,
    brains: Brains,
    cases: Sequence[Case],
    pins: Mapping[str, str],
    lineup: Lineup = Lineup(),
) -> tuple[Plan, ...]:
    """The first plan with the paired arms, and one for arms with seeds of their own, if any."""
    first = [Arm("before", brains.before), Arm("after", brains.after)]
    first += [Arm(name, brain) for name, brain in brains.further.items()]
    first += [one.arm for one in lineup.made if not one.again]
    again = [one.arm for one in lineup.made if one.again]
    whole = settings.run.concurrency
    share = max(1, round(whole * len(first) / (len(first) + len(again))))
    main = _plan(settings, request, cases, pins, first, settings.run.seed, share)
    if not again:
        return (main,)
    seed = noop_seed(settings.run.seed)
    return main, _plan(settings, request, cases, pins, again, seed, max(1, whole - share))


def _plan(
    settings: Settings,
    request: ScoreRequest,
    cases: Sequence[Case],
    pins: Mapping[str, str],
    arms: Sequence[Arm],
    seed: int,
    concurrency: int,
) -> Plan:
    return Plan(
        purpose="score",
        set=request.set or settings.set,
        model=request.model,
        cases=tuple(cases),
        arms=tuple(arms),
        repeats=settings.score.repeats,
        seed=seed,
        limits=Limits(**settings.limits.model_dump()),
        concurrency=concurrency,
        max_invalid=settings.run.max_invalid,
        base_url=request.base_url or settings.models.base_url,
        job=request.job,
        terms=replace(Terms.of(settings), reducer="majority"),
        pins=dict(pins),
    )
