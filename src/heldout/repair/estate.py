"""The rows that the services work on: people, campaigns, creatives, events, drawn from a seed."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

from heldout.repair.platform.database import Database

EPOCH = 1_780_000_000
"""When the window of an episode begins, in seconds since the epoch."""

DAY = 86_400
PLACEMENTS = ("feed", "story", "message")
SEGMENTS = ("sports", "travel", "music", "cooking", "garden", "games")
REGIONS = ("eu", "us", "apac", "latam")


@dataclass(frozen=True, slots=True)
class Estate:
    """How much there is, and the seed that it is drawn from."""

    seed: int
    people: int = 120
    campaigns: int = 18
    creatives: int = 4
    events: int = 300


@dataclass(frozen=True, slots=True)
class Person:
    """One person; ``email`` and ``phone`` are the planted private data."""

    id: int
    email: str
    phone: str
    region: str
    consent: int


def people(estate: Estate) -> tuple[Person, ...]:
    """The people of an estate; half of them agreed to offers."""
    draw = random.Random(f"people\0{estate.seed}")
    found = []
    for number in range(1, estate.people + 1):
        mark = hashlib.sha256(f"{estate.seed}\0{number}".encode()).hexdigest()[:10]
        phone = f"+{draw.randrange(10**10, 10**11)}"
        found.append(
            Person(
                number,
                f"{mark}@example.net",
                phone,
                draw.choice(REGIONS),
                int(draw.random() < 0.8),
            )
        )
    return tuple(found)


def fill(database: Database, estate: Estate) -> None:
    """Write an estate's rows into a database whose migrations are applied."""
    draw = random.Random(f"estate\0{estate.seed}")
    rows: list[str] = []
    for one in people(estate):
        rows.append(
            f"insert into users values ({one.id}, '{one.email}', '{one.phone}', '{one.region}',"
            f" {one.consent})"
        )
        segments = ",".join(draw.sample(SEGMENTS, draw.randrange(0, 3)))
        rows.append(
            f"insert into features values ({one.id}, {draw.uniform(0.005, 0.2):.4f},"
            f" {draw.uniform(0.5, 400):.2f}, '{segments}')"
        )
    for number, needs in ((1, 1), (2, 0), (3, 1)):
        body = f"Hello from {{title}} ({number}): {{ads}} offers"
        rows.append(f"insert into templates values ({number}, '{body}', {needs})")
    creative = 0
    for number in range(1, estate.campaigns + 1):
        rows.append(
            "insert into campaigns (id, name, segment, budget_cents, template_id) values"
            f" ({number}, 'campaign {number}', '{draw.choice(SEGMENTS)}',"
            f" {draw.randrange(50_000, 500_000)}, {draw.randrange(1, 4)})"
        )
        for which in range(estate.creatives):
            creative += 1
            ended = EPOCH - draw.randrange(31, 90) * DAY if which == 3 else None
            rows.append(
                "insert into creatives (id, campaign_id, placement, bid_cents, quality, ended_at)"
                f" values ({creative}, {number}, '{PLACEMENTS[which % 3]}',"
                f" {draw.randrange(20, 400)}, {draw.uniform(0.2, 1):.3f},"
                f" {'null' if ended is None else ended})"
            )
    database.script(";\n".join(rows))
