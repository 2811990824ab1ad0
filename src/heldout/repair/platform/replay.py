"""Traffic against code: the clock, and the answers to what services ask of the platform."""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout.repair.platform.database import Database, QueryRefused
from heldout.repair.platform.records import Frame, Line, Request, Sample, Window
from heldout.repair.sandbox.runner import CandidateBroke, Program, Sandbox

MAX_EVENTS = 200_000
MAX_LINES = 5_000
_LEVELS = frozenset({"DEBUG", "INFO", "WARN", "ERROR"})


@dataclass(frozen=True, slots=True)
class Partner:
    """Somebody outside: seconds of an answer, and that every so many calls one takes long."""

    seconds: float = 0.12
    slow_every: int = 0
    slow_seconds: float = 8.0


@dataclass(frozen=True, slots=True)
class Stall:
    """The database is slow for a while: from ``begin`` to ``end`` each query takes ``seconds``."""

    begin: float
    end: float
    seconds: float = 2.5


@dataclass(frozen=True, slots=True)
class Plant:
    """What the platform offers: seconds that things take, and how much of them there is.

    ``workers`` is how many requests a service works on at once, ``queue`` how many wait before
    further ones are refused, ``connections`` how many the database takes from all together.
    """

    services: tuple[str, ...]
    workers: int = 40
    queue: int = 200
    deadline: float = 5.0
    connections: int = 60
    connect_seconds: float = 0.004
    query_seconds: float = 0.003
    row_seconds: float = 0.00002
    cache_seconds: float = 0.0006
    call_seconds: float = 0.001
    work_seconds: float = 0.0015
    partners: Mapping[str, Partner] = field(default_factory=lambda: {"carrier": Partner()})
    stalls: tuple[Stall, ...] = ()
    sample_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request of the traffic: when (seconds), for which service, which function, with what."""

    at: float
    service: str
    target: str
    arguments: tuple[Any, ...] = ()


class Replay:
    """One window of traffic against one tree. Use once."""

    def __init__(
        self, sandbox: Sandbox, plant: Plant, database: Database, cache: dict[str, Any]
    ) -> None:
        self._sandbox = sandbox
        self._plant = plant
        self._database = database
        self._cache = cache
        self._heap: list[tuple[float, int, str, Any]] = []
        self._order = 0
        self._now = 0.0
        self._requests: dict[int, Request] = {}
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[Request]] = {one: deque() for one in plant.services}
        self._connections: dict[int, str] = {}
        self._next_connection = 1
        self._busy: dict[int, float] = {}
        self._querying: dict[int, int] = {}
        self._cancelled: set[int] = set()
        self._callers: dict[int, int] = {}
        self._deliver: list[dict[str, Any]] = []
        self._window = Window(0.0)
        self._operations: Counter[str] = Counter()
        self._partners: Counter[str] = Counter()

    def run(self, program: Program, arrivals: Iterable[Arrival], seconds: float) -> Window:
        """Play ``arrivals`` and everything that follows from them until ``seconds``."""
        self._window.seconds = seconds
        for one in arrivals:
            self._push(one.at, "arrive", one)
        steps = math.ceil(seconds / self._plant.sample_seconds)
        for step in range(steps + 1):
            self._push(min(step * self._plant.sample_seconds, seconds), "sample", None)
        try:
            frame = self._sandbox.start(program)
            self._read(frame)
            self._play(frame, seconds)
        except CandidateBroke as broke:
            self._window.broke = broke.reason
            self._refuse_the_rest(seconds)
        self._end(seconds)
        self._sandbox.stop()
        return self._window

    def _push(self, at: float, kind: str, what: Any) -> None:
        self._order += 1
        heapq.heappush(self._heap, (at, self._order, kind, what))

    def _play(self, frame: Mapping[str, Any], seconds: float) -> None:
        for _ in range(MAX_EVENTS):
            wake = frame["until"]
            own = self._heap[0][0] if self._heap else math.inf
            at = min(own, math.inf if wake is None else max(wake, self._now))
            if at > seconds:
                return
            self._now = max(at, self._now)
            while self._heap and self._heap[0][0] <= self._now:
                _, _, kind, what = heapq.heappop(self._heap)
                getattr(self, f"_on_{kind}")(what)
            if not self._deliver and not (wake is not None and wake <= self._now):
                continue
            deliver, self._deliver = self._deliver, []
            frame = self._sandbox.exchange(self._now, deliver)
            self._read(frame)
        raise CandidateBroke("hung", "it never comes to rest")

    def _on_sample(self, _: None) -> None:
        self._window.samples.append(
            Sample(
                self._now,
                dict(Counter(self._connections.values())),
                dict(self._running),
                {name: len(queue) for name, queue in self._waiting.items()},
            )
        )

    def _on_arrive(self, arrival: Arrival) -> None:
        self._accept(self._arrived(arrival))

    def _arrived(self, arrival: Arrival) -> Request:
        number = len(self._window.requests) + 1
        request = Request(
            number, arrival.service, arrival.target, list(arrival.arguments), self._now
        )
        self._window.requests.append(request)
        return request

    def _accept(self, request: Request) -> None:
        self._requests[request.number] = request
        if request.service not in self._waiting:
            self._finish(request, 503, raised="NoSuchService")
        elif self._running[request.service] < self._plant.workers:
            self._start(request)
        elif len(self._waiting[request.service]) < self._plant.queue:
            self._waiting[request.service].append(request)
        else:
            self._finish(request, 503, raised="Overloaded")
        if request.ended is None:
            self._push(self._now + self._plant.deadline, "deadline", request)

    def _start(self, request: Request) -> None:
        request.started = self._now
        self._running[request.service] += 1
        self._push(self._now + self._plant.work_seconds, "work", request)

    def _on_work(self, request: Request) -> None:
        event = {"id": request.number, "target": request.target, "args": request.arguments}
        self._deliver.append(event)

    def _on_deadline(self, request: Request) -> None:
        """The one who asked has gone; the service still works on it, as services do."""
        if request.ended is None:
            waiting = self._waiting[request.service]
            if request in waiting:
                waiting.remove(request)
                self._requests.pop(request.number, None)
            request.ended, request.status, request.raised = self._now, 504, "Deadline"
            self._answer_caller(request)

    def _on_answer(self, event: dict[str, Any]) -> None:
        if event["answer"] not in self._cancelled:
            self._deliver.append(event)

    def _finish(self, request: Request, status: int, **outcome: Any) -> None:
        if request.ended is None:
            request.ended, request.status = self._now, status
            for name, value in outcome.items():
                setattr(request, name, value)
            self._answer_caller(request)

    def _answer_caller(self, request: Request) -> None:
        caller = self._callers.pop(request.number, None)
        if caller is None:
            return
        if request.status == 200:
            self._reply(caller, self._plant.call_seconds, value=request.value)
        else:
            detail = f"{request.service} answered {request.status}"
            self._reply(caller, self._plant.call_seconds, error="upstream", detail=detail)

    def _reply(self, call: int, after: float, **answer: Any) -> None:
        self._push(self._now + after, "answer", {"answer": call, **answer})

    def _read(self, frame: Mapping[str, Any]) -> None:
        for one in frame["out"]:
            if "done" in one:
                self._done(one)
            elif "call" in one:
                self._call(one)
            elif "tell" in one:
                self._told(one)
            elif "cancel" in one:
                self._cancel(_number(one["cancel"]))
            elif "log" in one:
                self._line(one)
            elif "broken" in one:
                trace = _frames(one.get("trace"))
                where = f" ({trace[-1].file}:{trace[-1].line})" if trace else ""
                said = f"{_text(one.get('raised'), 80)}: {_text(one.get('message'), 300)}{where}"
                self._window.import_failures[_text(one["broken"], 100)] = said

    def _cancel(self, call: int) -> None:
        """The caller has gone: no answer is sent, and a query of it is stopped."""
        self._cancelled.add(call)
        connection = self._querying.pop(call, None)
        if connection is not None:
            self._busy[connection] = self._now

    def _line(self, one: Mapping[str, Any]) -> None:
        if len(self._window.lines) < MAX_LINES:
            level = one.get("level")
            self._window.lines.append(
                Line(
                    self._now,
                    _text(one["log"], 60),
                    level if level in _LEVELS else "INFO",
                    _text(one.get("message"), 2000),
                )
            )

    def _done(self, one: Mapping[str, Any]) -> None:
        request = self._requests.pop(_number(one["done"]), None)
        if request is None:
            return  # Nobody asked for it, or it was answered already.
        self._running[request.service] -= 1
        if "raised" in one:
            self._finish(
                request,
                500,
                raised=_text(one["raised"], 100),
                message=_text(one.get("message"), 500),
                trace=_frames(one.get("trace")),
            )
        else:
            self._finish(request, 200, value=one.get("value"))
        waiting = self._waiting[request.service]
        if waiting:
            self._start(waiting.popleft())

    def _told(self, one: Mapping[str, Any]) -> None:
        arguments = one.get("args")
        if one["tell"] == "db.close" and isinstance(arguments, dict):
            self._connections.pop(_number(arguments.get("connection")), None)

    def _call(self, one: Mapping[str, Any]) -> None:
        number, op = _number(one["call"]), _text(one.get("op"), 60)
        arguments = one.get("args")
        found = _OPERATIONS.get(op)
        if found is None or not isinstance(arguments, dict):
            self._reply(number, 0.0, error="unknown", detail=f"there is no {op}")
            return
        self._operations[op] += 1
        found(self, number, arguments)

    def _connect(self, number: int, arguments: Mapping[str, Any]) -> None:
        if len(self._connections) >= self._plant.connections:
            detail = f"sorry, too many clients already ({self._plant.connections})"
            self._reply(number, self._plant.connect_seconds, error="too_many", detail=detail)
            return
        connection, self._next_connection = self._next_connection, self._next_connection + 1
        self._connections[connection] = _text(arguments.get("service"), 60)
        self._reply(number, self._plant.connect_seconds, value=connection)

    def _query(self, number: int, arguments: Mapping[str, Any]) -> None:
        plant = self._plant
        connection = _number(arguments.get("connection"))
        if connection not in self._connections:
            self._reply(number, plant.query_seconds, error="closed", detail="connection is closed")
            return
        if self._busy.get(connection, 0.0) > self._now:
            detail = "another operation is in progress on this connection"
            self._reply(number, 0.0, error="busy", detail=detail)
            return
        self._querying[number] = connection
        parameters = arguments.get("parameters") or []
        if not isinstance(parameters, list | dict):
            self._reply(number, 0.0, error="refused", detail="parameters are a list or an object")
            return
        try:
            result = self._database.query(str(arguments.get("sql", "")), parameters)
        except QueryRefused as refused:
            self._busy[connection] = self._now + plant.query_seconds
            self._reply(number, plant.query_seconds, error=refused.code, detail=refused.detail)
            return
        after = plant.query_seconds + plant.row_seconds * (len(result.rows) + result.changed)
        after += sum(one.seconds for one in plant.stalls if one.begin <= self._now < one.end)
        self._busy[connection] = self._now + after
        value = {"rows": [dict(row) for row in result.rows], "changed": result.changed}
        self._reply(number, after, value=value)

    def _get(self, number: int, arguments: Mapping[str, Any]) -> None:
        kept = self._cache.get(_text(arguments.get("key"), 300))
        value = kept[0] if kept is not None and kept[1] > self._now else None
        self._reply(number, self._plant.cache_seconds, value=value)

    def _set(self, number: int, arguments: Mapping[str, Any]) -> None:
        seconds = arguments.get("seconds", 60)
        lasting = float(seconds) if isinstance(seconds, int | float) else 60.0
        self._cache[_text(arguments.get("key"), 300)] = (
            arguments.get("value"),
            self._now + lasting,
        )
        self._reply(number, self._plant.cache_seconds, value=True)

    def _service(self, number: int, arguments: Mapping[str, Any]) -> None:
        given = arguments.get("arguments")
        request = Request(
            len(self._window.requests) + 1,
            _text(arguments.get("service"), 60),
            _text(arguments.get("target"), 120),
            given if isinstance(given, list) else [],
            self._now,
            # Without an origin a request is one of the traffic, and code cannot make those.
            origin=_text(arguments.get("origin"), 60) or "unnamed",
        )
        self._callers[request.number] = number
        self._window.requests.append(request)
        self._accept(request)

    def _partner(self, number: int, arguments: Mapping[str, Any]) -> None:
        name = _text(arguments.get("name"), 60)
        partner = self._plant.partners.get(name)
        if partner is None:
            self._reply(number, 0.05, error="unresolved", detail=f"no such host: {name}")
            return
        self._partners[name] += 1
        slow = partner.slow_every and self._partners[name] % partner.slow_every == 0
        after = partner.slow_seconds if slow else partner.seconds
        self._reply(number, after, value={"accepted": True})

    def _refuse_the_rest(self, seconds: float) -> None:
        """Traffic does not stop because nobody listens any more, and dashboards show it fail."""
        for at, _, kind, arrival in sorted(self._heap, key=lambda one: one[:2]):
            if kind == "arrive" and at <= seconds:
                self._now = at
                request = self._arrived(arrival)
                request.ended, request.status, request.raised = at, 503, "ConnectionRefused"

    def _end(self, seconds: float) -> None:
        for request in self._window.requests:
            if request.ended is None:
                request.ended, request.status, request.raised = seconds, 504, "NoAnswer"
        self._window.left_open = dict(Counter(self._connections.values()))
        self._window.operations = dict(sorted(self._operations.items()))
        self._window.cached = len(self._cache)


_OPERATIONS = {
    "db.connect": Replay._connect,
    "db.query": Replay._query,
    "cache.get": Replay._get,
    "cache.set": Replay._set,
    "service": Replay._service,
    "partner": Replay._partner,
}


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _text(value: Any, longest: int) -> str:
    return str(value if value is not None else "")[:longest]


def _frames(value: Any) -> tuple[Frame, ...]:
    frames = []
    for one in value if isinstance(value, list) else []:
        if isinstance(one, dict):
            frames.append(
                Frame(
                    _text(one.get("file"), 120),
                    _number(one.get("line")),
                    _text(one.get("in"), 80),
                    _text(one.get("text"), 200),
                )
            )
    return tuple(frames[-12:])
