"""Texts that are stored once, by their content, and compressed."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.errors import StoreError

DICTIONARY_BYTES = 32_000
"""What deflate can look back on; a longer dictionary would be of no use."""

_RAW = -15
"""Raw deflate: the blob's own hash is the checksum, so zlib's header and trailer are left out."""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A blob that other blobs are compressed against, because their texts are alike."""

    hash: bytes
    data: bytes


def text_hash(text: str) -> bytes:
    """First 16 bytes of the sha256 over the text."""
    return hashlib.sha256(_encode(text)).digest()[:16]


def blob_row(text: str, dictionary: Dictionary | None = None) -> dict[str, Any]:
    """The row of table ``blobs`` that holds ``text``."""
    raw = _encode(text)
    if dictionary is None:
        packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, 9)
    else:
        packer = zlib.compressobj(
            9, zlib.DEFLATED, _RAW, 9, zlib.Z_DEFAULT_STRATEGY, dictionary.data
        )
    return {
        "hash": hashlib.sha256(raw).digest()[:16],
        "codec": "deflate",
        "dictionary": dictionary.hash if dictionary else None,
        "size": len(raw),
        "data": packer.compress(raw) + packer.flush(),
    }


def make_dictionary(texts: list[str]) -> tuple[Dictionary, dict[str, Any]]:
    """A dictionary from sample texts (the likeliest last) and the row that stores it."""
    whole = "".join(texts)
    raw = _encode(whole)[-DICTIONARY_BYTES:]
    text = raw.decode("utf-8", "ignore")
    row = blob_row(text)
    return Dictionary(row["hash"], _encode(text)), row


def blob_text(row: Mapping[str, Any], dictionary: bytes = b"") -> str:
    """The text of a row of table ``blobs``; one that was altered is a :class:`StoreError`."""
    if row["codec"] != "deflate":
        raise StoreError(
            f"a text is stored with the unknown codec '{row['codec']}'",
            where="ledger, table blobs",
            mend="Use the newer heldout that wrote it",
        )
    try:
        unpacker = zlib.decompressobj(_RAW, dictionary) if dictionary else zlib.decompressobj(_RAW)
        raw = unpacker.decompress(row["data"]) + unpacker.flush()
    except zlib.error as error:
        raise _damaged(row) from error
    if hashlib.sha256(raw).digest()[:16] != row["hash"]:
        raise _damaged(row)
    return raw.decode("utf-8", "surrogatepass")


def _encode(text: str) -> bytes:
    # Model output may hold half of a surrogate pair; it is kept as it came.
    return text.encode("utf-8", "surrogatepass")


def _damaged(row: Mapping[str, Any]) -> StoreError:
    return StoreError(
        f"the stored text {row['hash'].hex()} is damaged",
        where="ledger, table blobs",
        mend="Restore the ledger from a backup",
    )
