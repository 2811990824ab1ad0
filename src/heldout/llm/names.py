"""How a model is named: ``provider/name@effort``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from heldout.errors import UsageError

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Values of ``reasoning_effort``; a name without ``@effort`` sends none."""

SIMULATED = "sim"
"""The provider whose models run in this process."""

SIMULATED_MODELS = ("anchored", "scattered", "proposer")
KNOWN_PROVIDERS = ("openai", SIMULATED)

_PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,199}")
_FORM = "A model is written provider/name@effort, e.g. openai/gpt-5@low or sim/anchored@low"


@dataclass(frozen=True, slots=True)
class ModelName:
    """One model at one effort; ``str()`` gives back what was parsed."""

    provider: str
    name: str
    effort: str = ""

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """Read ``provider/name@effort``; anything else is a :class:`UsageError` with a way out."""
        text = text.strip()
        provider, slash, rest = text.partition("/")
        name, at, effort = rest.rpartition("@")
        if not at:
            name, effort = rest, ""
        if not slash or not _PROVIDER.fullmatch(provider) or not _NAME.fullmatch(name):
            raise UsageError(f"{_quoted(text)} is not the name of a model", mend=_guess(text))
        if at and effort not in EFFORTS:
            guess = near(effort, EFFORTS)
            raise UsageError(
                f"{_quoted(text)} has an unknown effort {_quoted(effort)}",
                mend=f"Did you mean '@{guess}'? Efforts: {', '.join(EFFORTS)}"
                if guess
                else f"Efforts: {', '.join(EFFORTS)}",
            )
        if provider == SIMULATED and name not in SIMULATED_MODELS:
            guess = near(name, SIMULATED_MODELS)
            known = ", ".join(f"sim/{one}" for one in SIMULATED_MODELS)
            raise UsageError(
                f"there is no simulated model {_quoted(name)}",
                mend=f"Did you mean 'sim/{guess}'? Known: {known}" if guess else f"Known: {known}",
            )
        return cls(provider, name, effort)

    @property
    def is_simulated(self) -> bool:
        """True for the models that run in this process; their results are mechanism tests."""
        return self.provider == SIMULATED

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}" + (f"@{self.effort}" if self.effort else "")


def _quoted(text: str) -> str:
    shown = "".join(char if char.isprintable() else "?" for char in text[:80])
    return f"'{shown}'"


def near(text: str, known: tuple[str, ...]) -> str:
    """The known word closest to ``text``, empty where none is close."""
    found = process.extractOne(text.casefold(), known, scorer=fuzz.ratio, score_cutoff=50)
    return str(found[0]) if found else ""


def _guess(text: str) -> str:
    bare = re.sub(r"[^A-Za-z0-9._:@/+-]", "", text)
    if bare and "/" not in bare:
        guess = near(bare.partition("@")[0], SIMULATED_MODELS)
        return f"Did you mean '{'sim/' + guess if guess else 'openai/' + bare}'? {_FORM}"
    provider = near(bare.partition("/")[0], KNOWN_PROVIDERS)
    rest = bare.partition("/")[2]
    if provider and _NAME.fullmatch(rest.rpartition("@")[0] or rest):
        return f"Did you mean '{provider}/{rest}'? {_FORM}"
    return _FORM
