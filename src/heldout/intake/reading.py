"""What was read out of a report: an answer in the closed vocabulary, checked, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout.errors import IngestError
from heldout.intake.vocabulary import KIND_TEXTS, NONE, TRIGGERS, choosable, kinds_of
from heldout.simulate.fault import nearest as near_names
from heldout.simulate.trap import traps
from heldout.truth.specs import Kind

FITS: Mapping[str, str] = {
    "mechanism": "the fault breaks in the same way as in the report",
    "family": "it is of the same family and breaks in another way",
    "no": "nothing of it is the same",
}
"""How well a fault fits. Only ``mechanism`` makes an incident."""
NOTE = 300
"""Longest note that is kept, in characters."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an incident would be made of.

    ``fault`` is :data:`~heldout.intake.vocabulary.NONE` where none works that way. ``cause_days``
    is how long before the alert the cause landed, ``affected`` the share of the fleet that failed
    (0 to 1), ``decoys`` how many innocent changes stood at the onset, ``hops`` how many dependency
    edges lie between the alerted service and the trouble. ``None`` means that it was not said.
    """

    fault: str
    fits: str = "mechanism"
    kind: Kind = "trap"
    cause_days: float | None = None
    trigger: str = "unknown"
    decoys: int | None = None
    affected: float | None = None
    hops: int | None = None
    traps: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    note: str = ""

    @property
    def expressible(self) -> bool:
        """True where an existing fault breaks in the same way."""
        return self.fault != NONE and self.fits == "mechanism"

    def plain(self) -> dict[str, Any]:
        """Plain data for a draft's file."""
        return {**asdict(self), "traps": list(self.traps), "near": list(self.near)}


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    fault: str
    fits: str = "mechanism"
    kind: Kind = "trap"
    cause_days: float | None = Field(default=None, ge=0, le=4000, allow_inf_nan=False)
    trigger: str = "unknown"
    decoys: int | None = Field(default=None, ge=0, le=1000)
    affected: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    hops: int | None = Field(default=None, ge=0, le=100)
    traps: list[str] = []
    near: list[str] = []
    note: str = ""


def checked_reading(answer: Mapping[str, Any], where: str) -> Reading:
    """The reading in plain data; a word outside the vocabulary is an :class:`IngestError`."""
    try:
        said = _Answer.model_validate(dict(answer))
    except ValidationError as error:
        first = error.errors()[0]
        raise IngestError(
            f"'{'.'.join(str(part) for part in first['loc'])}': {first['msg']}",
            where=where, mend="Correct the field",
        ) from error  # fmt: skip
    known = {one.name: one for one in choosable()}
    _among("fault", said.fault, {**known, NONE: None}, where)
    _among("fits", said.fits, FITS, where)
    _among("trigger", said.trigger, TRIGGERS, where)
    for trap in said.traps:
        _among("traps", trap, traps(), where)
    near = tuple(name for name in dict.fromkeys(said.near) if name in known)
    reading = Reading(
        fault=said.fault, fits=said.fits, kind=said.kind, cause_days=said.cause_days,
        trigger=said.trigger, decoys=said.decoys, affected=said.affected, hops=said.hops,
        traps=tuple(sorted(dict.fromkeys(said.traps))), near=near, note=said.note[:NOTE],
    )  # fmt: skip
    if reading.expressible:
        _of_kind(reading, where)
    return reading


def _among(field: str, value: str, known: Mapping[str, object], where: str) -> None:
    if value not in known:
        raise IngestError(
            f"'{field}' is '{value[:60]}', which is none of its words",
            where=where, mend=near_names(value, known),
        )  # fmt: skip


def _of_kind(reading: Reading, where: str) -> None:
    kinds: Sequence[Kind] = kinds_of(reading.fault)
    if reading.kind not in kinds:
        offered = "; ".join(f"{kind}: {KIND_TEXTS[kind]}" for kind in kinds)
        raise IngestError(
            f"fault '{reading.fault}' makes no incident of kind '{reading.kind}'",
            where=where, mend=f"It can make {offered}",
        )  # fmt: skip
