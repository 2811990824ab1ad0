"""Files of a folder as documents: whatever cannot be read is a record, never the end of the import.

YAML with any number of documents, JSON objects, arrays and lists. Nothing is executed or fetched;
links that lead out of the folder are not followed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from heldout.errors import IngestError
from heldout.ingest.batches import batches

MAX_FILE_BYTES = 20 * 1024 * 1024
"""Beyond this a file is not held: JSON is read part by part, YAML not at all."""

MAX_JSON_BYTES = 4 * 1024**3
MAX_NODES = 500_000
MAX_DEPTH = 60
SUFFIXES = (".yaml", ".yml", ".json")

Outcome = Literal[
    "read", "templated, skipped", "empty, skipped", "huge, skipped", "unreadable, skipped",
    "link, skipped", "older, skipped", "known, skipped", "no kind", "no object", "refused",
]  # fmt: skip

_HOLE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<%.*?%>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What became of one file: ``path`` relative to the import, ``objects`` found in it.

    ``partial`` says that something of a file that was read was not.
    """

    path: str
    outcome: Outcome
    objects: int = 0
    detail: str = ""
    partial: bool = False


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Safe YAML without dates: Kubernetes knows none, and JSON cannot hold them."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class Unreadable(Exception):
    """A file that gives no documents: its outcome and why."""

    def __init__(self, outcome: Outcome, detail: str = "") -> None:
        super().__init__(detail)
        self.outcome: Outcome = outcome
        self.detail = detail


def files_of(path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> Iterator[tuple[str, Path]]:
    """Every file with one of the suffixes at or below ``path``, in a stable order.

    A file that is named itself is taken whatever its suffix. A path that does not exist is an
    :class:`IngestError`.
    """
    if path.is_file():
        yield path.name, path
        return
    if not path.is_dir():
        raise IngestError(
            "there is nothing to import",
            where=str(path),
            mend="Name a file, or a folder with files that can be read",
        )
    for folder, subfolders, names in os.walk(path, followlinks=False):
        subfolders.sort()
        for name in sorted(names):
            if name.lower().endswith(suffixes):
                full = Path(folder) / name
                yield full.relative_to(path).as_posix(), full


def documents_of(path: Path, root: Path) -> Iterable[Any]:
    """The documents of one file as plain data; :class:`Unreadable` says why there are none.

    Of JSON too large to hold they come part by part, each with some elements of its lists; then
    :class:`Unreadable` may come after some parts.
    """
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            raise Unreadable("link, skipped", "leads out of the folder")
        if not path.is_file():
            raise Unreadable("unreadable, skipped", "is no regular file")
        if is_large(path):
            if path.suffix.lower() == ".json" and path.stat().st_size <= MAX_JSON_BYTES:
                return _parts(path)
            raise Unreadable("huge, skipped", f"{path.stat().st_size} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("unreadable, skipped", "is not UTF-8 text") from error
    except OSError as error:
        raise Unreadable("unreadable, skipped", error.strerror or "cannot be read") from error
    if not text.strip():
        raise Unreadable("empty, skipped")
    documents = parse_text(text, is_json=path.suffix.lower() == ".json")
    kept = [document for document in documents if document not in (None, "", [], {})]
    if not kept:
        raise Unreadable("empty, skipped", "holds only comments or empty documents")
    return kept


def is_large(path: Path) -> bool:
    """Whether a file is too large to be held at once."""
    return path.stat().st_size > MAX_FILE_BYTES


def _parts(path: Path) -> Iterator[Any]:
    try:
        for part in batches(path, whole_bytes=MAX_FILE_BYTES):
            yield plain(part)
    except RecursionError as error:
        raise Unreadable("unreadable, skipped", "is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise Unreadable("unreadable, skipped", "is not UTF-8 text") from error
    except ValueError as error:
        reason = " ".join(str(error).split())[:160]
        raise Unreadable("unreadable, skipped", f"does not parse: {reason}") from error


def parse_text(text: str, *, is_json: bool) -> list[Any]:
    """The documents in a text as plain data; :class:`Unreadable` where it does not parse."""
    try:
        raw = [json.loads(text)] if is_json else list(yaml.load_all(text, Loader=_Loader))
        return [plain(document) for document in raw]
    except RecursionError as error:
        raise Unreadable("unreadable, skipped", "is nested too deeply") from error
    except (ValueError, yaml.YAMLError, TypeError) as error:
        if _HOLE.search(text):
            raise Unreadable("templated, skipped", "holds template expressions") from error
        reason = " ".join(str(error).split())[:160]
        raise Unreadable("unreadable, skipped", f"does not parse: {reason}") from error


def plain(value: Any) -> Any:
    """The value as JSON data of bounded size, with text keys.

    YAML aliases can make a small file unfold to billions of nodes; what is beyond the bound is
    :class:`Unreadable`.
    """
    budget = [MAX_NODES]

    def copy(node: Any, depth: int) -> Any:
        budget[0] -= 1
        if budget[0] < 0 or depth > MAX_DEPTH:
            raise Unreadable("unreadable, skipped", "unfolds to too much")
        if isinstance(node, dict):
            return {str(key): copy(inner, depth + 1) for key, inner in node.items()}
        if isinstance(node, list | tuple | set):
            return [copy(inner, depth + 1) for inner in node]
        if node is None or isinstance(node, bool | int | str):
            return node
        if isinstance(node, float):
            return node if node == node and abs(node) != float("inf") else str(node)
        return str(node)

    return copy(value, 0)


def has_hole(text: Any) -> bool:
    """Whether a name is a template expression that was quoted, so that the file parsed."""
    return isinstance(text, str) and _HOLE.search(text) is not None
