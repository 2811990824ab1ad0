"""A public fault suite, reconstructed, as a set of the project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from heldout.build.recorded import record_set
from heldout.errors import UsageError
from heldout.ingest.cases.sregym.fault import TIERS, Tier
from heldout.ingest.cases.sregym.suite import NAMES, Names, SregymLite
from heldout.ingest.importer import ImportOptions
from heldout.settings import Settings
from heldout.split import HeldoutAccess, declare_process


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which suite, under which set name, what was captured, under which names, with an alert?"""

    suite: str
    into_set: str
    tier: str = "metrics"
    names: str = "verbatim"
    alerted: bool = False


def reconstruct(settings: Settings, wanted: Wanted) -> str:
    """Build the suite's states and freeze them, all held out; what to tell.

    A suite, tier or variant that does not exist is a :class:`UsageError`, a set of that name that
    holds something else a :class:`~heldout.errors.SpecError`.
    """
    _one_of("suite", wanted.suite, (SregymLite.name,))
    _one_of("--tier", wanted.tier, TIERS)
    _one_of("--names", wanted.names, NAMES)
    declare_process("build")
    suite = SregymLite(cast(Tier, wanted.tier), cast(Names, wanted.names), wanted.alerted)
    done = record_set(
        settings, wanted.into_set, suite, Path(suite.name), ImportOptions(), HeldoutAccess()
    )
    score = f"heldout score --set {done.name} --before BRAIN --after BRAIN"
    return "\n".join([*done.lines(), f"next: {score}"])


def _one_of(what: str, given: str, known: Iterable[str]) -> None:
    if given not in known:
        raise UsageError(f"{what} '{given[:40]}' does not exist", mend=f"Say {', '.join(known)}")
