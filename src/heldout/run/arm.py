"""One arm of a run: its brain, and what single investigations are given beside it.

Most arms are a brain and nothing else. Some put a text of its own before the model for each
incident, after the brain or after the alert, and some offer no tool but the one that ends the
session. What is added stands in the run's manifest by hash and in the ledger as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from heldout.agent.prompt import SUBMIT
from heldout.brain import Brain, normalise
from heldout.incident import Incident
from heldout.interface import Interface, Session, ToolSpec
from heldout.store import Ledger
from heldout.store.blobs import blob_row, text_hash
from heldout.store.texts import texts

BESIDE = "beside.md"
"""The page of the brain that holds what is added to it for one incident."""


@dataclass(frozen=True, slots=True)
class Addition:
    """Markdown that one incident's investigations are given: after the brain, after the alert."""

    brain: str = ""
    alert: str = ""

    @property
    def text(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @property
    def hash(self) -> str:
        """32 hex digits over both texts."""
        return text_hash(self.text).hex()


@dataclass(frozen=True, slots=True)
class Arm:
    """One brain under test, by a short name (``before``, ``after``, ``noop`` ...).

    ``additions`` are by incident. With ``closed`` no tool is offered but the submitting one.
    """

    name: str
    brain: Brain
    additions: Mapping[str, Addition] = field(default_factory=dict)
    closed: bool = False

    def plain(self) -> dict[str, Any]:
        """For the manifest: everything that changes a prompt, by hash."""
        plain: dict[str, Any] = {"name": self.name, "brain": self.brain.hash}
        if self.additions:
            plain["additions"] = {
                incident: self.additions[incident].hash for incident in sorted(self.additions)
            }
        if self.closed:
            plain["closed"] = True
        return plain

    def opening(self, incident: Incident) -> tuple[Incident, Brain]:
        """The alert and the brain as this arm shows them."""
        added = self.additions.get(incident.id)
        if added is None:
            return incident, self.brain
        if added.alert:
            incident = replace(incident, alert=f"{incident.alert.rstrip()}\n\n{added.alert}")
        return incident, with_page(self.brain, BESIDE, added.brain) if added.brain else self.brain

    def interface(self, whole: Interface) -> Interface:
        """The environment as this arm offers it."""
        return SubmitOnly(whole) if self.closed else whole


class SubmitOnly:
    """An environment that offers nothing but the tool that ends the session."""

    def __init__(self, whole: Interface) -> None:
        self._whole = whole
        self.name = whole.name

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """``submit_diagnosis``, else the environment's last tool."""
        specs = self._whole.tool_specs()
        return tuple(spec for spec in specs if spec.name == SUBMIT) or specs[-1:]

    def open(self, task_ref: str, seed: int) -> Session:
        """One task of the whole environment; the harness runs no tool that is not offered."""
        return self._whole.open(task_ref, seed)


def with_page(brain: Brain, name: str, text: str) -> Brain:
    """``brain`` with one more page, loaded last and never tuned; a taken name gets a mark."""
    while name in brain.files:
        name = f"further-{name}"
    return replace(
        brain,
        files={**brain.files, name: normalise(text)},
        load=(*brain.load, name),
        frozen=(*brain.frozen, name),
    )


def store_additions(ledger: Ledger, arm: Arm) -> None:
    """Keep an arm's texts, so that its run can be resumed and read back."""
    rows = {one.hash: blob_row(one.text) for one in arm.additions.values()}
    if rows:
        ledger.append("blobs", list(rows.values()))


def read_additions(ledger: Ledger, plain: Mapping[str, Any]) -> dict[str, Addition]:
    """The additions of an arm of a stored manifest; a missing text is a :class:`StoreError`."""
    named = {incident: bytes.fromhex(held) for incident, held in plain.get("additions", {}).items()}
    found = texts(ledger, named.values())
    return {incident: Addition(**json.loads(found[held])) for incident, held in named.items()}
