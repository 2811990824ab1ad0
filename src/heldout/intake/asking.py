"""A report read by a model: its answer is data in a closed vocabulary, whatever the report says."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.errors import IngestError, UsageError
from heldout.intake.material import Material
from heldout.intake.reading import FITS, Reading, checked_reading
from heldout.intake.vocabulary import NONE, vocabulary
from heldout.llm import ModelName
from heldout.settings import Settings
from heldout.signatures import Client, Spent, read_report


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model made of a report, and what that cost."""

    reading: Reading
    spent: Spent


async def ask_model(client: Client, material: Material) -> Asked:
    """Let a model read a report; an answer outside the vocabulary is an :class:`IngestError`."""
    words = {**vocabulary(), "fits": dict(FITS), "none": NONE}
    answer = await read_report(client, report=material.text, sort=material.sort, words=words)
    if answer.value is None:
        raise IngestError(
            f"the model gave no usable answer ({answer.failure})",
            where=material.name, mend="Fill the form instead: 'heldout intake REPORT --form'",
        )  # fmt: skip
    try:
        return Asked(checked_reading(answer.value, material.name), answer.spent)
    except IngestError as error:
        raise IngestError(
            f"the model's answer is none: {error.what}",
            where=material.name, mend="Fill the form instead: 'heldout intake REPORT --form'",
        ) from error  # fmt: skip


def reader(settings: Settings, named: str = "") -> str:
    """The model that reads reports; empty where none is set and the form is to be filled.

    A simulated model cannot read; naming one is a :class:`UsageError`.
    """
    text = named or settings.intake.model
    if not text:
        return ""
    name = ModelName.parse(text)
    if name.is_simulated:
        raise UsageError(
            f"'{name}' is simulated and reads no reports",
            mend="Name a real model, or leave it out and fill the form",
        )
    return str(name)
