"""What somebody hands in: an incident report, or a thread in which an engineer corrected the agent.

Markdown, plain text or JSON. Secrets are taken out and control characters spelled before anybody
else sees the text; it is material to be judged, never an instruction, and is not kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.errors import IngestError
from heldout.ingest.redaction import Redactor
from heldout.store.secrets import Scrubber
from heldout.terminal import visible

LARGEST = 4_000_000
"""Bytes of a file that is still taken for a report."""
LONGEST = 48_000
"""Characters that are read of it: the beginning and the end, where causes are told."""
LONGEST_LINE = 2_000
SUFFIXES = (".md", ".markdown", ".txt", ".json")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
_ANSWER = re.compile(r"(?i)\b(agent|assistant|bot|answer|diagnosis)\b")
_CORRECTION = re.compile(r"(?i)\b(correct(ion|ed)|actual(ly)?|real cause|what really)\b")

Sort = Literal["report", "thread"]


@dataclass(frozen=True, slots=True)
class Material:
    """A report (``sort`` thread: an answer and its correction) as it may be read.

    ``digest`` is of the file's bytes. ``text`` is redacted; ``redacted`` counts what was taken out,
    ``cut`` the characters in its middle that are left out.
    """

    path: Path
    digest: str
    sort: Sort
    text: str
    redacted: int = 0
    cut: int = 0

    @property
    def name(self) -> str:
        """The file's name, harmless on a terminal."""
        return visible(self.path.name, 120)


def digest_of(path: Path) -> str:
    """The digest by which a report is known; one that cannot be read is an :class:`IngestError`."""
    return hashlib.sha256(_bytes(path)).hexdigest()


def read_material(path: Path) -> Material:
    """Read a report or thread; what is none is an :class:`IngestError` that says why."""
    raw = _bytes(path)
    if b"\x00" in raw[:8192]:
        raise IngestError("this is no text", where=str(path), mend="Hand in Markdown or plain text")
    text = raw.decode("utf-8", "replace")
    sort: Sort = "report"
    if path.suffix.lower() == ".json":
        sort, text = _from_json(text, path)
    elif _is_thread(text):
        sort = "thread"
    redactor, scrub = Redactor(), Scrubber()
    safe = visible(scrub(redactor.text(text)), LONGEST_LINE, lines=True).strip()
    if not safe:
        raise IngestError("the report is empty", where=str(path), mend="Hand in its text")
    kept, cut = _bounded(safe)
    return Material(path, hashlib.sha256(raw).hexdigest(), sort, kept, redactor.count, cut)


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise IngestError(
                f"the file is larger than {LARGEST // 1_000_000} MB",
                where=str(path), mend="Hand in the report without its attachments",
            )  # fmt: skip
        return path.read_bytes()
    except OSError as error:
        raise IngestError(
            f"the report cannot be read ({error.strerror or type(error).__name__})",
            where=str(path), mend="Name a file of Markdown, text or JSON",
        ) from error  # fmt: skip


def _is_thread(text: str) -> bool:
    """True where one heading names an answer of the agent and a later one its correction."""
    headings = _HEADING.findall(text)
    answers = [at for at, one in enumerate(headings) if _ANSWER.search(one)]
    corrections = [at for at, one in enumerate(headings) if _CORRECTION.search(one)]
    return bool(answers and corrections and answers[0] < corrections[-1])


def _from_json(text: str, path: Path) -> tuple[Sort, str]:
    """A JSON object with a report's text, or with an answer and its correction."""
    try:
        raw: Any = json.loads(text)
    except ValueError as error:
        raise IngestError(
            f"this is not JSON ({error})", where=str(path), mend="Correct it, or hand in Markdown"
        ) from error
    if isinstance(raw, dict) and raw.get("answer") and raw.get("correction"):
        parts = [("Alert", raw.get("alert")), ("Answer of the agent", raw["answer"]),
                 ("Correction", raw["correction"])]  # fmt: skip
        return "thread", "\n\n".join(f"## {name}\n{_said(one)}" for name, one in parts if one)
    if isinstance(raw, dict) and raw.get("report"):
        return "report", _said(raw["report"])
    raise IngestError(
        "the object has neither 'report' nor 'answer' and 'correction'",
        where=str(path),
        mend="Give it these keys, or hand in Markdown",
    )


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)


def _bounded(text: str) -> tuple[str, int]:
    if len(text) <= LONGEST:
        return text, 0
    cut = len(text) - LONGEST
    head = LONGEST * 2 // 3
    return f"{text[:head]}\n[{cut} characters left out]\n{text[head - LONGEST :]}", cut
