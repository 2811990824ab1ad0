"""Files of exports: which there are, and why one is not read. A file is a record, never an end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.errors import IngestError
from heldout.ingest.batches import batches, head_of, sequence


class Skipped(Exception):
    """A file that gives nothing, and why."""

    def __init__(self, outcome: str, detail: str = "") -> None:
        super().__init__(f"{outcome}: {detail}" if detail else outcome)
        self.outcome = outcome
        self.detail = detail


def export_files(path: Path, suffixes: tuple[str, ...], what: str) -> Iterator[tuple[str, Path]]:
    """Every file with one of the suffixes at or below ``path``, in a stable order.

    Links to folders are not followed. A path that is not there is an :class:`IngestError`.
    """
    if path.is_file():
        yield path.name, path
        return
    if not path.is_dir():
        raise IngestError(
            "nothing is there", where=str(path), mend=f"Name a file or folder of {what}"
        )
    for folder, subfolders, names in os.walk(path, followlinks=False):
        subfolders.sort()
        for name in sorted(names):
            if name.lower().endswith(suffixes):
                full = Path(folder) / name
                yield full.relative_to(path).as_posix(), full


def check_file(path: Path, root: Path) -> None:
    """Raise :class:`Skipped` where a file is a link out of the import, none at all, or empty."""
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            raise Skipped("link, skipped", "leads out of the folder")
        if not path.is_file():
            raise Skipped("unreadable, skipped", "is no regular file")
        if path.stat().st_size == 0:
            raise Skipped("empty, skipped")
    except OSError as error:
        raise Skipped("unreadable, skipped", error.strerror or "cannot be read") from error


def parts_of(path: Path) -> Iterator[Any]:
    """The document of a file, in parts where it is large; of several documents each.

    Text that does not parse is :class:`Skipped`, also after what stood before it.
    """
    try:
        try:
            head_of(path)
        except ValueError as error:
            if not _several(path):
                raise error
            yield from sequence(path)
        else:
            yield from batches(path)
    except RecursionError as error:
        raise Skipped("unreadable, skipped", "is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise Skipped("unreadable, skipped", "is not UTF-8 text") from error
    except ValueError as error:
        reason = " ".join(str(error).split())[:160]
        raise Skipped("unreadable, skipped", f"does not parse: {reason}") from error
    except OSError as error:
        raise Skipped("unreadable, skipped", error.strerror or "cannot be read") from error


def first_of(path: Path) -> Any:
    """The first document of a file, its lists at the top empty; :class:`Skipped` as for parts."""
    try:
        return head_of(path)
    except ValueError:
        return next(parts_of(path), None)
    except (RecursionError, OSError):
        return next(parts_of(path), None)


def _several(path: Path) -> bool:
    """Whether a file that is no document begins with one, and goes on with another."""
    found = 0
    try:
        for one in sequence(path):
            found += isinstance(one, dict | list)
            if found > 1:
                return True
    except ValueError:
        return False
    return False
