"""Gathering what further arms are made from, before any model is called."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from heldout.brain import Brain
from heldout.gate import GateProcess
from heldout.gate.report import GateReport
from heldout.score.arms import ARMS, Lineup, Supplies, line_up
from heldout.score.clearance import Gate
from heldout.settings import Settings
from heldout.split import Case


def lined_up(supplies: Supplies, gate: Gate | None, *, gated: bool) -> Lineup:
    """Make the arms that were asked for.

    A gate is started for the first brain that an arm wants checked, if at all; without ``gated``
    only one that is given is asked. It may block.
    """
    with contextlib.ExitStack() as stack:
        held: list[Gate] = [] if gate is None else [gate]

        def check(brain: Brain) -> GateReport:
            if not held:
                held.append(stack.enter_context(GateProcess(supplies.settings)))
            return held[0].check(supplies.brains.before, brain)

        asked = check if gated or held else None
        return line_up(replace(supplies, gate=asked), ARMS)


def train_of(
    settings: Settings, set_name: str, given: Sequence[Case] | None
) -> Callable[[], Sequence[Case]]:
    """Opens the train half of a set when an arm asks for it; ``given`` stands in its place."""

    def open_train() -> Sequence[Case]:
        from heldout.build import cases

        return cases(settings, set_name, "train") if given is None else given

    return open_train
