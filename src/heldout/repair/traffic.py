"""Traffic of a window, drawn from a seed: who asks for what, and when."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from heldout.repair.estate import EPOCH, PLACEMENTS, SEGMENTS, Estate, Person, people
from heldout.repair.platform.replay import Arrival

UNITS = (1, 1_000, 1_000_000)
"""What senders multiply seconds with: seconds, milliseconds, microseconds."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of traffic: requests a second, share of each route, extra load in the middle.

    ``peak`` multiplies the rate in the middle third of a window; ``unknown`` is the share of
    requests that name somebody or something that is not there.
    """

    rate: float = 12.0
    peak: float = 1.0
    shares: dict[str, float] = field(
        default_factory=lambda: {
            "rank": 5.0, "explain": 0.6, "spend": 1.5, "ingest": 2.0, "purchases": 0.6,
            "send": 2.0, "sent": 0.4, "profile": 0.6,
        }
    )  # fmt: skip
    unknown: float = 0.06
    clean_at: float | None = None


class _Sender:
    """Draws requests one by one; the same seed draws the same requests."""

    def __init__(self, estate: Estate, seed: int, unknown: float) -> None:
        self.unknown = unknown
        self.draw = random.Random(f"traffic\0{estate.seed}\0{seed}")
        self.estate = estate
        self.people = people(estate)
        self.seed = seed
        self.event = 0

    def person(self) -> Person:
        """Somebody; a few people are asked about much more often, as caches like it."""
        among = self.people[:8] if self.draw.random() < 0.5 else self.people
        return self.draw.choice(among)

    def user(self) -> int:
        return self.person().id if self.draw.random() >= self.unknown else 10**6

    def campaign(self) -> int:
        known = self.draw.randrange(1, self.estate.campaigns + 1)
        return known if self.draw.random() >= self.unknown else 999

    def rank(self, at: float) -> dict[str, Any]:
        return {
            "user_id": self.user(),
            "placement": self.draw.choice(PLACEMENTS),
            "limit": self.draw.randrange(1, 5) if self.draw.random() > 0.02 else 0,
        }

    def explain(self, at: float) -> dict[str, Any]:
        return {"user_id": self.user(), "segment": self.draw.choice(SEGMENTS)}

    def spend(self, at: float) -> dict[str, Any]:
        return {"campaign_id": self.campaign(), "cents": self.draw.randrange(1, 90)}

    def ingest(self, at: float) -> dict[str, Any]:
        events = []
        for _ in range(self.draw.randrange(1, 4)):
            one = self.person()
            self.event += 1
            moment = EPOCH + at - self.draw.randrange(0, 6 * 3600)
            event = {
                "id": f"{self.seed}-{self.event}",
                "email": one.email,
                "campaign_id": self.campaign(),
                "kind": self.draw.choice(("view", "click", "click", "purchase")),
                "at": int(moment * self.draw.choice(UNITS)),
                "value": round(self.draw.uniform(1, 80), 2),
            }
            if self.draw.random() < 0.05:
                event.pop("email")
            events.append(event)
        return {"events": events}

    def purchases(self, at: float) -> dict[str, Any]:
        return {"campaign_id": self.campaign(), "hours": self.draw.choice((6, 24, 48))}

    def send(self, at: float) -> dict[str, Any]:
        return {"user_id": self.user(), "campaign_id": self.campaign()}

    def sent(self, at: float) -> dict[str, Any]:
        return {"campaign_id": self.campaign(), "hours": 1}

    def profile(self, at: float) -> dict[str, Any]:
        return {"user_id": self.user()}


_ROUTES: dict[str, tuple[str, Callable[[_Sender, float], dict[str, Any]]]] = {
    "rank": ("ad_ranking", _Sender.rank),
    "explain": ("ad_ranking", _Sender.explain),
    "spend": ("ad_ranking", _Sender.spend),
    "ingest": ("capi_pipeline", _Sender.ingest),
    "purchases": ("capi_pipeline", _Sender.purchases),
    "send": ("whatsapp_sync", _Sender.send),
    "sent": ("whatsapp_sync", _Sender.sent),
    "profile": ("whatsapp_sync", _Sender.profile),
}


def arrivals(estate: Estate, profile: Profile, seconds: float, seed: int) -> tuple[Arrival, ...]:
    """The requests of a window of ``seconds``, in order of arrival."""
    sender = _Sender(estate, seed, profile.unknown)
    names = list(profile.shares)
    weights = list(profile.shares.values())
    found: list[Arrival] = []
    at = 0.0
    while True:
        busy = seconds / 3 <= at < 2 * seconds / 3
        at += sender.draw.expovariate(profile.rate * (profile.peak if busy else 1.0))
        if at >= seconds:
            break
        name = sender.draw.choices(names, weights)[0]
        service, make = _ROUTES[name]
        found.append(Arrival(round(at, 6), service, f"{service}.service:{name}",
                             (make(sender, at),)))  # fmt: skip
    if profile.clean_at is not None:
        clean = Arrival(profile.clean_at, "whatsapp_sync", "whatsapp_sync.service:clean", ({},))
        found = sorted([*found, clean], key=lambda one: one.at)
    return tuple(found)
