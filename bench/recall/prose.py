"""What people write of incidents, as edits that hold no fact of ours: the gate should let it pass.

Reports of real incidents, split into sentences, with their own names, numbers and dates masked (a
brain may hold none of those, whoever's they are), in disjoint blocks as long as an edit may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.gate import method
from heldout.brain import Brain
from heldout.gate.engine import Engine
from heldout.gate.extract import Extractor
from heldout.gate.inventory import Held, Owner
from heldout.gate.material import all_rows
from heldout.gate.report import Finding
from heldout.gate.vocabulary import Vocabulary
from heldout.truth import Truth

BLOCK = 23
"""Sentences of a block, as many lines as an edit of usual size adds."""
FILE = "method.md"

PLAIN_SERVICES = (
    "user", "users", "account", "accounts", "auth-service", "session-service", "payment",
    "payments", "order-service", "orders", "cart", "checkout-service", "catalog",
    "search-service", "inventory",
    "shipping", "billing-service", "invoice-service", "notification-service", "email-service",
    "control-plane", "data-plane", "rate-limiter", "load-balancer", "api-gateway", "edge-proxy",
    "config-service", "feature-flags", "event-bus", "message-queue", "job-scheduler", "worker-pool",
    "image-service", "media-service", "upload-service", "file-store", "metadata-service", "index",
    "indexer", "recommendation-service", "ranking", "analytics", "reporting-service", "metrics-api",
    "log-collector", "alert-manager", "web-frontend", "mobile-api", "admin-console", "public-api",
    "identity-provider", "token-service", "key-manager", "secret-store", "cache-warmer", "database",
    "registry", "build-service", "deploy-service", "status-page",
)  # fmt: skip
"""Sixty names of services as many teams have them, made of nothing but everyday words."""

_CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1[^\n]*$|^(?: {4}|\t)[^\n]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->|<[^>\n]{1,200}>", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|\[([^\]]*)\]\[[^\]]*\]")
_URL = re.compile(r"\b(?:https?|ssh|git)://\S+|\bwww\.\S+|\S+@\S+\.\S+")
_INLINE = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DATE = re.compile(
    rf"\b{_MONTH}\.? \d+(?:st|nd|rd|th)?(?:,? \d{{4}})?|\b\d+(?:st|nd|rd|th)? (?:of )?{_MONTH}\b"
    rf"(?:,? \d{{4}})?|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_NAMED = re.compile(r"[\w.@#/:=+*~-]*(?:\w[_./:@#=]\w|\d)[\w.@#/:=+*%-]*")
_PROPER = re.compile(r"(?<=[a-z,;:)] )(?:[A-Z][\w'’]*|\w+[A-Z]\w*)(?: [A-Z][\w'’]*)*")
_QUOTED = re.compile(r"[`\"“]([A-Z][a-z]+)[`\"”]")
_HANDLE = re.compile(r"@[\w-]+")
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z])|\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)")
_LEADING = re.compile(r"^(?:(?:some|that day|theirs)\b[\s,:.-]*)+(?=\w)")
_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s*|[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}")
LEAST = 5
"""Words of a sentence that are its own, not put in for what was masked."""
MASK = frozenset({"some", "theirs", "it", "that", "day", "the", "page", "somebody"})


FORM = frozenset({"brain-format", "brain-consistency", "edit-size"})
"""Rules about how a brain is written (no line twice, no contradiction), not about what it tells."""


@dataclass(frozen=True)
class Refused:
    """A block that the gate would not take, with what it found there."""

    block: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """What it took for a fact of an incident; wrongly, since there is none."""
        return tuple(finding for finding in self.findings if finding.rule not in FORM)


def sentences(folder: Path) -> list[str]:
    """Every sentence of every report, masked, in the order of the files.

    What masking has made the same ("Time to repair: ...") counts once.
    """
    found = dict.fromkeys(
        sentence
        for path in sorted(folder.rglob("*.md"))
        for sentence in masked(path.read_text(encoding="utf-8"))
    )
    return list(found)


def masked(report: str) -> Iterator[str]:
    """The prose of one report without headings, code, tables, and whatever is its own."""
    text = _COMMENT.sub(" ", _CODE_BLOCK.sub("\n\n", _FRONT_MATTER.sub("", report)))
    kept = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "|")))
    own = _own_names(kept)
    for piece in _END.split(kept):
        line = _LEADING.sub("", " ".join(_mask(piece, own).split()))
        if sum(word not in MASK for word in re.findall(r"[a-z]+", line.lower())) >= LEAST:
            yield line


def _own_names(text: str) -> re.Pattern[str]:
    """Words that a report writes with a capital in a sentence or in quotes, wherever they stand."""
    plain = " ".join(_LINK.sub(lambda m: m[1] or "", text).split())
    told = {
        word.lower()
        for names in (*_PROPER.findall(plain), *_QUOTED.findall(plain))
        for word in re.findall(r"[A-Za-z]{4,}", names)
    }
    return re.compile(rf"\b(?:{'|'.join(sorted(told)) or '(?!)'})\b", re.IGNORECASE)


def _mask(text: str, own: re.Pattern[str]) -> str:
    text = _LINK.sub(lambda m: m[1] or m[2] or "", text)
    for pattern, put in (
        (_URL, "the page"), (_INLINE, "it"), (_DATE, "that day"), (_HANDLE, "somebody"),
        (_NAMED, "some"), (_MARK, ""),
    ):  # fmt: skip
        text = pattern.sub(put, text)
    return own.sub("theirs", _PROPER.sub("theirs", " ".join(text.split())))


def blocks(given: Sequence[str]) -> list[list[str]]:
    """Disjoint blocks; what is left over at the end is dropped."""
    return [list(given[at : at + BLOCK]) for at in range(0, len(given) - BLOCK + 1, BLOCK)]


def refused(engine: Engine, given: Sequence[Sequence[str]]) -> list[Refused]:
    """The blocks that the gate refuses as an edit of a clean brain."""
    before = Brain(files={FILE: "\n".join(method(12, 0))}, load=(FILE,))
    found = []
    for block in given:
        added = "\n".join(f"- {line}" for line in block)
        report = engine.check(before, before.with_file(FILE, f"{before.files[FILE]}\n{added}"))
        if not report.passed:
            found.append(Refused(tuple(block), report.rejects))
    return found


def plain_incident(vocabulary: Vocabulary) -> Held:
    """An incident in which each of :data:`PLAIN_SERVICES` is a service."""
    entities = [
        {"id": f"e-{at:08x}", "kind": "Service", "name": name, "external_id": "", "cluster": ""}
        for at, name in enumerate(PLAIN_SERVICES)
    ]
    truth = Truth(
        incident="plain", culprit_entity="e-00000000", culprit_change="", culprit_field="",
        accepted_entities=("e-00000000",), accepted_changes=(), mechanism="", mechanism_terms=(),
        trigger="", affected=(), unaffected=(), chain=(), decoys=(), near_misses=(),
        recommended_fix="", canary="",
    )  # fmt: skip
    extract = Extractor(vocabulary).extract(all_rows({"entity": entities}), "", truth, ())
    return Held(Owner("plain", "train"), extract)
