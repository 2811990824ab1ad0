"""Canaries: every known way to be paid without a repair, each with the most it may be worth.

One list. Whoever finds another hole adds an entry, and the tests hold it to its ceiling on every
template that it fits.
"""

from __future__ import annotations

from heldout.repair.canaries.attacks import PIPE
from heldout.repair.canaries.canary import Canary, worth
from heldout.repair.canaries.cheats import CHEATS
from heldout.repair.canaries.reports import REPORTS
from heldout.repair.playing import oracle

CANARIES: tuple[Canary, ...] = (*REPORTS, *CHEATS, *PIPE)
"""Every canary, in the order of the table."""

ORACLE = Canary("oracle", "looks, repairs and reports what is true", "", oracle, 1.0)
ORACLE_FLOOR = 0.95
"""The least that the right repair and report are worth, on every task."""

__all__ = ["CANARIES", "ORACLE", "ORACLE_FLOOR", "Canary", "worth"]
