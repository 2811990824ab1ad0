"""What was seen from outside while code ran: requests, log lines, samples of what was in use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack trace, as the child says it."""

    file: str
    line: int
    function: str
    text: str


@dataclass(slots=True)
class Request:
    """One request or call: when it came, was started and answered, in seconds of the window.

    ``status`` is 200, 500 (``raised`` says what), 503 (refused: the queue was full, or the process
    had ended) or 504 (no answer before the deadline, or none at all).
    """

    number: int
    service: str
    target: str
    arguments: list[Any]
    arrived: float
    origin: str = ""
    started: float | None = None
    ended: float | None = None
    status: int = 0
    value: Any = None
    raised: str = ""
    message: str = ""
    trace: tuple[Frame, ...] = ()

    @property
    def seconds(self) -> float | None:
        """From arrival to answer."""
        return None if self.ended is None else self.ended - self.arrived


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a service's log."""

    at: float
    service: str
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Sample:
    """What was in use at one moment: connections by service, requests running and waiting."""

    at: float
    connections: dict[str, int]
    running: dict[str, int]
    waiting: dict[str, int]


@dataclass(slots=True)
class Window:
    """Everything of one replay. ``broke`` says how the candidate's process failed, if it did."""

    seconds: float
    requests: list[Request] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    operations: dict[str, int] = field(default_factory=dict)
    left_open: dict[str, int] = field(default_factory=dict)
    cached: int = 0
    broke: str = ""
    import_failures: dict[str, str] = field(default_factory=dict)

    def of(self, service: str) -> list[Request]:
        """The requests of one service, in order of arrival."""
        return [one for one in self.requests if one.service == service]
