"""Objects of a large import, kept packed: a tenth of their size, opened when they are looked at."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson

_OPENED = 64
"""Objects that stay open: who looks at one looks at it several times."""


class Packed(Mapping[str, Any]):
    """A mapping of plain data that lies compressed until it is asked for."""

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def __getitem__(self, key: str) -> Any:
        return _opened(self.raw)[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_opened(self.raw))

    def __len__(self) -> int:
        return len(_opened(self.raw))


@lru_cache(maxsize=_OPENED)
def _opened(raw: bytes) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(zlib.decompress(raw))
    return found


def packed(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same mapping, packed; as it is where JSON cannot hold it.

    What the API server notes of who manages which field is left out: it is half of an object, and
    of a Secret alone it is read, since it says when its data were written.
    """
    metadata = body.get("metadata")
    is_noted = isinstance(metadata, Mapping) and "managedFields" in metadata
    if isinstance(metadata, Mapping) and is_noted and body.get("kind") != "Secret":
        kept = {key: value for key, value in metadata.items() if key != "managedFields"}
        body = {**body, "metadata": kept}
    try:
        return Packed(zlib.compress(orjson.dumps(body), 1))
    except (TypeError, ValueError):
        return body
