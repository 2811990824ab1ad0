"""Recorded tool answers: a line that says which call, one that says how it ended, then the body."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heldout.ingest.objects import mapping

MAX_BYTES = 8 * 1024 * 1024
_FRAME = re.compile(r"\A(?:Command executed: .*\n)?stdout:\n(.*?)(?:\n\s*stderr:.*)?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded answer; ``body`` is empty where the call failed or found nothing."""

    tool: str
    params: Mapping[str, str] = field(default_factory=dict)
    status: str = ""
    body: str = ""

    def named(self, *names: str) -> str:
        """The first parameter of these names that has a value."""
        return next((self.params[name] for name in names if self.params.get(name)), "")


def read_recording(path: Path) -> Recording | None:
    """One file; ``None`` for one that is no recording or too large."""
    if path.is_symlink() or path.stat().st_size > MAX_BYTES:
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    first, _, rest = text.partition("\n")
    second, _, body = rest.partition("\n")
    try:
        call, end = json.loads(first), json.loads(second)
    except ValueError:
        return None
    if not isinstance(call, dict) or not isinstance(end, dict):
        return None
    status = str(end.get("status") or "")
    said = {str(key): str(value) for key, value in mapping(call.get("match_params")).items()}
    framed = _FRAME.match(body)
    return Recording(
        tool=str(call.get("tool_name") or ""),
        params=said,
        status=status,
        body=(framed[1] if framed else body).strip("\n") if status != "error" else "",
    )
