"""How a job says where it stands."""

from __future__ import annotations

import resource
from typing import Any, Protocol


class Say(Protocol):
    """Where progress goes: a line that is rewritten, and notes that stay."""

    def __call__(self, text: str, *, final: bool = False) -> None:
        """Show the newest state."""
        ...

    def note(self, text: str) -> None:
        """Say something that stays."""
        ...


class _Silent:
    def __call__(self, text: str, *, final: bool = False) -> None:
        return None

    def note(self, text: str) -> None:
        return None


SILENT: Say = _Silent()
"""For callers that want no progress."""

_shown: Say = SILENT


def show_on(say: Say) -> None:
    """Where stages show progress when nobody hands them a place: a flow's tasks are handed none."""
    global _shown
    _shown = say


def shown() -> Say:
    """The place that :func:`show_on` named; silent by default."""
    return _shown


def progress_words(state: Any) -> str:
    """Done of total, pass rate, invalid, in flight, cost and time left, as one line."""
    judged = state.passed + state.failed
    rate = f"{state.passed / judged:.0%}" if judged else "-"
    usd = "cost unknown" if state.usd is None else f"{state.usd:.2f} USD"
    left = "" if state.eta_seconds is None else f" · {state.eta_seconds:.0f} s left"
    return (
        f"{state.done}/{state.total} · pass {rate} · invalid {state.invalid} · "
        f"in flight {state.in_flight} · {usd}{left}"
    )


def tell(say: Say, event: Any) -> None:
    """One line of progress for one event of the tuning job."""
    if event.kind == "progress":
        say(f"{event.message} · {progress_words(event.data)}")
    else:
        say.note(event.message)


def cpu_seconds() -> float:
    """CPU time of this process and of its ended children, user and system."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
