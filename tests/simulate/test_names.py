"""Names are invented, unique, and never shared by the two halves of the stock."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from tests.simulate.small import small_spec

from heldout.gate.vocabulary import load_vocabulary
from heldout.simulate import generate
from heldout.simulate.names import NameBook, styled

WORDS = load_vocabulary()


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


def _plain(name: str) -> bool:
    """Whether a name holds a word of the trade, or is itself one that a dictionary knows."""
    words = re.split("[-.]", name)
    return any(WORDS.is_generic(word) for word in words) or (
        len(words) == 1 and WORDS.known(words[0])
    )


def test_names_are_unique_and_not_operations_vocabulary():
    """Each name is given once; none holds a word of the gate's lists but rare ones in a pair."""
    for seed in range(20):
        names = _names(seed, seed % 2)
        assert len(names) == len(set(names))
        assert not [name for name in names if _plain(name)]
        pairs = [name.split("-") for name in names if name.count("-") == 1]
        assert pairs
        assert not [pair for pair in pairs if WORDS.is_pair(*pair)]


@pytest.mark.parametrize("name", ["queue-heron", "corridor", "amber-gateway", "scheduler"])
def test_a_plain_name_is_noticed(name: str):
    """Negative control: a word of the trade or of the dictionary is told from an invented one."""
    assert _plain(name)


def test_as_many_services_look_alike_as_asked():
    """A look-alike shares its beginning with another service and is still a name of its own."""

    def alike(share: float) -> int:
        names = NameBook(3, 1).services(60, share)
        assert len(set(names)) == 60
        stems = Counter(name.split("-")[0] if "-" in name else name[:5] for name in names)
        return sum(count for count in stems.values() if count > 1)

    assert alike(0.5) >= 24
    assert alike(0.5) > alike(0.1) > alike(0.0)


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
