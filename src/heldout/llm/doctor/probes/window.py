"""How many tokens the model's context holds, where the endpoint tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.probes.listing import names_of
from heldout.llm.doctor.subject import Subject

_KEYS = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx",
    "n_ctx_train",
)
"""As vLLM, LM Studio, OpenRouter, Groq and llama.cpp write it; the loaded window comes first."""


@dataclass(frozen=True, slots=True)
class Window:
    """Read from the list of models; asks nothing."""

    name: ClassVar[str] = "window"
    title: ClassVar[str] = "context window"
    cost: ClassVar[Cost] = Cost()

    async def run(self, subject: Subject) -> Finding:
        """Look into the model's entry; a server with one model may call it as it likes."""
        alone = len(subject.listing) == 1
        for entry in subject.listing:
            named = alone or subject.model.name in names_of(entry)
            if named and (tokens := _window(entry)):
                return Finding(
                    self.name, self.title, "yes", f"{tokens:,} tokens", {"tokens": tokens}
                )
        return Finding(self.name, self.title, "unknown", "the endpoint does not tell")


def _window(entry: Mapping[str, Any]) -> int:
    meta = entry.get("meta")
    for place in (entry, meta if isinstance(meta, Mapping) else {}):
        for key in _KEYS:
            if type(place.get(key)) is int and place[key] > 0:
                return int(place[key])
    return 0
