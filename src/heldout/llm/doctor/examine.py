"""Run the probes: those of the endpoint once, the others over each wire."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from heldout.errors import ProviderError, ProviderRefused
from heldout.llm.client import ModelClient, open_client
from heldout.llm.doctor.advice import Advice, Found, advise
from heldout.llm.doctor.finding import Cost, Finding, Outcome
from heldout.llm.doctor.probes import FIRST, OF_THE_ENDPOINT, OF_THE_WIRE, Probe
from heldout.llm.doctor.subject import Spent, Subject
from heldout.llm.endpoints import MissingKey, endpoint_for, key_variable
from heldout.llm.messages import Unreachable
from heldout.llm.names import ModelName
from heldout.llm.prices import FREE, price_of, prices_of
from heldout.llm.transports import Bounds
from heldout.llm.wires import WIRES, WireName

BOUNDS = Bounds(connect=5.0, read=240.0, total=240.0, attempts=2, retry_seconds=60.0)
"""A probe is no investigation: what takes longer than this is told as a failure."""

OnFinding = Callable[[str, Finding], None]
"""Called with the wire, empty for the endpoint, and a finding as soon as it is there."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The most that an examination takes. ``usd`` is ``None`` where the price is unknown."""

    requests: int
    tokens: int
    usd: float | None
    as_of: str
    """The day of the price, empty where there is none."""


@dataclass(frozen=True, slots=True)
class OverWire:
    """What was found over one wire."""

    wire: WireName
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything found, what it cost, and what follows from it."""

    model: ModelName
    base_url: str
    endpoint: tuple[Finding, ...]
    wires: tuple[OverWire, ...]
    spent: Spent
    advice: Advice


@dataclass(slots=True)
class Examiner:
    """Examines one model at one place. ``wire`` empty tries all; ``prices`` are a project's own."""

    model: ModelName
    base_url: str = ""
    wire: WireName | None = None
    prices: Path | None = None
    bounds: Bounds = BOUNDS
    on_finding: OnFinding = lambda wire, finding: None
    _spent: Spent = field(default_factory=Spent)

    def __post_init__(self) -> None:
        if price_of(self.model, prices_of(self.prices)) is None:
            self._spent.usd = None
        # A wrong or telling base URL is refused before anything is shown.
        with suppress(MissingKey):
            endpoint_for(self.model, self.base_url)

    def wires(self) -> tuple[WireName, ...]:
        """The wires to try; a simulated model has only one."""
        if self.model.is_simulated:
            return ("chat",)
        return (self.wire,) if self.wire else WIRES

    def planned(self) -> Planned:
        """What may be asked and what that may cost, before anything is."""
        each = sum((probe.cost for probe in (FIRST, *OF_THE_WIRE)), Cost())
        once = sum((probe.cost for probe in OF_THE_ENDPOINT), Cost())
        total = sum((each for _ in self.wires()), once)
        price = price_of(self.model, prices_of(self.prices))
        usd = None
        if price is not None:
            usd = (total.input_tokens * price.input + total.output_tokens * price.output) / 1e6
        as_of = str(price.as_of or "") if price is not None and price is not FREE else ""
        tokens = total.input_tokens + total.output_tokens
        return Planned(total.requests, tokens, usd, as_of)

    async def examine(self) -> Examination:
        """Ask everything; what a provider does wrong is a finding."""
        endpoint = await self._endpoint()
        wires: list[OverWire] = []
        if all(one.outcome != "no" for one in endpoint if one.probe in ("key", "reach")):
            for wire in self.wires():
                wires.append(OverWire(wire, await self._over(wire)))
        facts = {one.probe: one for one in endpoint}
        found: dict[str, Found] = {one.wire: {f.probe: f for f in one.findings} for one in wires}
        return Examination(
            model=self.model,
            base_url=self.base_url,
            endpoint=endpoint,
            wires=tuple(wires),
            spent=self._spent,
            advice=advise(self.model, self.base_url, facts, found),
        )

    async def _endpoint(self) -> tuple[Finding, ...]:
        key = self._key()
        self.on_finding("", key)
        if key.outcome == "no":
            return (key,)
        found = [key]
        subject = self._subject(self.wires()[0])
        try:
            for probe in OF_THE_ENDPOINT:
                found.append(await self._tried(probe, subject))
                if found[-1].probe == "reach":
                    break
        finally:
            await subject.close()
        return tuple(found)

    async def _over(self, wire: WireName) -> tuple[Finding, ...]:
        subject = self._subject(wire)
        try:
            found = [await self._tried(FIRST, subject, wire)]
            if found[0].outcome == "yes":
                for probe in OF_THE_WIRE:
                    found.append(await self._tried(probe, subject, wire))
        finally:
            await subject.close()
        return tuple(found)

    async def _tried(self, probe: Probe, subject: Subject, wire: str = "") -> Finding:
        """A probe's finding; what a provider does wrong is one too."""
        try:
            finding = await probe.run(subject)
        except ProviderError as error:
            if isinstance(error, Unreachable):
                finding = Finding("reach", "reachable", "no", error.what)
            else:
                outcome: Outcome = "no" if isinstance(error, ProviderRefused) else "unknown"
                finding = Finding(probe.name, probe.title, outcome, error.what)
        self.on_finding(wire, finding)
        return finding

    def _key(self) -> Finding:
        title = "key present"
        try:
            endpoint = endpoint_for(self.model, self.base_url)
        except MissingKey as error:
            return Finding("key", title, "no", error.sentence())
        if self.model.is_simulated:
            return Finding("key", title, "yes", "none is needed in this process")
        said = "none is needed on this machine"
        if endpoint.has_key:
            said = f"from {key_variable(self.model.provider)}"
        return Finding("key", title, "yes", said)

    def _subject(self, wire: WireName) -> Subject:
        price = price_of(self.model, prices_of(self.prices))
        return Subject(self.model, wire, price, partial(self._open, wire), self._spent)

    def _open(self, wire: WireName, model: ModelName) -> ModelClient:
        return open_client(
            model,
            base_url=self.base_url,
            bounds=self.bounds,
            wire=wire,
            prices=self.prices,
        )
