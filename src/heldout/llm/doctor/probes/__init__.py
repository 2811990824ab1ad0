"""Probes: each asks an endpoint one thing in a few tiny requests. One small file each."""

from __future__ import annotations

from typing import Protocol

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.probes.answer import Answer
from heldout.llm.doctor.probes.cache import Cache
from heldout.llm.doctor.probes.choice import Choice
from heldout.llm.doctor.probes.effort import Effort
from heldout.llm.doctor.probes.fenced import Fenced
from heldout.llm.doctor.probes.length import Length
from heldout.llm.doctor.probes.limits import Limits
from heldout.llm.doctor.probes.listing import Listing
from heldout.llm.doctor.probes.parallel import Parallel
from heldout.llm.doctor.probes.price import Priced
from heldout.llm.doctor.probes.schema import Schema
from heldout.llm.doctor.probes.seed import Seed
from heldout.llm.doctor.probes.tools import Tools
from heldout.llm.doctor.probes.usage import UsageSent
from heldout.llm.doctor.probes.window import Window
from heldout.llm.doctor.subject import Subject

__all__ = ["FIRST", "OF_THE_ENDPOINT", "OF_THE_WIRE", "Probe"]


class Probe(Protocol):
    """One question. Its failure is a finding: what it raises of a provider is told as a line."""

    @property
    def name(self) -> str:
        """Short name, for JSON."""
        ...

    @property
    def title(self) -> str:
        """The question in a few words."""
        ...

    @property
    def cost(self) -> Cost:
        """The most that it may take."""
        ...

    async def run(self, subject: Subject) -> Finding:
        """Ask and judge; may raise a :class:`~heldout.errors.ProviderError`."""
        ...


OF_THE_ENDPOINT: tuple[Probe, ...] = (Listing(), Window(), Priced())
"""Asked once, whatever the wire."""

FIRST: Probe = Answer()
"""Where this fails over a wire, nothing else is asked over it."""

OF_THE_WIRE: tuple[Probe, ...] = (
    UsageSent(),
    Effort(),
    Tools(),
    Choice(),
    Schema(),
    Fenced(),
    Seed(),
    Length(),
    Cache(),
    Parallel(),
    Limits(),
)
"""Asked over each wire, in this order."""
