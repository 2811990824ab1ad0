"""What really happened in one incident, as the judge and the gate need it."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heldout.errors import SpecError

NONE = "none"
"""Among accepted entities: an answer that names no entity is right too."""


@dataclass(frozen=True, slots=True)
class Decoy:
    """A change that looks causal and is not."""

    change: str
    entity: str
    why_innocent: str


@dataclass(frozen=True, slots=True)
class NearMiss:
    """An answer that sounds right and must fail. Empty ``change`` matches any change."""

    entity: str
    change: str
    why_wrong: str


@dataclass(frozen=True, slots=True)
class Truth:
    """The cause, its accept sets, and the answers that must fail.

    ``accepted_entities`` and ``accepted_changes`` hold ids; an empty one means that the right
    answer names none, and :data:`NONE` among ids that it may name none. ``mechanism_terms`` is a
    conjunction of disjunctions: each inner tuple must have one term in the submitted mechanism
    (case-folded, word-wise); without groups and without an accepted change it must say that the
    cause cannot be proven. ``chain`` is the causal chain in order, each link a sentence.
    """

    incident: str
    culprit_entity: str
    culprit_change: str
    culprit_field: str
    accepted_entities: tuple[str, ...]
    accepted_changes: tuple[str, ...]
    mechanism: str
    mechanism_terms: tuple[tuple[str, ...], ...]
    trigger: str
    affected: tuple[str, ...]
    unaffected: tuple[str, ...]
    chain: tuple[str, ...]
    decoys: tuple[Decoy, ...]
    near_misses: tuple[NearMiss, ...]
    recommended_fix: str
    canary: str


def _plain(truth: Truth) -> dict[str, Any]:
    return asdict(truth)


def truth_digest(truth: Truth) -> str:
    """Content digest: sha256 over canonical JSON."""
    text = json.dumps(_plain(truth), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def write_truth(truth: Truth, path: Path) -> str:
    """Write one truth file, whoever else writes the same one, and return its digest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:12]}.part")
    try:
        part.write_text(json.dumps(_plain(truth), indent=1, sort_keys=True), encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return truth_digest(truth)


def read_truth(path: Path, *, digest: str | None = None) -> Truth:
    """Read one truth file; with ``digest``, an altered one is a :class:`SpecError`."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        truth = Truth(
            **{
                **raw,
                **{
                    name: tuple(raw[name])
                    for name in (
                        "accepted_entities",
                        "accepted_changes",
                        "affected",
                        "unaffected",
                        "chain",
                    )
                },
                "mechanism_terms": tuple(tuple(terms) for terms in raw["mechanism_terms"]),
                "decoys": tuple(Decoy(**decoy) for decoy in raw["decoys"]),
                "near_misses": tuple(NearMiss(**miss) for miss in raw["near_misses"]),
            }
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SpecError(
            f"truth file cannot be read ({type(error).__name__})",
            where=str(path),
            mend="Delete it; 'heldout build' makes it again from the spec",
        ) from error
    if digest and truth_digest(truth) != digest:
        raise SpecError(
            "truth differs from the digest in its spec",
            where=str(path),
            mend="Delete it; 'heldout build' makes it again from the spec",
        )
    return truth
