"""Hardening: knobs of the incidents that a model nearly always solves are raised, round by round.

What was measured here chose the incidents, and chance had a part in that choice: a second
measurement of the same incidents comes out nearer to the mean. So it serves for nothing else.
Difficulty labels come from a later measurement, and a score always plays both of its arms itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from heldout.build.admission import Admitted, Result, admitted
from heldout.build.pool import DECOY, LATENT, NOISE, OLDER, drawn_traps, reseeded, unfit
from heldout.simulate.knobs import NUMERIC
from heldout.simulate.streams import stream
from heldout.truth import Spec

ACED = 0.9
"""An incident with a greater pass rate than this is raised."""
ROUNDS = 3
MOST_TRAPS = 5

Measure = Callable[[Sequence[Admitted], str], Mapping[str, float]]
"""Pass rates by incident, measured in a run of the given name."""
Remake = Callable[[Sequence[Sequence[Spec]]], Sequence[Result]]
"""The first valid incident of each group of candidates."""


@dataclass(slots=True)
class Hardened:
    """A pool after hardening.

    ``raised`` counts how often each incident was raised. ``solved`` are those that the model still
    solved nearly always when they were last measured, ``spent`` the incidents that were replaced.
    """

    pool: list[Admitted]
    raised: Counter[str] = field(default_factory=Counter)
    solved: list[str] = field(default_factory=list)
    spent: list[Spec] = field(default_factory=list)
    rounds: int = 0


def harden(
    pool: Sequence[Admitted],
    measure: Measure,
    remake: Remake,
    discards: Counter[str],
    *,
    rounds: int = ROUNDS,
) -> Hardened:
    """Play the pool's trap incidents and raise those that are aced, at most ``rounds`` times.

    An incident is measured again only after it was raised. One that is at its limits, or whose
    raised forms the validity gate discards, stays as it is. Controls are left alone: they price
    over-correction and are meant to be within reach.
    """
    done = Hardened(list(pool))
    at = {one.spec.id: number for number, one in enumerate(pool)}
    waiting = [one for one in pool if one.spec.kind == "trap"]
    while waiting and done.rounds < rounds:
        done.rounds += 1
        rates = measure(waiting, f"harden-{done.rounds}")
        aced = [one for one in waiting if rates.get(one.spec.id, 0.0) > ACED]
        options = [(one, raised_forms(one.spec, done.rounds)) for one in aced]
        stuck = [one.spec.id for one, forms in options if not forms]
        results = remake([forms for _, forms in options if forms])
        fresh = {one.spec.id: one for one in admitted(results, discards)}
        stuck += [one.spec.id for one, forms in options if forms and one.spec.id not in fresh]
        done.solved += stuck
        waiting = list(fresh.values())
        for one in waiting:
            number = at[one.spec.id]
            done.spent.append(done.pool[number].spec)
            done.pool[number] = one
            done.raised[one.spec.id] += 1
    if waiting:
        rates = measure(waiting, "harden-end")
        done.solved += [one.spec.id for one in waiting if rates.get(one.spec.id, 0.0) > ACED]
    return done


def raised_forms(spec: Spec, number: int) -> tuple[Spec, ...]:
    """Harder forms of a spec to try in turn; none when every knob is at its limit.

    First everything a step up with a further trap, then without that trap, then on other ground.
    """
    plain = _raised(spec)
    trapped = _with_trap(plain, number)
    if trapped.knobs == spec.knobs and trapped.traps == spec.traps:
        return ()
    forms = [trapped] if trapped.traps == plain.traps else [trapped, plain]
    names = (spec.seed, "raise", number)
    forms += [reseeded(trapped, *names, 1), reseeded(plain, *names, 2), reseeded(plain, *names, 3)]
    return tuple(form for form in forms if form.knobs != spec.knobs or form.traps != spec.traps)


def _raised(spec: Spec) -> Spec:
    """Every knob that the incident has, one step up: age, distance, decoys, noise."""
    knobs = dict(spec.knobs)
    knobs["hops"] = int(_most("hops", float(knobs.get("hops", 2)) + 1))
    if LATENT in spec.traps:
        days = float(knobs.get("latency_days", 1.0))
        knobs["latency_days"] = _most("latency_days", round(max(1.0, days * 1.7), 2))
    if DECOY in spec.traps:
        knobs["decoys"] = int(_most("decoys", float(knobs.get("decoys", 1)) + 1))
    if NOISE in spec.traps:
        knobs["noise"] = _most("noise", round(float(knobs.get("noise", 1.0)) + 0.7, 2))
    return replace(spec, knobs=knobs)


def _most(knob: str, value: float) -> float:
    """The value, or the most that the knob may be."""
    return min(NUMERIC[knob].most, value)


def _with_trap(spec: Spec, number: int) -> Spec:
    """The spec with one more trap that its estate allows, up to the most."""
    if len(spec.traps) >= MOST_TRAPS:
        return spec
    without = {LATENT, OLDER, *spec.traps, *unfit(str(spec.knobs.get("archetype", "")))}
    further = drawn_traps(stream(spec.seed, "further trap", number), 1, without)
    knobs = dict(spec.knobs)
    if DECOY in further:
        knobs.setdefault("decoys", 1)
    if NOISE in further:
        knobs.setdefault("noise", 1.5)
    return replace(spec, traps=tuple(sorted((*spec.traps, *further))), knobs=knobs)
