"""From findings to a wire, a mode, roles, and the lines of ``heldout.toml`` that say so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from heldout.llm.doctor.finding import Finding
from heldout.llm.names import ModelName

Mode = Literal["tools", "json", "notebook"]
Role = Literal["agent", "proposer", "judge"]

Found = Mapping[str, Finding]
"""Findings by the name of their probe."""

CHAT_TOKENS = 32_000
"""A window below this does not hold an investigation that keeps every answer."""

NOTEBOOK_TOKENS = 8_000
"""A window below this does not hold a notebook that is worth it."""

PROPOSER_TOKENS = 16_000
"""A window below this does not hold a brain, what failed, and an edit."""

JUDGE_TOKENS = 12_000
"""A window below this does not hold an answer, the truth, and the room that a verdict is given."""

_BESIDE_NOTEBOOK = 6_000
"""Tokens for brain, tools and reply, beside the notebook."""

_USUAL_NOTEBOOK = 16_000

USUAL_CONCURRENCY = 8
_SIMULATED: Mapping[str, tuple[Role, ...]] = {"proposer": ("proposer",)}
_KEYS: Mapping[Role, tuple[str, str, str]] = {
    "agent": ("agent", "base_url", "wire"),
    "proposer": ("proposer", "proposer_base_url", "proposer_wire"),
}


@dataclass(frozen=True, slots=True)
class Advice:
    """What the model can be used for and how. No role means not usable.

    ``modes`` are all that work over ``wire``, the one to take first; ``notes`` are warnings in
    words; ``concurrency`` is ``None`` where nothing speaks against the usual.
    """

    wire: str = ""
    modes: tuple[Mode, ...] = ()
    roles: tuple[Role, ...] = ()
    notes: tuple[str, ...] = ()
    concurrency: int | None = None
    settings: Mapping[Role, str] = field(default_factory=dict)
    """The lines to set, by role."""

    @property
    def usable(self) -> bool:
        """True when there is a role to take."""
        return bool(self.roles)


def advise(model: ModelName, base_url: str, endpoint: Found, wires: Mapping[str, Found]) -> Advice:
    """Choose among the wires that answer; Chat Completions where both can the same."""
    answering = {wire: found for wire, found in wires.items() if _is(found, "answer")}
    if not answering:
        return Advice(notes=_notes(model, endpoint, {}))
    window = endpoint["window"].facts.get("tokens") if "window" in endpoint else None
    wire = max(answering, key=lambda one: (_worth(answering[one]), one == "chat"))
    found = answering[wire]
    modes = _modes(model, found, window)
    roles = _roles(model, found, modes, window)
    concurrency = _concurrency(found)
    effortless = "effort" in found and found["effort"].outcome == "no"
    named = f"{model.provider}/{model.name}" if effortless else str(model)
    settings = {role: _lines(role, named, base_url, wire) for role in roles}
    if "agent" in settings:
        settings["agent"] += _of_the_agent(modes, window, concurrency)
    return Advice(wire, modes, roles, _notes(model, endpoint, found), concurrency, settings)


def _is(found: Found, name: str) -> bool:
    return name in found and found[name].outcome == "yes"


def _worth(found: Found) -> tuple[bool, bool, int, bool]:
    """Tools above all, then JSON; then usage; then reasoning that is kept between turns."""
    json_ways = _is(found, "schema") + _is(found, "fenced")
    kept = _is(found, "tools") and bool(found["tools"].facts.get("reasoning_kept"))
    return _is(found, "tools"), _is(found, "usage"), json_ways, kept


def _modes(model: ModelName, found: Found, window: int | None) -> tuple[Mode, ...]:
    if model.is_simulated:
        return ("tools", "json", "notebook") if "agent" in _simulated(model) else ()
    steps = _is(found, "schema") or _is(found, "fenced")
    modes: list[Mode] = []
    if window is None or window >= CHAT_TOKENS:
        modes += ["tools"] if _is(found, "tools") else []
        modes += ["json"] if steps else []
    if steps and (window is None or window >= NOTEBOOK_TOKENS):
        modes.append("notebook")
    return tuple(modes)


def _roles(
    model: ModelName, found: Found, modes: tuple[Mode, ...], window: int | None
) -> tuple[Role, ...]:
    if model.is_simulated:
        return _simulated(model)
    roles: list[Role] = ["agent"] if modes else []
    # Typed calls tell the form in the prompt; a judge's questions may be bound by a schema.
    in_words, bound = _is(found, "fenced"), _is(found, "schema")
    if in_words and (window is None or window >= PROPOSER_TOKENS):
        roles.append("proposer")
    if (in_words or bound) and (window is None or window >= JUDGE_TOKENS):
        roles.append("judge")
    return tuple(roles)


def _simulated(model: ModelName) -> tuple[Role, ...]:
    """Programs: what each is for is known, and nothing else is promised."""
    return _SIMULATED.get(model.name, ("agent",))


def _concurrency(found: Found) -> int | None:
    parallel = found.get("parallel")
    if parallel is None or parallel.outcome != "no":
        return None
    return 2 if parallel.facts.get("throttled") else 1


def _notes(model: ModelName, endpoint: Found, found: Found) -> tuple[str, ...]:
    notes: list[str] = []
    if model.is_simulated:
        notes.append("a simulated model shows that the machinery works, nothing about real models")
    if "effort" in found and found["effort"].outcome == "no" and model.effort:
        notes.append(f"write the model's name without '@{model.effort}'")
    if "answer" in found and found["answer"].facts.get("other_name"):
        notes.append("another model's name came back; every run records the name that was served")
    if _is(found, "tools") and not model.is_simulated and not found["tools"].facts["used_result"]:
        notes.append('it made no use of a tool\'s answer: try mode = "notebook" on a few incidents')
    window = endpoint.get("window")
    tokens = window.facts.get("tokens") if window else None
    if tokens is not None and tokens < CHAT_TOKENS:
        notes.append(f"a window of {tokens:,} tokens is too small for a chat of many steps")
    if tokens is not None and tokens < PROPOSER_TOKENS:
        notes.append(
            f"nor does it hold what a proposer reads, below {JUDGE_TOKENS:,} what a judge does"
        )
    if "price" in endpoint and endpoint["price"].outcome == "no":
        notes.append("costs are unknown: set prices in prices.toml before you set a cap in USD")
    return tuple(notes)


def _lines(role: Role, model: str, base_url: str, wire: str) -> str:
    """Where the model is, as TOML for one role."""
    if role == "judge":
        judge = {"by": "llm", "models": [model], "base_url": base_url, "wire": wire}
        return _section("judge", judge)
    name_key, url_key, wire_key = _KEYS[role]
    return _section("models", {name_key: model, url_key: base_url, wire_key: wire})


def _of_the_agent(modes: tuple[Mode, ...], window: int | None, concurrency: int | None) -> str:
    """How an agent is asked, to follow the ``[models]`` of :func:`_lines`."""
    text = _pairs({"mode": modes[0]})
    if modes[0] == "notebook" and window is not None:
        room = min(window - _BESIDE_NOTEBOOK, _USUAL_NOTEBOOK)
        text += _pairs({"notebook_tokens": room}) if room < _USUAL_NOTEBOOK else ""
    if concurrency is not None:
        text += "\n" + _section("run", {"concurrency": concurrency})
    return text


def _section(name: str, values: Mapping[str, Any]) -> str:
    return f"[{name}]\n{_pairs(values)}"


def _pairs(values: Mapping[str, Any]) -> str:
    # A string, number or list of strings in JSON is one in TOML too.
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items() if value != "")
