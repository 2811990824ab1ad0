"""The strategies by name, one file each."""

from __future__ import annotations

from heldout.errors import UsageError
from heldout.propose.strategies.blind import Blind
from heldout.propose.strategies.gepa import Gepa
from heldout.propose.strategies.lines import Lines
from heldout.propose.strategies.reflect import Reflect
from heldout.propose.strategy import Strategy

STRATEGIES: dict[str, Strategy] = {one.name: one for one in (Reflect(), Lines(), Blind(), Gepa())}


def strategy(name: str) -> Strategy:
    """A strategy by name; an unknown one is a :class:`UsageError`."""
    if name not in STRATEGIES:
        known = ", ".join(sorted(STRATEGIES))
        raise UsageError(f"there is no strategy '{name}'", mend=f"Known: {known}")
    return STRATEGIES[name]
