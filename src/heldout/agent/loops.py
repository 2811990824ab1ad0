"""Calls that lead nowhere: the same one again, a few in a circle, the same error over and over.

============  =============================================  =========================
what          answered by the harness, or told                ends the investigation
============  =============================================  =========================
same call     from the 3rd time on: ``repeated_call``         5th time
circle        two rounds of 2 to 4 calls: ``circling``        3rd such call
same error    told beside the error from the 3rd in a row on  8th in a row
============  =============================================  =========================

Ending gives the model one last chance to submit; the stop reason is ``loop``. Errors of one kind
from one tool are the same error, but for a source that is down, which is no doing of the agent.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

import orjson

Key = tuple[str, bytes]

REFUSED_REPEAT = 3
STOPPING_REPEAT = 5
LONGEST_CIRCLE = 4
STOPPING_CIRCLES = 3
TOLD_ERRORS = 3
STOPPING_ERRORS = 8
LAST_TRIES = 2
"""Requests at the end of which a submission is still taken; the second only mends the first."""
_NOBODYS = frozenset({"unavailable", "timeout", "repeated_call", "circling", "never_shown"})
"""Kinds of errors that are no doing of the agent, or have a bound of their own."""


def call_key(tool: str, args: dict[str, object]) -> Key:
    """What makes two calls the same one, in whatever order their arguments stand."""
    return tool, orjson.dumps(args, option=orjson.OPT_SORT_KEYS)


@dataclass(slots=True)
class Loops:
    """Watches the calls of one investigation; ``counts`` is what it had to do."""

    stopping: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    _seen: Counter[Key] = field(default_factory=Counter)
    _recent: deque[Key] = field(default_factory=lambda: deque(maxlen=2 * LONGEST_CIRCLE))
    _circles: int = 0
    _error: tuple[str, str] = ("", "")
    _errors: int = 0

    def objection(self, key: Key) -> str:
        """The kind of error with which the harness answers a call; empty for one to be run."""
        self._seen[key] += 1
        self._recent.append(key)
        circling = self._in_circle()
        self._circles += circling
        times = self._seen[key]
        if times >= STOPPING_REPEAT or self._circles >= STOPPING_CIRCLES:
            self.stopping = True
        if times >= REFUSED_REPEAT:
            self.counts["repeated"] += 1
            return "repeated_call"
        if circling:
            self.counts["circling"] += 1
            return "circling"
        return ""

    def failed(self, tool: str, kind: str) -> int:
        """Count an answer's error, ``kind`` empty for none.

        Returns how many of this kind came in a row, 0 where the model need not be told.
        """
        if kind in _NOBODYS:
            return 0
        if not kind:
            self._errors, self._error = 0, ("", "")
            return 0
        self._errors = self._errors + 1 if self._error == (tool, kind) else 1
        self._error = (tool, kind)
        if self._errors >= STOPPING_ERRORS:
            self.stopping = True
        if self._errors < TOLD_ERRORS:
            return 0
        self.counts["same_error"] += 1
        return self._errors

    def forget_answers(self) -> None:
        """Answers were taken away from the model: it may make those calls again."""
        self._seen.clear()
        self._recent.clear()

    def _in_circle(self) -> bool:
        calls = list(self._recent)
        for length in range(2, LONGEST_CIRCLE + 1):
            last = calls[-length:]
            if len(set(last)) > 1 and calls[-2 * length : -length] == last:
                return True
        return False
