"""Writing a page: the file appears whole or not at all."""

from __future__ import annotations

import contextlib
from pathlib import Path

from heldout.errors import HeldoutError


def write_page(path: Path, text: str) -> Path:
    """Write a page's text to ``path`` and return it; what stops that is a :class:`HeldoutError`."""
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise HeldoutError(
            f"the report cannot be written ({error.strerror})",
            where=str(path),
            mend="Free space or check the permissions; 'heldout report' writes it again",
        ) from error
    return path
