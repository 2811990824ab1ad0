"""Investigations under way: a program that waits for an answer is gone on with, not run anew.

Nothing depends on it. A request whose conversation does not go on exactly where a program waits is
answered by running the program over all of it, and comes to the same.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence

from heldout.llm.simulated.desk import Call, Desk, Steps
from heldout.llm.simulated.transcript import NOTHING, Answer

_MOST = 128
"""So many programs wait at most; the one that has waited longest goes."""

Key = tuple[object, ...]
Ask = Callable[[Call], Answer | None]


class Underway:
    """One program at work: its desk, and the call that it waits for; ``None`` when it has ended."""

    def __init__(self, desk: Desk, steps: Steps[None]) -> None:
        self.desk = desk
        self.call: Call | None = None
        self._steps = steps
        self._given: list[Answer] = []
        self._move(None)

    def _move(self, answer: Answer | None) -> None:
        try:
            self.call = next(self._steps) if answer is None else self._steps.send(answer)
        except StopIteration:
            self.call = None

    def go_on(self, usable: Collection[str], ask: Ask) -> None:
        """Hand over answers until there is none; tools that are not usable are passed over."""
        while self.call is not None:
            if self.call.tool not in usable:
                self._move(NOTHING)
                continue
            answer = ask(self.call)
            if answer is None:
                return
            self._given.append(answer)
            self._move(answer)

    def follows(self, answers: Sequence[Answer]) -> bool:
        """True when it was given the first of these answers, as the very same objects."""
        return all(one is two for one, two in zip(self._given, answers, strict=False))

    def take(self, answers: Sequence[Answer]) -> Iterator[Answer]:
        """The answers that it was not given yet."""
        return iter(answers[len(self._given) :])


class Waiting:
    """Programs that wait, by all that they were begun with and how many answers were there."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Underway] = OrderedDict()
        self._lock = threading.Lock()

    def resume(self, key: Key, answers: Sequence[Answer]) -> Underway | None:
        """The program that waits for the last of the answers, which is nobody else's now."""
        with self._lock:
            found = self._kept.pop((*key, len(answers) - 1), None)
        return found if found is not None and found.follows(answers) else None

    def keep(self, key: Key, answers: Sequence[Answer], program: Underway) -> None:
        """Let a program wait for the next answer."""
        with self._lock:
            self._kept[(*key, len(answers))] = program
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
