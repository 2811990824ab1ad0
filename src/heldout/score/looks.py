"""How often the held-out half was opened, and for how long it may go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from heldout.errors import LooksExhausted


@dataclass(frozen=True, slots=True)
class Looks:
    """Looks at the incidents of one score, this one included.

    ``number`` is the largest count among them and what p is adjusted for; ``fresh`` were never
    looked at before by this model.
    """

    number: int
    budget: int
    fresh: tuple[str, ...]
    earlier: Mapping[str, int]

    @property
    def left(self) -> int:
        """Looks left at the incident that was opened most often."""
        return max(0, self.budget - self.number)


def choose(
    incidents: Iterable[str],
    counted: Mapping[str, int],
    budget: int,
    *,
    exclude: Iterable[str] = (),
    skip_exhausted: bool = False,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The incidents that may be opened, and why others are left out.

    Without ``skip_exhausted``, an incident without looks left is :class:`LooksExhausted`.
    """
    excluded = dict.fromkeys(exclude, "named in the request")
    wanted = [name for name in incidents if name not in excluded]
    spent = [name for name in wanted if counted.get(name, 0) >= budget]
    if spent and not skip_exhausted:
        raise LooksExhausted(
            f"{len(spent)} of {len(wanted)} held-out incidents were opened {budget} times for this "
            f"model, which is the budget ({', '.join(spent[:3])}{', ...' if spent[3:] else ''})",
            mend="Retire them with --exclude or --skip-exhausted, append new incidents with "
            "'heldout build', or raise score.looks (recorded; resets nothing)",
        )
    excluded.update(dict.fromkeys(spent, f"opened {budget} times"))
    chosen = tuple(name for name in wanted if name not in excluded)
    if not chosen:
        raise LooksExhausted(
            "no held-out incident is left to open", mend="Append new incidents with 'heldout build'"
        )
    return chosen, excluded


def looks_of(incidents: Iterable[str], counted: Mapping[str, int], budget: int) -> Looks:
    """The looks of a score about to open ``incidents``; ``counted`` are the earlier ones."""
    names = tuple(incidents)
    earlier = {name: counted.get(name, 0) for name in names}
    fresh = tuple(name for name in names if earlier[name] == 0)
    return Looks(max(earlier.values(), default=0) + 1, budget, fresh, earlier)
