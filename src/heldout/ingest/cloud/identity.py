"""Ids that neither side writes, put together the same way on both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.ingest.cloud.forms import host, pick, text


def record_id(name: str, attributes: Mapping[str, Any]) -> dict[str, str]:
    """What identifies a DNS record inside its zone: name, type and set."""
    parts = (host(name) or "", text(pick(attributes, "type")) or "",
             text(pick(attributes, "set_identifier")) or "")  # fmt: skip
    return {"_record": " ".join(part for part in parts if part) if name else "", "_name": name}
