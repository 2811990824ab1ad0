"""What a fault is: a declarative record, one per file under ``faults/``, found by listing it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from rapidfuzz import process

from heldout.errors import SpecError
from heldout.simulate.names import styled

_WORDS = re.compile(r"\{([a-z0-9 ]+)\}")


@dataclass(frozen=True, slots=True)
class Trigger:
    """What wakes a dormant cause.

    ``on`` says whose timeline shows it: ``seat``, ``workload`` (the seat's Deployment), ``holder``
    or a hop such as ``reads_writes<CronJob``. ``load`` multiplies the traffic of the path; 1 means
    traffic has no part in it. ``summary`` may use ``{name}``.
    """

    on: str
    type: str
    summary: str
    prose: str
    load: float = 1.0


@dataclass(frozen=True, slots=True)
class Gauge:
    """The metric that shows the mechanism on the seat: name, unit, healthy and biting level."""

    name: str
    unit: str
    healthy: float
    biting: float


@dataclass(frozen=True, slots=True)
class Effect:
    """What a controller reports, or the state it writes, while the fault bites.

    ``on`` is ``seat``, ``holder``, ``workload``, ``victim`` or a hop path from the seat. With
    ``field`` that fact turns from ``healthy`` to ``value``. ``summary`` may use ``{name}`` (of the
    entity it is reported on), ``{said}``, ``{new}``, ``{old}``, ``{holder}`` and ``{seat}``. An
    announcement comes ``days`` before onset, everything else at onset.
    """

    on: str
    summary: str
    type: str = "runtime"
    field: str = ""
    value: Any = None
    healthy: Any = None
    days: float = 0.0


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a population that the fault reaches, told from the rest by one fact.

    ``over`` is a hop path from the seat to the population. Members hold ``inside`` in ``field``,
    the others ``outside``; ``share`` of them are members unless knob ``fleet_share`` says more.
    ``@before``, ``@since``, ``@recent`` and ``@trigger`` stand for times around the change.
    """

    over: str
    field: str
    inside: Any
    outside: Any
    share: float = 0.4
    why: str = ""


class Near(NamedTuple):
    """An entity that one is tempted to blame (``on`` as in :class:`Effect`), and why not."""

    on: str
    why: str


Cause = Literal["change", "none", "recovered", "false_alarm"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break.

    ``seat`` is the kind whose own logs state the mechanism; ``holder`` are the hops from there to
    the entity that carries ``field`` (empty: the seat itself). Words in braces in ``field`` are
    spelled in the organisation's style, ``said`` is how the logs spell them. ``values`` are
    (healthy, biting) pairs; a biting ``"=name"`` takes the holder's own field of that name. Log
    templates may use ``{said}``, ``{new}``, ``{old}``, ``{holder}``, ``{seat}`` and the running
    numbers ``{0}`` and ``{1}``. ``terms`` are the groups of synonyms a right mechanism must touch.
    ``lends`` marks records whose edit may stand in as a decoy: ``harmless`` then says why it is
    one. ``source`` cites the public report it is modelled on.

    ``cause`` is ``none`` for trouble that no change of ours explains, ``recovered`` for trouble
    that ended by itself before the alert was read, ``false_alarm`` for an alert over nothing.
    ``also`` are further (field, healthy, biting) that the same change sets on the holder,
    ``accepts`` further hop paths from the seat to an entity that is a right answer, ``nears``
    wrong answers that are close, ``carries`` the predicates along which its trouble spreads (empty:
    all that trouble can spread along), ``health`` the health checks that may rightly fire.
    """

    name: str
    domain: str
    family: str
    source: str
    seat: str
    holder: tuple[str, ...]
    field: str
    said: str
    values: tuple[tuple[Any, Any], ...]
    logs: tuple[str, ...]
    gauge: Gauge
    trigger: Trigger
    mechanism: str
    terms: tuple[tuple[str, ...], ...]
    fix: str
    lends: bool = False
    harmless: str = ""
    cause: Cause = "change"
    also: tuple[tuple[str, Any, Any], ...] = ()
    effects: tuple[Effect, ...] = ()
    scope: Scope | None = None
    nears: tuple[Near, ...] = ()
    accepts: tuple[str, ...] = ()
    carries: tuple[str, ...] = ()
    health: tuple[str, ...] = ()

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        """(link of the chain, tool that shows it) in the order of an investigation."""
        links = [("symptom", "list_alerts"), ("path", "search_logs"), ("mechanism", "log_patterns")]
        if self.gauge.name:
            links.append(("mechanism", "query_metrics"))
        if self.effects:
            links.append(("mechanism", "list_changes"))
        if self.scope is not None:
            links.append(("scope", "get_entity"))
        if self.cause == "change":
            links += [("field", "get_field_history"), ("change", "get_change")]
        return tuple(links)

    @property
    def holder_kind(self) -> str:
        """The kind of the entity that carries the field."""
        if not self.holder:
            return self.seat
        return re.split("[<>]", self.holder[-1])[1]

    def field_in(self, style: str) -> str:
        """The field's path in an organisation's naming style."""
        return _WORDS.sub(lambda match: styled(match.group(1), style), self.field)

    def said_in(self, style: str) -> str:
        """How the logs spell the field; words in braces take a style, the rest is as it is."""
        return _WORDS.sub(lambda match: styled(match.group(1), style), self.said)


def records(package: str, attribute: str) -> Mapping[str, Any]:
    """The ``attribute`` of every module of a package, by module name."""
    module = importlib.import_module(package)
    found = {}
    for info in sorted(pkgutil.iter_modules(module.__path__), key=lambda one: one.name):
        record = getattr(importlib.import_module(f"{package}.{info.name}"), attribute)
        found[info.name] = record
    return found


@cache
def faults() -> Mapping[str, Fault]:
    """Every fault by name, in name order."""
    found: Mapping[str, Fault] = records("heldout.simulate.faults", "FAULT")
    for name, record in found.items():
        if record.name != name:
            raise SpecError(
                f"fault '{record.name}' lives in {name}.py",
                where=f"heldout/simulate/faults/{name}.py",
                mend="Give the record the name of its file",
            )
    return found


def fault_named(name: str) -> Fault:
    """The fault of that name; an unknown one is a :class:`SpecError` with near names."""
    known = faults()
    if name not in known:
        raise SpecError(
            f"there is no fault '{name}'", where="spec.fault", mend=nearest(name, known)
        )
    return known[name]


def nearest(name: str, known: Mapping[str, object]) -> str:
    """A sentence that offers the known names closest to ``name``."""
    hits = process.extract(name[:100], list(known), limit=3, score_cutoff=50)
    offered = [str(hit[0]) for hit in hits] or sorted(known)
    return f"Use one of: {', '.join(offered)}"
