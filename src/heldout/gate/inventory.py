"""Every identifier of every incident in one place, cached by incident and frozen for search."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

import ahocorasick_rs
import numpy as np

from heldout.errors import GateError, HeldoutError
from heldout.gate.amounts import close
from heldout.gate.extract import (
    EXTRACTOR_VERSION,
    PHRASES,
    Extract,
    Extractor,
    Found,
    Value,
)
from heldout.gate.material import Source
from heldout.gate.names import STRENGTH, Carrier, Judged, Name
from heldout.gate.vocabulary import Vocabulary
from heldout.split import Side

Hashes = np.ndarray[Any, np.dtype[np.uint64]]


class Owner(NamedTuple):
    """An incident and its side."""

    incident: str
    side: Side


@dataclass(frozen=True, slots=True)
class Held:
    """One incident's extract with its owner."""

    owner: Owner
    extract: Extract


class HashIndex:
    """Sorted 64-bit hashes, each with the incidents that it comes from."""

    def __init__(self, parts: Sequence[tuple[Owner, Iterable[int] | Hashes]]) -> None:
        self._owners = [owner for owner, _ in parts]
        arrays = [_array(values) for _, values in parts]
        numbers = [np.full(len(a), i, dtype=np.int32) for i, a in enumerate(arrays)]
        merged = np.concatenate(arrays) if arrays else np.empty(0, dtype=np.uint64)
        order = np.argsort(merged, kind="stable")
        self._hashes: Hashes = merged[order]
        self._numbers = (np.concatenate(numbers) if numbers else np.empty(0, np.int32))[order]

    def __len__(self) -> int:
        return len(self._hashes)

    def owners(self, value: int) -> tuple[Owner, ...]:
        """The incidents that a hash comes from; empty for a stranger."""
        key = np.uint64(value)
        low = int(np.searchsorted(self._hashes, key, side="left"))
        high = int(np.searchsorted(self._hashes, key, side="right"))
        return tuple(self._owners[int(i)] for i in self._numbers[low:high])

    def known(self, values: Sequence[int]) -> list[bool]:
        """Which of many hashes are in it, in one go."""
        if not len(self._hashes) or not values:
            return [False] * len(values)
        keys = np.array(values, dtype=np.uint64)
        at = np.minimum(np.searchsorted(self._hashes, keys), len(self._hashes) - 1)
        return [bool(hit) for hit in self._hashes[at] == keys]


def _array(values: Iterable[int] | Hashes) -> Hashes:
    return values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=np.uint64)


class Inventory:
    """The frozen inventory: an automaton over names, arrays for fuzzy search, hash indexes."""

    def __init__(self, held: Sequence[Held], vocabulary: Vocabulary, digest: str) -> None:
        self.vocabulary = vocabulary
        self.hash = digest
        self.incidents = len(held)
        self.names = _merge(held)
        self.keys = list(self.names)
        self.phrases = {
            source: HashIndex([(h.owner, h.extract.phrases.get(source, ())) for h in held])
            for source in PHRASES
        }
        self.opaque = HashIndex([(h.owner, h.extract.opaque) for h in held])
        self.values = [(value, h.owner) for h in held for value in h.extract.values]

    @cached_property
    def automaton(self) -> ahocorasick_rs.AhoCorasick:
        """Finds every key at once in squashed text."""
        return ahocorasick_rs.AhoCorasick(self.keys, store_patterns=False)

    @cached_property
    def strong(self) -> list[Name]:
        """T1 and T2 names of six and more characters, by length: what fuzzy search looks for."""
        names = [n for n in self.names.values() if n.tier in {"T1", "T2"} and len(n.key) >= 6]
        return sorted(names, key=lambda n: (len(n.key), n.key))

    @cached_property
    def by_prefix(self) -> list[str]:
        """The keys of :attr:`strong` in alphabetical order."""
        return sorted(name.key for name in self.strong)

    @cached_property
    def by_words(self) -> dict[tuple[str, ...], Name]:
        """Strong names of several words by their sorted words."""
        return {
            tuple(sorted(n.words)): n
            for n in self.strong
            if len([w for w in n.words if w.isalpha()]) > 1
        }

    @cached_property
    def lengths(self) -> list[int]:
        """Length of each key of :attr:`strong`."""
        return [len(name.key) for name in self.strong]

    def between(self, shortest: int, longest: int) -> slice:
        """The part of :attr:`strong` with keys of these lengths."""
        return slice(bisect_left(self.lengths, shortest), bisect_right(self.lengths, longest))

    @cached_property
    def _by_dimension(self) -> dict[str, tuple[list[float], list[tuple[Value, Owner]]]]:
        grouped: dict[str, list[tuple[Value, Owner]]] = {}
        for value, owner in self.values:
            grouped.setdefault(value.dimension, []).append((value, owner))
        return {
            dimension: ([v.number for v, _ in rows], rows)
            for dimension, rows in (
                (d, sorted(rows, key=lambda row: row[0].number)) for d, rows in grouped.items()
            )
        }

    def with_value(self, dimension: str, number: float) -> list[tuple[Value, Owner]]:
        """The culprit values that a quantity equals, within rounding."""
        if dimension not in self._by_dimension:
            return []
        numbers, rows = self._by_dimension[dimension]
        slack = abs(number) * 0.002 + 1e-12
        low = bisect_left(numbers, number - slack)
        high = bisect_right(numbers, number + slack)
        return [row for row in rows[low:high] if close(row[0].number, number)]


def _merge(held: Sequence[Held]) -> dict[str, Name]:
    """One name per key: its strongest tier, every incident that carries it once."""
    best: dict[str, Judged] = {}
    carriers: dict[str, dict[tuple[str, str], Carrier]] = {}
    for one in held:
        for found in one.extract.names.values():
            judged, key = found.judged, found.judged.key
            old = best.get(key)
            if old is None or STRENGTH[judged.tier] < STRENGTH[old.tier]:
                best[key] = judged
            carrier = Carrier(*one.owner, found.role, found.kind, found.field)
            carriers.setdefault(key, {}).setdefault((one.owner.incident, found.role), carrier)
    return {
        key: Name(key, judged.surface, judged.words, judged.tier, tuple(carriers[key].values()))
        for key, judged in best.items()
    }


def load_inventory(
    sources: Sequence[Source], cache: Path, vocabulary: Vocabulary, planted: Sequence[Held] = ()
) -> Inventory:
    """The inventory over all sources; what is not in ``cache`` yet is read from worlds and truths.

    ``planted`` are extracts of no incident: the bait that each rule must catch at start. A world
    or truth that cannot be read is a :class:`GateError`.
    """
    extractor = Extractor(vocabulary)
    digest = hashlib.sha256(f"{EXTRACTOR_VERSION}\0{vocabulary.hash}".encode())
    held: list[Held] = []
    for source in sources:
        text = f"{EXTRACTOR_VERSION}\0{vocabulary.hash}\0{source.key()}"
        key = hashlib.sha256(text.encode()).hexdigest()
        digest.update(f"{key}\0{source.side}\n".encode())
        path = cache / f"{key}.npz"
        extract = _read(path)
        if extract is None:
            extract = _packed(_extract(source, extractor))
            _write(extract, path)
        held.append(Held(Owner(source.name, source.side), extract))
    inventory = Inventory([*held, *planted], vocabulary, digest.hexdigest())
    inventory.incidents = len(sources)
    return inventory


def _extract(source: Source, extractor: Extractor) -> Extract:
    try:
        truth = source.read_truth()
        canaries = (source.spec.canary, truth.canary, source.spec.id)
        return extractor.extract(source.rows(), source.alert, truth, canaries)
    except HeldoutError as error:
        raise GateError(
            f"an incident cannot be read: {error.what}",
            where=source.name,
            mend="Run 'heldout build --all'; until then nothing is let through",
        ) from error


def _packed(extract: Extract) -> Extract:
    """The extract without what was only needed to make it: hashes take 8 bytes each, not 90."""
    extract.phrases = {source: _array(sorted(hashes)) for source, hashes in extract.phrases.items()}
    extract.opaque = _array(sorted(extract.opaque))
    extract.looked_at.clear()
    return extract


def _write(extract: Extract, path: Path) -> None:
    plain = {
        "names": [
            [f.judged.surface, list(f.judged.words), f.judged.tier, f.kind, f.role, f.field]
            for f in extract.names.values()
        ],
        "values": [[v.dimension, v.number, list(v.key)] for v in extract.values],
    }
    text = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as stream:
            np.savez_compressed(
                stream, allow_pickle=False, text=text, opaque=extract.opaque, **extract.phrases
            )
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise GateError(
            f"the inventory cannot be stored ({error.strerror})",
            where=str(path.parent),
            mend="Make room on the disk",
        ) from error


def _read(path: Path) -> Extract | None:
    """A cached extract; ``None`` where there is none or it cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as data:
            plain = json.loads(bytes(data["text"]))
            extract = Extract(
                phrases={source: data[source] for source in PHRASES},
                opaque=data["opaque"],
            )
        for surface, words, tier, kind, role, place in plain["names"]:
            judged = Judged(surface, tuple(words), intern(tier))  # type: ignore[arg-type]
            extract.add(Found(judged, intern(kind), intern(role), intern(place)))  # type: ignore[arg-type]
        extract.values = [Value(d, float(n), tuple(k)) for d, n, k in plain["values"]]
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError):
        return None
    return extract
