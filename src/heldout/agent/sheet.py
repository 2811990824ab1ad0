"""The tools on paper, for a model that is not offered them natively.

One signature and one paragraph each. An argument is described where it first stands; a later one of
the same name and description is not described again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from heldout.agent.prompt import TOOLS_HEADING
from heldout.interface import ToolSpec

_FEW = 8
"""Up to so many values stand in the signature, more of them beside the description."""


def tool_sheet(specs: Iterable[ToolSpec]) -> str:
    """All tools with their arguments as text."""
    told: set[tuple[str, str]] = set()
    return TOOLS_HEADING + "".join(f"\n{_tool(spec, told)}" for spec in specs)


def _tool(spec: ToolSpec, told: set[tuple[str, str]]) -> str:
    required = spec.parameters.get("required") or ()
    properties: Mapping[str, Any] = spec.parameters.get("properties") or {}
    arguments = [
        f"{name}{'' if name in required else '?'}: {_kind(schema)}"
        for name, schema in properties.items()
    ]
    lines = [f"{spec.name}({', '.join(arguments)})", f"  {spec.description}"]
    for name, schema in properties.items():
        about = _about(schema)
        if about and (name, about) not in told:
            told.add((name, about))
            lines.append(f"  - {name}: {about}")
    return "\n".join(lines) + "\n"


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_kind(schema.get('items') or {})}"
    values = schema.get("enum")
    if values and len(values) <= _FEW:
        return "|".join(str(value) for value in values)
    if kind in ("object", None):
        return "object" if kind else "any"
    low, high = schema.get("minimum"), schema.get("maximum")
    span = f" {low}..{high}" if low is not None and high is not None else ""
    return f"{kind}{span}" if isinstance(kind, str) else json.dumps(kind)


def _about(schema: Mapping[str, Any]) -> str:
    values = schema.get("enum") or (schema.get("items") or {}).get("enum") or ()
    described = str(schema.get("description") or "")
    # A short list stands in the signature, and some descriptions name all values themselves.
    if len(values) <= _FEW or all(str(value) in described for value in values):
        return described
    return f"{described} One of {', '.join(str(value) for value in values)}.".strip()
