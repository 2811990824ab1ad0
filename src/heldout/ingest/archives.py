"""Archives of files (support bundles, must-gathers): unpacked within limits, and gone again.

An archive is hostile: entries may lead out of the folder, be links or devices, or unpack to more
than any disk holds. Only regular files are taken, and where a limit is passed nothing is imported.
"""

from __future__ import annotations

import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from heldout.errors import IngestError

TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
MAX_BYTES = 4 * 1024**3
MAX_FILES = 100_000
_CHUNK = 1024 * 1024
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError,
           NotImplementedError)  # fmt: skip


def is_archive(path: Path) -> bool:
    """Whether a file is one, by its name."""
    return path.is_file() and path.name.lower().endswith((*TARS, ".zip"))


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, int]]:
    """A folder with an archive's regular files, and how many entries were none.

    What is no whole archive, or unpacks beyond ``MAX_BYTES`` or ``MAX_FILES``, is an
    :class:`IngestError`.
    """
    with tempfile.TemporaryDirectory(prefix="heldout-archive-") as name:
        folder = Path(name) / _stem(path)
        folder.mkdir()
        keeping = _Keeping(path, folder)
        try:
            if path.name.lower().endswith(".zip"):
                keeping.zipped()
            else:
                keeping.tarred()
        except _BROKEN as error:
            raise IngestError(
                f"is no whole archive ({' '.join(str(error).split())[:80] or 'it is cut'})",
                where=str(path),
                mend="Fetch it again, or unpack it and name the folder",
            ) from error
        yield folder, keeping.others


def _stem(path: Path) -> str:
    """What the folder is called: an import without a name of its own is named after it."""
    name = path.name
    for suffix in sorted((*TARS, ".zip"), key=len, reverse=True):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)].strip(". ") or "archive"
    return "archive"


class _Keeping:
    """Writes entries below a folder, and counts."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._bytes = 0
        self._files = 0
        self.others = 0

    def tarred(self) -> None:
        """Entries of a tar, in their order; what follows a break is not looked at."""
        with tarfile.open(self._path, "r|*") as archive:
            for entry in archive:
                stream = archive.extractfile(entry) if entry.isreg() else None
                if stream is None:
                    self.others += not entry.isdir()
                else:
                    self._keep(entry.name, stream)

    def zipped(self) -> None:
        """Entries of a zip; a locked one is counted and left."""
        with zipfile.ZipFile(self._path) as archive:
            for entry in archive.infolist():
                link = (entry.external_attr >> 28) == 0xA
                if entry.is_dir():
                    continue
                if link or entry.flag_bits & 1:
                    self.others += 1
                    continue
                with archive.open(entry) as stream:
                    self._keep(entry.filename, stream)

    def _keep(self, name: str, stream: IO[bytes]) -> None:
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not parts or parts[0] == "/" or ".." in parts or "\0" in name:
            self.others += 1
            return
        self._files += 1
        target = self._folder.joinpath(*parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as out:
                while chunk := stream.read(_CHUNK):
                    self._bytes += len(chunk)
                    self._require()
                    out.write(chunk)
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            self.others += 1
        self._require()

    def _require(self) -> None:
        if self._bytes > MAX_BYTES or self._files > MAX_FILES:
            raise IngestError(
                f"unpacks to over {MAX_BYTES} bytes or {MAX_FILES} files",
                where=str(self._path),
                mend="Unpack what you need of it, and name the folder",
            )
