"""Names are invented, unique, and never shared by the two halves of the stock."""

from __future__ import annotations

import re

from tests.simulate.small import small_spec

from heldout.simulate import generate
from heldout.simulate.names import NameBook, styled

VOCABULARY = frozenset(
    [
        "api",
        "app",
        "auth",
        "cache",
        "cart",
        "checkout",
        "core",
        "database",
        "db",
        "frontend",
        "gateway",
        "login",
        "node",
        "order",
        "payment",
        "proxy",
        "queue",
        "server",
        "service",
        "user",
        "web",
        "worker",
    ]
)


def _names(seed: int, bank: int) -> list[str]:
    book = NameBook(seed, bank)
    return [book.service() for _ in range(70)] + [book.person() for _ in range(40)]


def test_the_banks_share_no_word():
    """Over many organisations, no name of one bank occurs in the other."""
    banks = [
        {
            word
            for seed in range(30)
            for name in _names(seed, bank)
            for word in re.split("[-.]", name)
        }
        for bank in (0, 1)
    ]
    assert len(banks[0]) > 300
    assert not banks[0] & banks[1]


def test_names_are_unique_and_not_operations_vocabulary():
    """Each word is given once, and none is a word of the trade."""
    for seed in range(10):
        names = _names(seed, seed % 2)
        assert len(names) == len(set(names))
        assert not {word for name in names for word in re.split("[-.]", name)} & VOCABULARY


def test_worlds_of_different_banks_share_no_service():
    """The names of a world come from the bank that its spec names."""
    services = []
    for bank in (0, 1):
        made = generate(small_spec(knobs={"bank": bank}))
        entity = made.tables.columns["entity"]
        services.append(
            {n for n, k in zip(entity["name"], entity["kind"], strict=True) if k == "Service"}
        )
    assert services[0]
    assert not services[0] & services[1]


def test_styles():
    """Snake, camel, upper and kebab."""
    assert [styled("db pool max", s) for s in ("snake", "camel", "upper", "kebab")] == [
        "db_pool_max", "dbPoolMax", "DB_POOL_MAX", "db-pool-max",
    ]  # fmt: skip
