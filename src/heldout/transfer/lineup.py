"""Which brains are rows and which models are columns, and what each model is given to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heldout.brain import Brain, slug
from heldout.errors import UsageError
from heldout.llm.names import ModelName
from heldout.overlays import folder, shared, sharer, tuned_for, worn

SHARED = ""
"""The owner of the shared brain: nobody's overlay."""
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True, slots=True)
class Lineup:
    """Rows and columns of a table.

    ``owners`` are the models whose tuned brains are rows, below the shared brain; ``models`` are
    the columns.
    """

    brain: Brain
    owners: tuple[str, ...]
    models: tuple[str, ...]

    def arms(self, model: str) -> dict[str, str]:
        """The arm that plays each row for one model, by the row's owner.

        The shared brain is ``before``. The model's own brain is ``after``, or the first row's where
        it has none; the others go by their owner.
        """
        first = model if model in self.owners else self.owners[0]
        others = {owner: f"of-{slug(owner)}" for owner in self.owners if owner != first}
        return {SHARED: BEFORE, first: AFTER, **others}

    def brains(self, model: str) -> dict[str, Brain]:
        """What one model is given to read in each arm, by the arm's name."""
        return {
            arm: worn(self.brain, owner, model) if owner else shared(self.brain)
            for owner, arm in self.arms(model).items()
        }


def line_up(brain: Brain, models: Sequence[str], owners: Sequence[str] = ()) -> Lineup:
    """Rows and columns from the brain in use; without ``owners`` the models' own brains are rows.

    A model named twice, two models of one overlay, an owner without an overlay, or no row at all is
    a :class:`UsageError`.
    """
    known = {name.split("/")[2] for name in brain.extra if name.startswith("overlays/models/")}
    for named in (models, owners):
        _distinct([str(ModelName.parse(one)) for one in named])
    if not models:
        raise UsageError("no model is named", mend="Name the models that are to be the columns")
    missing = [one for one in owners if not tuned_for(brain, one)]
    rows = tuple(owners) or tuple(one for one in models if tuned_for(brain, one))
    if missing or not rows:
        whose = missing[0] if missing else "any of these models"
        raise UsageError(
            f"the brain in use holds no overlay of {whose}",
            where="overlays/models/",
            mend=f"Tune for it and accept first; there are overlays of: {', '.join(sorted(known))}"
            if known
            else "Tune for it and accept the proposal first",
        )
    _distinct([*models, *(one for one in rows if one not in models)])
    return Lineup(brain, rows, tuple(models))


def _distinct(models: Sequence[str]) -> None:
    for at, model in enumerate(models):
        if model in models[:at]:
            raise UsageError(f"{model} is named twice", mend="Name each model once")
        other = sharer(model, models[:at])
        if other:
            raise UsageError(
                f"{other} and {model} share one overlay",
                where=folder(model),
                mend="Play one of them",
            )
