"""Names that an organisation could have invented: brand-like words and two-word names.

None is a word of operations or of the dictionary, but for the two words of a two-word name, which
are rare ones: a plain name cannot be told from method text. A *bank* is one of two disjoint halves
of the stock; the two sides of a split use different banks, so no name of one side can occur on the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from heldout.simulate.streams import share, stream


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_HEADS = _words("""
qui tav lum cor bre zan mel fyr hol nar vex pom dris kel osk wyn jar thal bel gru ces mor ruv
sil fen cad ilm tor yev har nok pra dul vin esk rhu zel bro ank lor
""")
_MIDS = _words("""
la ri lo mi da ve sta nu li ra do bi ke va so ne ta fi ru le
""")
_TAILS = _words("""
mere din vick tra nox bell wen dale quin rop gate lin thor zu mond ven lisk sham rell dor nash
pike len tov wick bria fane gard lux mar
""")
_FIRST_WORDS = _words("""
amber brisk cobalt dusky ember feral gilded hazel ivory jolly keen lunar mossy noble ochre pale
quiet russet sable tawny umber velvet wry young zesty ashen bright copper drowsy early frosty
gentle humble icy jade kindly lofty merry nimble olive placid rosy silver tidy upland vivid wild
cerise bonny crimson dapper elder floral golden hardy
""")
_SECOND_WORDS = _words("""
heron badger otter lynx marten plover thistle fennel juniper alder bramble clover sorrel yarrow
quail osprey bittern curlew dunlin egret gannet hoopoe ibex jackdaw kestrel lapwing magpie
nuthatch oriole pipit raven siskin tern urchin vole wagtail yak zebu anchovy barnacle cowrie
dabchick eland gopher hornbill isopod jerboa kinglet limpet mullet numbat opossum petrel quokka
redstart sandpiper
""")
_GIVEN = _words("""
ada bruno carla dmitri elif farid greta hugo ines jonas kaia luis mira nils olga pavel rosa
samir tessa uwe vera wim yara zeno aino bashir clea dario edda finn gita henk ilse joao kofi
lena marek noor otto priya
""")
_REFUSED = (
    "core", "node", "proxy", "cache", "admin", "vault", "limit", "token", "metal", "delta",
    "corrid", "corked", "corned", "narked", "morbid", "torrid", "harked", "bromid",
)  # fmt: skip
"""Parts of a brand that would make a word of it."""


def _half(words: Sequence[str], bank: int) -> list[str]:
    return [word for index, word in enumerate(words) if index % 2 == bank % 2]


@cache
def _brands(bank: int) -> tuple[str, ...]:
    heads, tails = _half(_HEADS, bank), _half(_TAILS, bank)
    brands = (h + m + t for h in heads for m in _MIDS for t in tails)
    return tuple(b for b in brands if 6 <= len(b) <= 11 and not any(r in b for r in _REFUSED))


class NameBook:
    """The names of one organisation; every word is handed out once."""

    def __init__(self, seed: int, bank: int) -> None:
        self._rng = stream(seed, "names", bank)
        self._bank = bank
        self._brands = self._shuffled(_brands(bank), 700)
        self._stock = frozenset(self._brands)
        self._used: set[str] = set()
        self._first = self._shuffled(_half(_FIRST_WORDS, bank))
        self._second = self._shuffled(_half(_SECOND_WORDS, bank))
        self._given = _half(_GIVEN, bank)
        self._people: dict[str, None] = {}

    def _shuffled(self, words: Sequence[str], count: int | None = None) -> list[str]:
        order = self._rng.permutation(len(words))[: count or len(words)]
        return [words[int(index)] for index in order]

    def brand(self) -> str:
        """An invented word, never given before."""
        return self._brands.pop()

    def service(self) -> str:
        """A service: an invented word, or two words while those last."""
        if self._first and self._second and self._rng.random() < 0.4:
            return f"{self._first.pop()}-{self._second.pop()}"
        return self.brand()

    def services(self, count: int, alike: float = 0.0) -> list[str]:
        """Names of ``count`` services; the share ``alike`` look much like another one of them."""
        names = [self.service() for _ in range(count)]
        twins = self._rng.permutation(count)[: 2 * round(alike * count / 2)].tolist()
        for at, other in zip(twins[::2], twins[1::2], strict=False):
            names[at] = self._like(names[other])
        return names

    def _like(self, name: str) -> str:
        """A name that is easily taken for ``name``: another end on the same beginning."""
        first, _, second = name.partition("-")
        if second:
            return f"{first}-{self._second.pop() if self._second else self.brand()}"
        stem = next(head + mid for head in _HEADS for mid in _MIDS if first.startswith(head + mid))
        near = [word for word in _brands(self._bank) if word.startswith(stem)]
        free = [word for word in near if word not in self._used and word not in self._stock]
        if not free:
            return self.brand()
        found = free[int(self._rng.integers(len(free)))]
        self._used.add(found)
        return found

    def person(self) -> str:
        """A login such as ``ada.tavrilin``."""
        while True:
            given = self._given[int(self._rng.integers(len(self._given)))]
            login = f"{given}.{self._brands.pop()}"
            if login not in self._people:
                self._people[login] = None
                return login


STYLES = ("snake", "camel", "upper", "kebab")


def styled(words: str, style: str) -> str:
    """``'db pool max'`` in a naming style: snake, camel, upper or kebab."""
    parts = words.split()
    if style == "camel":
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    if style == "upper":
        return "_".join(parts).upper()
    return ("-" if style == "kebab" else "_").join(parts)


def pick(rng: np.random.Generator, options: Sequence[str]) -> str:
    """One of ``options``, evenly."""
    return options[int(rng.integers(len(options)))]


def major_version(seed: int, stem: str) -> int:
    """The major version that releases of an image have in an organisation."""
    return 1 + int(share(seed, "major", stem) * 8)
