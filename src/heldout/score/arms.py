"""The arms of a score: what is compared, and what shows how much of a difference is noise.

``before`` and ``after`` run in one plan, interleaved, with the same seed per incident and repeat,
so that they are paired. ``noop`` is the same brain as ``before`` in a second plan with another
seed, played at the same time: what differs between the two is run-to-run noise. ``placebo`` adds as
many lines as the change, of text that has nothing to do with the work; ``format`` keeps every word
of ``before`` and changes only its marks. Both stand in the first plan, and so do further brains.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from heldout.brain import APPEND, Brain
from heldout.run.plan import Arm, Limits, Plan, Terms
from heldout.score.request import ScoreRequest
from heldout.settings import Settings
from heldout.split import Case

_UNRELATED = (
    "Water the plants on the window sill once a week and turn the pots a little.",
    "A good loaf needs flour, water, salt, time and a hot oven.",
    "The tide tables hang beside the door of the boat house.",
    "Oil the hinges of the garden gate before the first frost.",
    "A chess club meets in the back room of the library.",
    "Fold the paper twice, then crease it along the longer side.",
    "The path over the hill is steeper but has the better view.",
    "Bring the violin in tune before the others arrive.",
)


@dataclass(frozen=True, slots=True)
class Brains:
    """The two brains of a score, and those of further arms by name."""

    before: Brain
    after: Brain
    further: Mapping[str, Brain] = field(default_factory=dict)

    @property
    def new(self) -> tuple[Brain, ...]:
        """What the gate is asked about: every brain but the one before."""
        return self.after, *self.further.values()


def plans_for(
    settings: Settings,
    request: ScoreRequest,
    brains: Brains,
    cases: Sequence[Case],
    pins: Mapping[str, str],
) -> tuple[Plan, ...]:
    """The first plan with the paired arms, and one for ``noop`` when it is asked for."""
    first = [Arm("before", brains.before), Arm("after", brains.after)]
    first += [Arm(name, brain) for name, brain in brains.further.items()]
    if "placebo" in request.arms:
        first.append(Arm("placebo", placebo(brains.before, brains.after)))
    if "format" in request.arms:
        first.append(Arm("format", format_only(brains.before)))
    noop = "noop" in request.arms
    whole = settings.run.concurrency
    share = max(1, round(whole * len(first) / (len(first) + 1))) if noop else whole
    main = _plan(settings, request, cases, pins, first, settings.run.seed, share)
    if not noop:
        return (main,)
    again = [Arm("noop", brains.before)]
    seed = noop_seed(settings.run.seed)
    return main, _plan(settings, request, cases, pins, again, seed, max(1, whole - share))


def _plan(
    settings: Settings,
    request: ScoreRequest,
    cases: Sequence[Case],
    pins: Mapping[str, str],
    arms: Sequence[Arm],
    seed: int,
    concurrency: int,
) -> Plan:
    return Plan(
        purpose="score",
        set=request.set or settings.set,
        model=request.model,
        cases=tuple(cases),
        arms=tuple(arms),
        repeats=settings.score.repeats,
        seed=seed,
        limits=Limits(**settings.limits.model_dump()),
        concurrency=concurrency,
        max_invalid=settings.run.max_invalid,
        base_url=request.base_url or settings.models.base_url,
        job=request.job,
        terms=replace(Terms.of(settings), reducer="majority"),
        pins=dict(pins),
    )


def noop_seed(seed: int) -> int:
    """A seed for the no-op arm, fixed by the plan's own and never equal to it."""
    digest = hashlib.sha256(f"noop:{seed}".encode()).digest()
    other = int.from_bytes(digest[:4], "big") >> 1
    return other if other != seed else other + 1


def placebo(before: Brain, after: Brain) -> Brain:
    """``before`` with as many lines added, at the same places, of unrelated text of like length."""
    brain = before
    old, new = before.all_files(), after.all_files()
    used = 0
    for name, text in new.items():
        lines = _start(name, text, old)
        target = text.splitlines()
        result: list[str] = []
        matcher = difflib.SequenceMatcher(a=lines, b=target, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            result += lines[i1:i2]
            surplus = max(0, (j2 - j1) - (i2 - i1)) if tag in ("insert", "replace") else 0
            for line in target[j2 - surplus : j2]:
                result.append(line if line == APPEND else _filler(line, used))
                used += 1
        if result != old.get(name, "").splitlines():
            brain = brain.with_file(name, "\n".join(result) + "\n")
    return brain


def _start(name: str, text: str, old: Mapping[str, str]) -> list[str]:
    """What a file's placebo grows from: itself, or the base file that a new overlay replaces."""
    if name in old:
        return old[name].splitlines()
    base = "/".join(name.split("/")[3:])
    replaces = not text.startswith(APPEND)
    return old[base].splitlines() if replaces and base in old else []


def _filler(line: str, number: int) -> str:
    """An unrelated line with the mark of ``line`` and about its length."""
    mark = re.match(r"\s*(?:[-*]|\d+\.|#+)?\s*", line)
    lead = mark.group() if mark else ""
    wanted = len(line) - len(lead)
    if wanted <= 0:
        return line
    text = ""
    while len(text) < wanted:
        text = f"{text} {_UNRELATED[number % len(_UNRELATED)]}".strip()
        number += 1
    cut = text.rfind(" ", 0, wanted + 1)
    return lead + (text[:cut] if cut > 0 else text[:wanted])


def format_only(before: Brain) -> Brain:
    """``before`` with other list marks and heading levels and the same words."""
    brain = before
    for name, text in before.all_files().items():
        if before.editable(name) and not name.startswith("overlays/"):
            front = re.match(r"\A---\n.*?\n---\n", text, re.DOTALL)
            head = front.group() if front else ""
            body = re.sub(r"(?m)^(\s*)- ", r"\1* ", text[len(head) :])
            body = re.sub(r"(?m)^(#{1,5}) ", r"\1# ", body)
            brain = brain.with_file(name, head + body)
    return brain
