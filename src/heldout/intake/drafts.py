"""Drafts on disk. What a draft is made of lies apart from what may be told of it.

A draft's contents are as secret as a truth and open only with :class:`HeldoutAccess`; its state
(which report, how far, which side) names nothing of the incident and anybody may read it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from heldout.errors import IngestError, UsageError
from heldout.settings import Settings
from heldout.split import HeldoutAccess, Side
from heldout.terminal import visible
from heldout.truth import Spec

Word = Literal["drafted", "accepted", "dropped", "no fault"]
_ID = re.compile(r"d-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class DraftState:
    """What may be told of a draft. ``at`` is its last step (microseconds, UTC).

    ``incidents`` are the ids that joined the set; empty before. ``word`` is ``no fault`` where no
    existing fault can express the report.
    """

    draft: str
    report: str
    digest: str
    word: Word
    at: int
    set: str = ""
    side: str = ""
    count: int = 0
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything of a draft: what was read, the specs it became, and where they are to go.

    ``alerts`` are the alerts by incident; ``near`` sentences about incidents that stand already and
    resemble it; ``notes`` what a person should know before accepting. ``spent`` is what a model's
    reading cost.
    """

    id: str
    report: str
    digest: str
    set: str
    reading: Mapping[str, Any]
    specs: tuple[Spec, ...] = ()
    alerts: Mapping[str, str] = field(default_factory=dict)
    side: Side | None = None
    group: str = ""
    why: str = ""
    near: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    model: str = ""


def drafts_dir(settings: Settings) -> Path:
    """The folder of a project's drafts."""
    return settings.state / "intake"


def write_draft(settings: Settings, draft: Draft, access: HeldoutAccess) -> None:
    """Write a draft's contents."""
    assert access.role
    plain = asdict(draft)
    _write(drafts_dir(settings) / "drafts" / f"{draft.id}.json", plain)


def read_draft(settings: Settings, name: str, access: HeldoutAccess) -> Draft:
    """A draft by its id or the beginning of it; another name is a :class:`UsageError`."""
    assert access.role
    path = drafts_dir(settings) / "drafts" / f"{_full(settings, name)}.json"
    raw = _read(path)
    try:
        specs = tuple(Spec(**{**one, "traps": tuple(one["traps"])}) for one in raw.pop("specs"))
        raw |= {key: tuple(raw[key]) for key in ("near", "notes")}
        return Draft(**{**raw, "specs": specs})
    except (KeyError, TypeError) as error:
        raise _malformed(path, error) from error


def forget_draft(settings: Settings, draft: str, access: HeldoutAccess) -> None:
    """Take a draft's contents away; its state stays."""
    assert access.role
    (drafts_dir(settings) / "drafts" / f"{draft}.json").unlink(missing_ok=True)


def write_state(settings: Settings, state: DraftState) -> None:
    """Write a draft's state."""
    _write(drafts_dir(settings) / "states" / f"{state.draft}.json", asdict(state))


def states(settings: Settings) -> list[DraftState]:
    """The state of every draft, the newest first."""
    found = []
    for path in (drafts_dir(settings) / "states").glob("d-*.json"):
        raw = _read(path)
        try:
            state = DraftState(**{**raw, "incidents": tuple(raw["incidents"])})
        except (KeyError, TypeError) as error:
            raise _malformed(path, error) from error
        found.append(replace(state, report=visible(state.report, 120)))
    return sorted(found, key=lambda one: (-one.at, one.draft))


def state_of(settings: Settings, name: str) -> DraftState:
    """The state of one draft, by the beginning of its id."""
    full = _full(settings, name)
    return next(one for one in states(settings) if one.draft == full)


def _full(settings: Settings, name: str) -> str:
    known = [one.draft for one in states(settings)]
    found = [one for one in known if name and one.startswith(name)]
    if len(found) != 1 or not _ID.fullmatch(found[0]):
        raise UsageError(
            f"'{name[:40]}' names no draft, or more than one",
            mend=f"Known: {', '.join(known[:8]) or 'none'}",
        )
    return found[0]


def _write(path: Path, plain: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:8]}.part")
    try:
        part.write_text(json.dumps(plain, indent=1, sort_keys=True), encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _malformed(path, error) from error
    if not isinstance(raw, dict):
        raise _malformed(path, TypeError())
    return raw


def _malformed(path: Path, error: Exception) -> IngestError:
    return IngestError(
        f"the draft cannot be read ({type(error).__name__})",
        where=str(path), mend="Delete it, and draft the report again",
    )  # fmt: skip
