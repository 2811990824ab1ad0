"""Tables made by hand."""

from __future__ import annotations

from typing import Any

from heldout.stats import adjusted_p, mcnemar_exact
from heldout.transfer import Cell, Column, Table

ONE, TWO = "openai/one@low", "llama/two"


def cell(owner: str, model: str, solved: str, shared: str, **more: Any) -> Cell:
    """A cell on ten traps, named by digits: ``solved`` with this brain, ``shared`` without."""
    fixed = tuple(f"inc-{d}" for d in solved if d not in shared)
    broken = tuple(f"inc-{d}" for d in shared if d not in solved)
    held: dict[str, Any] = {}
    if owner:
        p = mcnemar_exact(len(fixed), len(broken))
        held = {"fixed": fixed, "broken": broken, "p": p, "p_adjusted": adjusted_p(p, 4)}
    given = {"word": "no gain shown" if owner else "", **held, **more}
    return Cell(
        owner=owner, model=model, brain="b", traps=10,
        solved=tuple(f"inc-{d}" for d in solved), unpaired=(), controls=4, controls_solved=4,
        coverage=1.0, tokens=10, usd=0.1, **given,
    )  # fmt: skip


def made(half: Any = "test", **more: Any) -> Table:
    """Two models, two tuned brains: the first one's brain fixes 2-8 there, and 4, 5, 9 elsewhere."""
    columns = (
        (ONE, (("", "01"), (ONE, "012345678"), (TWO, "012"))),
        (TWO, (("", "0123"), (ONE, "012459"), (TWO, "0123456789"))),
    )
    scored = {"score": "s-1", "look": 1, "look_budget": 5} if half == "test" else {}
    held = {
        "transfer": "t-1", "half": half, "set": "small", "brain": "b", "repeats": 3,
        "owners": (ONE, TWO), "at": 1,
        "columns": tuple(
            Column(
                model=model,
                evidence=f"Real model: {model}; incidents: 10.",
                simulated=False,
                cells=tuple(cell(owner, model, solved, rows[0][1]) for owner, solved in rows),
                runs=("r",),
                seconds=1.0,
                usd=0.3,
                **scored,
            )
            for model, rows in columns
        ),
    }  # fmt: skip
    return Table(**{**held, **more})
