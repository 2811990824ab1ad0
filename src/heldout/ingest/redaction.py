"""Secrets taken out on import: the same value becomes the same placeholder everywhere.

Placeholders are numbered in the order of reading, so that they tell nothing about the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SECRET_NAME = re.compile(
    r"(?i)(passw(or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|credential|auth[_-]?header|connection[_-]?string|\bdsn\b|_dsn$)"
)
_NOT_SECRET = re.compile(
    r"(?i)(secret_?name|secret_?key_?ref|secret_?ref|token_?(path|file|audience|ttl|expir)"
    r"|(_|-)?(file|path|name|ref|mount|enabled|ttl|timeout|rotation|version|length|policy)$)"
)
_SECRET_TEXT = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}\b"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}\b"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bglpat-[A-Za-z0-9_-]{20,}"
    r"|\bAIza[A-Za-z0-9_-]{35}"
    r"|(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}"
    r"|\bsk-[A-Za-z0-9_-]{20,}\b"
    # A key's block in base64, as configurations of clients hold it; certificates are public.
    r"|\bLS0tLS1CRUdJTiB(?!DRVJUSUZJ|QVUJMSUMg)[A-Za-z0-9+/]{16,}={0,2}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    re.DOTALL,
)
_URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):([^/\s@]+)(?=@)")
_ASSIGNED = re.compile(
    r"(?i)((?:passw(?:or)?d|passphrase|secret(?:[_-]?access[_-]?key|[_-]?key)?|token"
    r"|(?:api|access|private)[_-]?key|x-amz-signature|[?&]sig(?:nature)?)"
    r"[\"']?\s*[=:]\s*[\"']?)([^\s\"',;&#]{4,})"
)
_AUTHORIZED = re.compile(
    r"(?i)(\bauthorization[\"']?\s*[=:]\s*[\"']?(?:(?:bearer|basic|token|digest)\s+)?"
    r"|\bbearer\s+(?=[^\s\"']*\d))([\w.~+/=-]{8,})"
)
_SECRET_WORDS = (
    "-----BEGIN", "AKIA", "ASIA", "gh", "github_pat_", "xox", "glpat-", "AIza", "slack.com", "sk-",
    "eyJ", "LS0tLS1CRUdJTiB",
)  # fmt: skip
_ASSIGNED_WORDS = ("passw", "passphrase", "secret", "token", "key", "sig")
"""What stands in every text that the patterns above match, in lower case."""

_MOST_KNOWN = 100_000
"""Different values that have a placeholder of their own; the hostile rest shares one."""
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Redactor:
    """Replaces secret values; ``count`` says how many replacements were made.

    Numbers go on after ``begin``: what an earlier import into the same world numbered is another
    secret's, as far as anybody can know.
    """

    def __init__(self, begin: int = 0) -> None:
        self.count = 0
        self._begin = begin
        self._known: dict[str, str] = {}

    @property
    def last(self) -> int:
        """The highest number given so far."""
        return self._begin + len(self._known)

    def placeholder(self, value: Any) -> str:
        """The placeholder of one value."""
        text = str(value)
        if re.fullmatch(r"redacted-(?:\d{4,6}|more)", text):
            return text
        self.count += 1
        if len(self._known) >= _MOST_KNOWN and text not in self._known:
            return "redacted-more"
        return self._known.setdefault(text, f"redacted-{self.last + 1:04}")

    def object(self, body: Mapping[str, Any], *, is_secret: bool) -> dict[str, Any]:
        """A copy of one object without secret values."""
        cleaned: dict[str, Any] = {}
        for key, value in body.items():
            if is_secret and key in ("data", "stringData") and isinstance(value, Mapping):
                cleaned[key] = {name: self.placeholder(inner) for name, inner in value.items()}
            else:
                cleaned[key] = self._value(value, key)
        return cleaned

    def _value(self, value: Any, key: str) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list):
            return [self._value(inner, key) for inner in value]
        if isinstance(value, str):
            if value and is_secret_name(key) and not value.startswith("$("):
                return self.placeholder(value)
            return self.text(value)
        return value

    def _mapping(self, value: Mapping[str, Any]) -> dict[str, Any]:
        named = value.get("name")
        cleaned = {}
        for key, inner in value.items():
            if key == _LAST_APPLIED:
                continue
            if key == "value" and isinstance(named, str) and isinstance(inner, str):
                cleaned[key] = self._value(inner, named)
            else:
                cleaned[key] = self._value(inner, key)
        return cleaned

    def text(self, text: str) -> str:
        """A text without keys, tokens and passwords in known forms."""
        # Looking for words first costs a tenth of the patterns, and most lines have none of them.
        if any(word in text for word in _SECRET_WORDS):
            text = _SECRET_TEXT.sub(lambda match: self.placeholder(match[0]), text)
        if "://" in text and "@" in text:
            text = _URL_PASSWORD.sub(lambda match: f"{match[1]}:{self.placeholder(match[2])}", text)
        lower = text.lower()
        if "authorization" in lower or "bearer" in lower:
            text = _AUTHORIZED.sub(self._assigned, text)
        if any(word in lower for word in _ASSIGNED_WORDS):
            text = _ASSIGNED.sub(self._assigned, text)
        return text

    def _assigned(self, match: re.Match[str]) -> str:
        if re.match(r"redacted-|\$|/|<|\{", match[2]):
            return match[0]
        return match[1] + self.placeholder(match[2])


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret rather than a reference to one."""
    return bool(_SECRET_NAME.search(name)) and not _NOT_SECRET.search(name)
