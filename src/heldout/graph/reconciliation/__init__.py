"""What is declared against what runs: what has no counterpart, what differs, what is gone.

Works on any world. A resource *runs* where a cloud's own source tells of it, and is *declared*
where it is ``declared_in`` an IacStack. Fields are compared where both sides tell them; what only
one side tells is counted, never guessed.
"""

from __future__ import annotations

from heldout.graph.reconciliation.outcome import (
    Absent,
    Difference,
    Group,
    Reconciliation,
    reconcile,
)
from heldout.graph.reconciliation.text import rendered

__all__ = ["Absent", "Difference", "Group", "Reconciliation", "reconcile", "rendered"]
