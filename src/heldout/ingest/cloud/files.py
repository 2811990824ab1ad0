"""One file of an export, in parts, or why it is not read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.ingest.batches import batches, head_of, sequence
from heldout.ingest.reading import Unreadable


def check_file(path: Path, root: Path) -> None:
    """Raise :class:`Unreadable` where a file is a link out of the import, none at all, or empty."""
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            raise Unreadable("link, skipped", "leads out of the folder")
        if not path.is_file():
            raise Unreadable("unreadable, skipped", "is no regular file")
        if path.stat().st_size == 0:
            raise Unreadable("empty, skipped")
    except OSError as error:
        raise Unreadable("unreadable, skipped", error.strerror or "cannot be read") from error


def parts_of(path: Path) -> Iterator[Any]:
    """The document of a file, in parts where it is large; of several documents each.

    Text that does not parse is :class:`Unreadable`, also after what stood before it.
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
        raise Unreadable("unreadable, skipped", "is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise Unreadable("unreadable, skipped", "is not UTF-8 text") from error
    except ValueError as error:
        reason = " ".join(str(error).split())[:160]
        raise Unreadable("unreadable, skipped", f"does not parse: {reason}") from error
    except OSError as error:
        raise Unreadable("unreadable, skipped", error.strerror or "cannot be read") from error


def first_of(path: Path) -> Any:
    """The first document of a file with empty lists at its top; :class:`Unreadable` as for parts."""
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
