"""What a report says of production: whether a model's incidents end there as they end here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.store import Ledger
from heldout.store.fidelity import fidelities


def fidelity_notes(ledger: Ledger, model: str) -> tuple[str, ...]:
    """Sentences on the model's newest comparison with production; none where there is none."""
    kept = fidelities(ledger, model=model)
    if not model or not kept:
        return ()
    result = kept[0].result
    count, missed = len(result["incidents"]), len(result["unmatched"])
    notes = [
        f"Of {count} incidents of production {_shown(result['agreement'], percent=True)} ended "
        f"alike in the simulation; kappa {_shown(result['kappa'])}."
    ]
    same = result["same_wrong"]
    if same["compared"]:
        notes.append(
            f"Where both failed and the answers can be compared ({same['compared']}), "
            f"{_shown(same, percent=True)} gave the same wrong answer."
        )
    if missed:
        notes.append(f"{missed} lines could not be matched ('heldout fidelity' says why).")
    return tuple(notes)


def _shown(one: Mapping[str, Any], *, percent: bool = False) -> str:
    if one["value"] is None:
        return "is not known"
    form = "{:.0%}" if percent else "{:.2f}"
    value, low, high = (form.format(one[name]) for name in ("value", "low", "high"))
    return f"{value} (95 % interval {low} to {high})"
