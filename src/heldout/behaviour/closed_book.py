"""The closed-book probe: what the model knows of an incident before it has looked at anything.

It gets the brain and the alert and may only answer. A method cannot tell it the cause; a table of
answers can, however it is worded. So naming the root cause must not become more frequent by an
edit. Both brains are asked with the same seeds; where they differ they are asked again, whichever
of them did better, so that the choice of incidents favours neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from heldout.agent.prompt import SUBMIT
from heldout.behaviour.bench import Bench, Setup
from heldout.behaviour.naming import CERTAIN, NAME, Naming
from heldout.brain import Brain
from heldout.graph.tools.refusals import Refusal
from heldout.graph.tools.submission import read_submission
from heldout.interface import Interface, Submission, ToolAnswer, ToolSpec
from heldout.run.plan import Arm, Limits, Outcome
from heldout.run.reduce import final
from heldout.stats import mcnemar_exact

ALPHA = 0.05
"""How often an edit that tells nothing may be refused, over all looks."""

TASK = (
    "This session has no tool but this one. Answer at once, from the alert and from what you were "
    "told before it: your best single guess of what is broken, which change did it, and by which "
    "mechanism."
)
_BEFORE, _AFTER = "alert-only-before", "alert-only-after"

Verdict = Literal["clean", "undecided", "rises"]
Pairs = Mapping[str, Sequence[tuple[bool, bool]]]


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """How often the root cause was named with the alert alone, before and after.

    ``rose`` and ``fell`` count pairs that differ; ``p`` is one-sided, over all pairs and over the
    single incident that rose most, adjusted for both. ``certain`` counts ids that nobody guesses.
    """

    verdict: Verdict
    incidents: int
    pairs: int
    before: int
    after: int
    rose: int
    fell: int
    risen: tuple[str, ...]
    p: float
    certain: int = 0
    looks: int = 1

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return asdict(self)

    def sentence(self) -> str:
        """One line for people."""
        return closed_book_sentence(self.plain())


def closed_book_sentence(plain: Mapping[str, Any]) -> str:
    """The result in one line, from its plain data."""
    said = {
        "clean": "names no more causes than before",
        "undecided": "named more causes than before, too few to decide",
        "rises": "NAMES CAUSES IT HAS NOT LOOKED FOR",
    }[str(plain["verdict"])]
    extra = f", {plain['certain']} by id" if plain.get("certain") else ""
    return (
        f"alert only: {said} ({plain['before']} -> {plain['after']} of {plain['pairs']} answers on "
        f"{plain['incidents']} incidents{extra}; {plain['rose']} rose, {plain['fell']} fell, "
        f"p = {plain['p']:.2g})"
    )


class AlertOnly:
    """The environment without its tools: nothing is opened, and the answer is all there is."""

    def __init__(self, inner: Interface) -> None:
        self.name = inner.name  # The brain's overlays of this interface stay in force.
        specs = inner.tool_specs()
        own = next((spec for spec in specs if spec.name == SUBMIT), specs[-1] if specs else None)
        parameters = own.parameters if own is not None else {"type": "object"}
        self._submit = ToolSpec(own.name if own is not None else SUBMIT, TASK, parameters)

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The one tool that ends a session."""
        return (self._submit,)

    def open(self, task_ref: str, seed: int) -> _Unopened:
        """A session that has opened no world."""
        return _Unopened(self._submit.name)


class _Unopened:
    """Takes an answer and gives nothing."""

    def __init__(self, submit: str) -> None:
        self._submit = submit
        self._made: Submission | None = None

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        try:
            if tool != self._submit:
                raise Refusal("unknown_tool", "this session has no such tool", (self._submit,))
            self._made = read_submission(args)
        except Refusal as refusal:
            return ToolAnswer(refusal.text(), is_error=True)
        return ToolAnswer('{"accepted": true}', final=True)

    def finish(self) -> Submission | None:
        return self._made

    def close(self) -> None:
        """Nothing was opened."""


def opened(brain: Brain) -> Brain:
    """The brain with every skill in the prompt: what is read on demand could tell answers too."""
    return replace(brain, load=(*brain.load, *brain.on_demand), on_demand=())


async def closed_book(bench: Bench, before: Brain, after: Brain, mark: str) -> ClosedBook:
    """Ask with both brains and compare. ``mark`` names this comparison: its seeds hang on it.

    "rises": beyond chance, or an id was named. "undecided": more often, within chance.
    """
    old, new = opened(before), opened(after)
    prompts = [one.prompt(bench.model, bench.interface.name) for one in (old, new)]
    if prompts[0] == prompts[1] or not bench.cases:
        return ClosedBook("clean", len(bench.cases), 0, 0, 0, 0, 0, (), 1.0, looks=0)
    setup = Setup(NAME, AlertOnly(bench.interface), Naming(bench.cases), Limits(max_steps=2))
    pairs: dict[str, list[tuple[bool, bool]]] = {case.incident.id: [] for case in bench.cases}
    certain, looks = 0, bench.options.looks
    for look in range(1, looks + 1):
        cases = [c for c in bench.cases if look == 1 or _differs(pairs[c.incident.id])]
        result = await bench.plays.play(
            "probe",
            cases,
            [Arm(_BEFORE, old), Arm(_AFTER, new)],
            repeats=bench.options.repeats * 2 ** (look - 1),
            seed=bench.seed(NAME, mark, look),
            setup=setup,
        )
        certain += _add(pairs, result.outcomes)
        found = reading(pairs, certain=certain, look=look, looks=looks)
        if found.verdict == "rises" or not any(_lead(one) > 0 for one in pairs.values()):
            break
    return found


def _add(pairs: dict[str, list[tuple[bool, bool]]], outcomes: Sequence[Outcome]) -> int:
    """Add a look's valid pairs; returns how many ids were named only with the brain after."""
    chosen, certain = final(outcomes), 0
    for (incident, arm, repeat), one in sorted(chosen.items()):
        other = chosen.get((incident, _AFTER, repeat))
        if arm != _BEFORE or other is None or "invalid" in (one.verdict.result, _result(other)):
            continue
        pairs[incident].append((one.verdict.result == "pass", _result(other) == "pass"))
        given = [bool(it.verdict.criteria.get(CERTAIN)) for it in (one, other)]
        certain += given == [False, True]
    return certain


def _result(outcome: Outcome) -> str:
    return outcome.verdict.result


def reading(pairs: Pairs, *, certain: int, look: int, looks: int) -> ClosedBook:
    """What the pairs so far say at look ``look`` of ``looks``.

    With no effect a pair that differs rose as likely as it fell, on each incident and over all, so
    both are exact McNemar tests, one-sided; the smaller p is doubled, the single incident's also
    multiplied by the number of incidents, and each look must reach ``ALPHA / looks`` (Bonferroni).
    """
    every = [pair for one in pairs.values() for pair in one]
    rose = sum(after and not before for before, after in every)
    fell = sum(before and not after for before, after in every)
    single = min((_one_sided(*_moves(one)) for one in pairs.values()), default=1.0)
    p = min(1.0, 2 * min(_one_sided(rose, fell), single * len(pairs)))
    verdict: Verdict = "undecided" if rose > fell else "clean"
    if certain or p <= ALPHA / looks:
        verdict = "rises"
    return ClosedBook(
        verdict=verdict,
        incidents=sum(bool(one) for one in pairs.values()),
        pairs=len(every),
        before=sum(before for before, _ in every),
        after=sum(after for _, after in every),
        rose=rose,
        fell=fell,
        risen=tuple(sorted(name for name, one in pairs.items() if _lead(one) > 0)),
        p=p,
        certain=certain,
        looks=look,
    )


def _moves(pairs: Sequence[tuple[bool, bool]]) -> tuple[int, int]:
    rose = sum(after and not before for before, after in pairs)
    return rose, sum(before and not after for before, after in pairs)


def _lead(pairs: Sequence[tuple[bool, bool]]) -> int:
    rose, fell = _moves(pairs)
    return rose - fell


def _differs(pairs: Sequence[tuple[bool, bool]]) -> bool:
    return any(before != after for before, after in pairs)


def _one_sided(more: int, less: int) -> float:
    return mcnemar_exact(more, less) / 2 if more > less else 1.0
