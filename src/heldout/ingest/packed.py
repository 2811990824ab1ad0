"""Documents of a file that may be packed, as JSON in parts or as YAML."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.ingest.cloud.files import parts_of
from heldout.ingest.reading import Unreadable, documents_of

MAX_UNPACKED = 2 * 1024**3
_CHUNK = 1024 * 1024
_YAML = (".yaml", ".yml")


def parts_of_file(path: Path) -> Iterator[Any]:
    """The documents of a file, large JSON in parts; a gzip file is unpacked to disk first.

    What cannot be read is :class:`Unreadable`, also after some documents.
    """
    if path.suffix.lower() == ".gz":
        with tempfile.TemporaryDirectory(prefix="heldout-unpacked-") as folder:
            inner = Path(folder) / (path.name[: -len(".gz")] or "unpacked")
            _unpack(path, inner)
            yield from parts_of_file(inner)
    elif path.suffix.lower() in _YAML:
        yield from documents_of(path, path.parent)
    else:
        yield from parts_of(path)


def _unpack(path: Path, inner: Path) -> None:
    size = 0
    try:
        with gzip.open(path) as packed, inner.open("wb") as stream:
            while chunk := packed.read(_CHUNK):
                size += len(chunk)
                if size > MAX_UNPACKED:
                    raise Unreadable("huge, skipped", f"unpacks to over {MAX_UNPACKED} bytes")
                stream.write(chunk)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unreadable("unreadable, skipped", "is no whole gzip file") from error
