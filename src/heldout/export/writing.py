"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heldout.errors import StoreError, UsageError


@contextmanager
def staged(out: Path, *, force: bool) -> Iterator[Path]:
    """A sibling of ``out`` to write a file or folder to, which becomes ``out`` at a good end.

    What is there already is a :class:`UsageError` unless ``force`` is set, and is kept until the
    new one is whole. A disk that fails is a :class:`StoreError`.
    """
    if out.exists() and not force:
        raise UsageError("it exists already", where=str(out), mend="Name another, or add --force")
    if out.is_dir() and not _is_export(out):
        raise UsageError(
            "this folder holds something else", where=str(out), mend="Name a folder of its own"
        )
    stage = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        yield stage
        _replace(stage, out)
    except OSError as error:
        raise StoreError(
            f"the export could not be written ({error.strerror or error})",
            where=str(out),
            mend="Free space on the disk, or name a place that can be written",
        ) from error
    finally:
        _remove(stage)


def _replace(stage: Path, out: Path) -> None:
    if stage.is_file() and not out.is_dir():
        with stage.open("rb") as stream:
            os.fsync(stream.fileno())
        stage.replace(out)
        return
    old = stage.with_suffix(".old")
    if out.exists():
        out.rename(old)
    stage.rename(out)
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_export(folder: Path) -> bool:
    return all(path.suffix == ".parquet" for path in folder.iterdir())
