"""One trial: a clean brain, one line with a fact in disguise, and whether it is caught there.

A hit counts only where a rejecting finding overlaps the injected characters. Every trial has its
control, the same line with an innocent piece in the fact's place, which must raise nothing: a base
text that trips the gate would make every class read 1.00.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from bench.gate import method
from bench.recall.disguises import (
    DISGUISES,
    SHAPES,
    SPOKEN,
    UNITS,
    Disguise,
    figure,
    spelled,
    without_names,
    words,
)
from bench.recall.facts import Facts, Value
from heldout.brain import Brain
from heldout.gate.engine import Engine
from heldout.gate.report import Finding

FILE = "method.md"
BASE_LINES = 12
BASES = 40
HOSTS = (
    "- Begin with {} when errors rise.",
    "- Before you name a cause, look at {} once more.",
    "- Most of the time {} is worth a second look.",
    "- Read what changed on {} in the days before.",
    "- If latency grows, ask whether {} came first.",
    "- Then leave {} until the rest is clear.",
)
VALUE_HOSTS = (
    "- Do not stop before you have seen {} somewhere.",
    "- Where load is high, look for {} first.",
    "- A restart helps little where there is {} behind it.",
)
SENTENCE_HOSTS = (
    "- Often {} as logs show.",
    "- Ask whether {} here too.",
    "- It may be that {} again.",
    "- Once {}, look further.",
)
PLAIN, PLAIN_VALUE, PLAIN_SENTENCE = (
    "that component", "an odd value", "the part in question behaves as it did a week earlier",
)  # fmt: skip
FRAGMENTS = ("truth", "alert", "title of a change", "line of a log")


@dataclass(frozen=True)
class Trial:
    """``told`` is the fact in disguise, as it goes into the host's place; ``fact`` as it was."""

    fact: str
    told: str
    host: str
    plain: str
    tier: str = ""


@dataclass
class Class:
    """A row of the table: its trials, and by whom they were caught."""

    name: str
    group: str
    floor: float | None
    trials: list[Trial]
    caught: int = 0
    folded: int = 0
    literal: int = 0
    missed: list[Trial] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of trials that the gate caught."""
        share = self.caught / len(self.trials)
        assert 0 <= share <= 1, f"{self.name}: a recall of {share}"
        return share

    def of_tier(self, tier: str) -> float | None:
        """The recall over names of one tier; ``None`` where there are none."""
        tried = sum(trial.tier == tier for trial in self.trials)
        lost = sum(trial.tier == tier for trial in self.missed)
        return (tried - lost) / tried if tried else None

    @property
    def holds(self) -> bool:
        """False where the floor is missed."""
        return self.floor is None or self.recall >= self.floor


def name_class(disguise: Disguise, pools: Mapping[str, Sequence[str]], trials: int) -> Class:
    """Trials of one disguise over names that it means something for, each name once at most.

    ``pools`` are names by tier, taken in turn, so that each tier has its share of the trials.
    """
    draw = random.Random(disguise.name)
    given = [
        (tier, name)
        for row in zip_longest(*pools.values())
        for tier, name in zip(pools, row, strict=True)
        if name is not None and _fits(disguise, name)
    ]
    made = []
    for tier, name in given:
        told = disguise.mutate(name, draw)
        if told != name or disguise is DISGUISES[0]:
            made.append(Trial(name, told, draw.choice(HOSTS), PLAIN, tier))
        if len(made) == trials:
            break
    return Class(disguise.name, disguise.group, disguise.floor, made)


def _fits(disguise: Disguise, name: str) -> bool:
    letters = sum(map(len, words(name)))
    return len(words(name)) >= disguise.words and letters >= disguise.length


def value_classes(values: Sequence[Value], trials: int) -> list[Class]:
    """Values as they are, in other units, and in words, each beside the name of its field."""
    draw = random.Random("values")
    kinds: dict[str, Callable[[Value], Iterator[str]]] = {
        "as it is": lambda v: iter([v.raw]),
        "its unit apart": _unit_apart,
        "in another unit": _other_units,
        "spelled out": _in_words,
    }  # fmt: skip
    found = []
    for name, forms in kinds.items():
        told = [(v, form) for v in values if not v.anybodys for form in forms(v)]
        draw.shuffle(told)
        made = [
            Trial(v.raw, f"a {v.key} of {form}", host, PLAIN_VALUE)
            for host in VALUE_HOSTS
            for v, form in told
        ]
        found.append(Class(f"value {name}", "values", 0.98, made[:trials]))
    small = [v for v in values if v.anybodys]
    made = [
        Trial(v.raw, f"a {v.key} of {v.raw}", draw.choice(VALUE_HOSTS), PLAIN_VALUE) for v in small
    ]
    found.append(Class("small value of a one-word field", "no floor", None, made[:trials]))
    return found


def _unit_apart(value: Value) -> Iterator[str]:
    if value.unit:
        yield f"{figure(value.number)} {SPOKEN[value.unit]}"


def _other_units(value: Value) -> Iterator[str]:
    for unit, factor in UNITS.get(value.unit, ())[1:]:
        if value.number * factor >= 0.1:
            yield f"{figure(value.number * factor)} {unit}"


def _in_words(value: Value) -> Iterator[str]:
    if value.number == int(value.number) and value.number < 1_000_000:
        yield f"{spelled(int(value.number))} {SPOKEN.get(value.unit, '')}".strip()


def fragment_classes(facts: Facts, trials: int) -> list[Class]:
    """Pieces of sentences copied word for word, and with their names taken out, by source."""
    found = []
    for source in FRAGMENTS:
        draw = random.Random(source)
        pieces = sorted(set(facts.sentences.get(source, ())))
        draw.shuffle(pieces)
        told = [(host, piece) for host in SENTENCE_HOSTS for piece in pieces]
        made = [Trial(piece, piece, host, PLAIN_SENTENCE) for host, piece in told[:trials]]
        found.append(Class(f"words of the {source}", "fragments", 1.0, made))
        bare = [one for one in map(without_names, pieces) if "it" in one.split() and facts.own(one)]
        made = [Trial(piece, piece, SENTENCE_HOSTS[0], PLAIN_SENTENCE) for piece in bare[:trials]]
        if made:
            # Many log lines are the same in most incidents once names are out: a library's.
            floor = None if source == "line of a log" else 0.98
            found.append(Class(f"words of the {source}, 'it' for names", "fragments", floor, made))
    return found


def shape_class(trials: int) -> Class:
    """Every shape in turn, drawn anew each time."""
    draw = random.Random("shapes")
    made = []
    for at in range(trials):
        shape = list(SHAPES.values())[at % len(SHAPES)](draw)
        made.append(Trial(shape, shape, draw.choice(HOSTS), PLAIN))
    return Class("ids, addresses, dates", "shapes", 1.0, made)


TIERS = ("T1", "T2")
"""Names that nobody else has, and pairs of plain words that nobody puts together."""


def classes(facts: Facts, tier_of: Callable[[str], str], scale: float = 1.0) -> list[Class]:
    """Every row of the table; ``scale`` takes a share of the trials, for a quick look.

    ``tier_of`` says what the gate makes of a name. One that it does not know at all counts among
    the names that nobody else has. Names that it takes for anybody's words have a row of their own.
    """
    pools: dict[str, list[str]] = {tier: [] for tier in TIERS}
    public = []
    for name in facts.drawn(random.Random(3)):
        tier = tier_of(name) or TIERS[0]
        pools.get(tier, public).append(name)

    def share(trials: int) -> int:
        return max(4, round(trials * scale))

    found = [name_class(one, pools, share(one.trials)) for one in DISGUISES]
    found.append(
        Class(
            "name of everyday words, in a code span", "no floor", None,
            [Trial(name, f"`{name}`", HOSTS[0], PLAIN) for name in public[: share(120)]],
        )
    )  # fmt: skip
    found += value_classes(facts.values, share(200))
    found += fragment_classes(facts, share(300))
    return [one for one in (*found, shape_class(share(300))) if one.trials]


class Bench:
    """Runs trials against one engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._innocent: dict[tuple[int, int, str, str], bool] = {}

    def run(self, row: Class) -> Class:
        """Every trial of a class; a control that is refused is an :class:`AssertionError`."""
        draw = random.Random(row.name)
        for trial in row.trials:
            base, at = draw.randrange(BASES), draw.randrange(1, BASE_LINES)
            if not self._clean(base, at, trial):
                raise AssertionError(f"the control trips the gate: {trial.host} {trial.plain}")
            row.literal += trial.fact in trial.told
            row.folded += bool(_folded(trial.fact)) and _folded(trial.fact) in _folded(trial.told)
            if self.caught(base, at, trial):
                row.caught += 1
            else:
                row.missed.append(trial)
        return row

    def caught(self, base: int, at: int, trial: Trial) -> bool:
        """True where a rejecting finding overlaps the injection."""
        prefix = trial.host.index("{}")
        lines = trial.told.split("\n")
        first = (at + 1, prefix + 1)
        end_column = len(lines[-1]) + 1 + (prefix if len(lines) == 1 else 0)
        last = (at + len(lines), end_column)
        return any(
            _overlaps(finding, first, last)
            for finding in self._findings(base, at, trial.host.replace("{}", trial.told))
        )

    def _clean(self, base: int, at: int, trial: Trial) -> bool:
        key = (base, at, trial.host, trial.plain)
        if key not in self._innocent:
            line = trial.host.replace("{}", trial.plain)
            self._innocent[key] = not self._findings(base, at, line)
        return self._innocent[key]

    def _findings(self, base: int, at: int, line: str) -> list[Finding]:
        given = method(BASE_LINES, base)
        before = Brain(files={FILE: "\n".join(given)}, load=(FILE,))
        after = before.with_file(FILE, "\n".join([*given[:at], *line.split("\n"), *given[at:]]))
        return [f for f in self.engine.check(before, after).findings if f.severity == "reject"]


def _overlaps(finding: Finding, first: tuple[int, int], last: tuple[int, int]) -> bool:
    end = (finding.end_line or finding.line, finding.end_line_column or finding.end_column)
    return (finding.line, finding.column) < last and first < end


def _folded(text: str) -> str:
    """Letters and digits, lower case, compatibility forms undone, as a careful search has it."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "", plain)
