"""What the graph or the tools should gain, from how agents used them on the train half."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.errors import StoreError, UsageError, WorldError
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.usage import usage

MOST = 6


def wishes(ledger: Ledger, settings: Settings, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """A line each, those of most investigations first, over the run that confirmed a proposal.

    That run is over train, so a report of a score tells nothing of the held-out half. Empty where
    there is no such run any more. What the brain should say is the proposer's part.
    """
    if not evidence.get("run"):
        return ()
    try:
        found = usage(ledger, str(evidence["run"]), settings.root)
    except (UsageError, StoreError, WorldError):
        return ()
    return tuple(one.text for one in found.suggestions if one.place != "brain")[:MOST]
