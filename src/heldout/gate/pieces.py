"""Names that nowhere stand whole: initials beside a kind, halves on lines apart, search patterns.

What is put together again from pieces needs the pieces to be odd: an unknown word, or a plain one
that no text about operations holds. Two everyday words on two lines are nobody's name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, cached_property, lru_cache
from itertools import islice

from heldout.gate.hits import Context, Hit, line_place, name_hit
from heldout.gate.inventory import Inventory
from heldout.gate.names import Name
from heldout.gate.pages import Page, Place
from heldout.gate.views import View
from heldout.gate.vocabulary import MODIFIERS, Vocabulary

RULE = "name-in-pieces"
SHORTEST = 3
"""Letters that a half must have."""
_LOOKED_AT = 400
"""Names that are tried for one half at most."""

_RUNS = frozenset(
    ("Service", "K8sService", "Deployment", "StatefulSet", "DaemonSet", "Repository", "Pipeline")
)
"""Kinds that bear the name of the service that they belong to."""
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "ConfigMap": ("config", "config map", "configmap", "settings"),
    "DbInstance": ("database", "db"), "KafkaTopic": ("topic",), "KmsKey": ("key",),
    "NodeGroup": ("node pool", "pool"), "IamRole": ("role",), "FeatureFlag": ("flag",),
    "Service": ("app", "api", "workload", "pod"),
}  # fmt: skip
"""What people call a kind, beside its own words."""
_NAMING = frozenset({"resource", "place", "person", "part"})
"""Whose names are looked for in pieces; keys are made of words that anybody uses."""
_PLAIN = (
    "ad ai az ca cd ci db dc dr gc ha hq id io ip lb ml mq mr ns os pg pr pv qa rc rs sa sg ui vm"
)
_SHORT_WORDS = frozenset(_PLAIN.split())
"""Two letters that everybody reads the same way."""
_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")
_WORD = re.compile(r"[A-Za-z]+")
_PATTERN = re.compile(
    r"`[^`\n]*[*?\[\](){}|^$\\+][^`\n]*`|/\^[^/\n]+/|(?<![\w*])[\w.-]+[-_.]\*(?!\*)|[\w.-]*\w\?\?"
)
_INITIALS = re.compile(r"(?<![A-Za-z0-9-])([A-Z](?:[.-]?[A-Z]){1,3})\.?[ -]{1,2}(?=[a-z])")
Row = tuple[Page, int, View]


def check(context: Context) -> Iterator[Hit]:
    """Every name that a reader could put together again."""
    search = _search(context.inventory)
    for row in context.scan.folded:
        yield from _initials(row, search)
    yield from _patterns(context, search)
    yield from _halves(context, search)


@lru_cache(maxsize=4)
def _search(inventory: Inventory) -> _Search:
    return _Search(inventory)


class _Search:
    """The names of one inventory by their pieces."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.vocabulary = inventory.vocabulary

    @cached_property
    def by_initials(self) -> dict[tuple[str, str], Name]:
        """Names of several words by their initials and what the thing is called."""
        found: dict[tuple[str, str], Name] = {}
        for name in self.inventory.names.values():
            words = [word for word in name.words if word.isalpha()]
            if not 2 <= len(words) <= 4:
                continue
            short = "".join(word[0] for word in words)
            kinds = {c.field.removeprefix("entity.") for c in name.carriers if "entity." in c.field}
            for noun in sorted(noun for kind in kinds for noun in _nouns(kind)):
                found.setdefault((short, noun), name)
        return found

    @cached_property
    def strong(self) -> dict[str, Name]:
        """The names that are put together again, by their keys."""
        return {
            name.key: name
            for name in self.inventory.strong
            if any(carrier.kind in _NAMING for carrier in name.carriers)
        }

    @cached_property
    def by_word(self) -> dict[str, Name]:
        """Strong names by each of their words that is no word of the trade."""
        found: dict[str, Name] = {}
        for name in self.strong.values():
            for word in name.words:
                if len(word) > SHORTEST and self._tells(word):
                    found.setdefault(word, name)
        return found

    @cached_property
    def by_rare_word(self) -> dict[str, list[Name]]:
        """Names of plain words by those of them that texts about operations do not hold."""
        common = {word for pair in self.vocabulary.pairs for word in pair}
        found: defaultdict[str, list[Name]] = defaultdict(list)
        for name in self.strong.values():
            words = {word for word in name.words if word.isalpha()}
            if len(words) < 2 or not all(map(self.vocabulary.known, words)):
                continue
            for word in words:
                if len(word) > SHORTEST and self._tells(word) and word not in common:
                    found[word].append(name)
        return found

    @cached_property
    def ends(self) -> tuple[list[str], list[str]]:
        """The keys in alphabetical order, and the same keys backwards."""
        return sorted(self.strong), sorted(key[::-1] for key in self.strong)

    def _tells(self, word: str) -> bool:
        return word.isalpha() and word not in MODIFIERS and not self.vocabulary.is_generic(word)

    def completed(self, half: str, pieces: dict[str, int]) -> tuple[Name, str] | None:
        """A name of which ``half`` is one end and another piece the rest, and that piece."""
        for keys, step in zip(self.ends, (1, -1), strict=True):
            own = half[::step]
            at = bisect_left(keys, own)
            for full in islice(keys, at, at + _LOOKED_AT):
                if not full.startswith(own):
                    break
                key, rest = full[::step], full[len(own) :][::step]
                if len(rest) >= SHORTEST and rest in pieces:
                    return self.strong[key], rest
        return None


@cache
def _nouns(kind: str) -> tuple[str, ...]:
    """What a thing of a kind is called in prose, lower case and singular."""
    kinds = sorted(_RUNS) if kind in _RUNS else [kind]
    spoken = [re.sub(r"(?<!^)([A-Z])", r" \1", one).lower() for one in kinds]
    return (*spoken, *(noun for one in kinds for noun in _ALIASES.get(one, ())))


def _initials(row: Row, search: _Search) -> Iterator[Hit]:
    text = row[2].text
    for match in _INITIALS.finditer(text):
        short = re.sub(r"[^A-Z]", "", match[1]).lower()
        if _reads_alike(short, search.vocabulary):
            continue
        following = [word.lower() for word in _WORD.findall(text[match.end() :])[:2]]
        for noun in (" ".join(following), *following[:1]):
            name = search.by_initials.get((short, noun.removesuffix("s")))
            if name is not None:
                yield name_hit(RULE, "reject", line_place(row, match.start(), match.end(1)), name)
                break


def _reads_alike(short: str, vocabulary: Vocabulary) -> bool:
    """True for an abbreviation or a word that is nobody's own."""
    if len(short) == 2:
        return short in _SHORT_WORDS
    return short in vocabulary.english or vocabulary.is_generic(short)


def _patterns(context: Context, search: _Search) -> Iterator[Hit]:
    """Globs and regular expressions that hold a telling word; folding would take their marks."""
    for page, number, line in context.scan.lines():
        for match in _PATTERN.finditer(line) if set("*?[(|^$\\") & set(line) else ():
            for word in _WORD.finditer(match.group()):
                name = search.by_word.get(word.group().lower())
                if name is not None:
                    place = Place(page, number, match.start() + 1, number, match.end() + 1)
                    yield name_hit(RULE, "reject", place, name)
                    break


def _halves(context: Context, search: _Search) -> Iterator[Hit]:
    """Pieces apart from each other that make a name; the hit stands on the later one."""
    pieces: dict[str, int] = {}
    where: list[tuple[Row, int, int]] = []
    words: list[tuple[str, int]] = []
    for row in context.scan.folded:
        for token in _TOKEN.finditer(row[2].text):
            parts = [(word.group().lower(), *word.span()) for word in _WORD.finditer(token.group())]
            whole = (re.sub(r"[^a-z0-9]", "", token.group().lower()), 0, len(token.group()))
            for piece, first, last in dict.fromkeys((*parts, whole)):
                if len(piece) >= SHORTEST and piece not in pieces:
                    pieces[piece] = len(where)
                    where.append((row, token.start() + first, token.start() + last))
                    words.append((piece, len(where) - 1))
    found: dict[str, int] = {}
    for piece, at in words:
        name, other = _made_of(piece, pieces, search)
        if name is None:
            continue
        # Two plain words side by side are a name as written; in one sentence they are prose.
        plain = search.vocabulary.known(piece)
        apart = where[at][0] is not where[pieces[other]][0]
        if not plain or (apart and name.key not in context.scan.squashed.text):
            found.setdefault(name.key, max(at, pieces[other]))
    for key, at in found.items():
        row, first, last = where[at]
        yield name_hit(RULE, "reject", line_place(row, first, last), search.strong[key])


def _made_of(piece: str, pieces: dict[str, int], search: _Search) -> tuple[Name | None, str]:
    """The name that a piece and others of the text make, and the one that completes it."""
    for name in search.by_rare_word.get(piece, ()):
        others = [word for word in name.words if word.isalpha() and word != piece]
        if others and all(word in pieces for word in others):
            return name, max(others, key=lambda word: pieces[word])
    if piece.isalpha() and not search.vocabulary.known(piece):
        found = search.completed(piece, pieces)
        if found is not None and piece not in search.inventory.names:
            return found
    return None, ""
