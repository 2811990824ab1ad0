"""How often a model with the base brain solves incidents of a pool, in runs of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from heldout.brain import Brain
from heldout.build.admission import Admitted
from heldout.build.worlds import place_of
from heldout.errors import HeldoutError
from heldout.graph import WorldInterface
from heldout.incident import Incident
from heldout.run import Arm, Caps, Limits, Plan, Progress, Terms, play
from heldout.run.reduce import by_incident, final, pass_mean, run_status
from heldout.settings import Settings
from heldout.simulate.streams import token
from heldout.split import Case
from heldout.store import Ledger

ARM = "base"
REPEATS = 5

Shown = Callable[[str, Progress], None]


def _unseen(_: str, __: Progress) -> None:
    """Show nothing."""


@dataclass(slots=True)
class Yardstick:
    """A model with a brain and the runs it was measured in.

    Every measurement has a name, which gives it seeds and a run of its own: what one of them found
    is never used by another, and a score never uses any. The same name again is the same run, so
    that nothing finished is paid for twice after an interruption.
    """

    settings: Settings
    set: str
    model: str
    brain: Brain
    repeats: int = REPEATS
    base_url: str = ""
    max_usd: float | None = None
    show: Shown = _unseen
    runs: dict[str, str] = field(default_factory=dict)
    """Ids of the runs so far, by the name of the measurement."""

    def check(self) -> None:
        """Find out now, and not after a pool was made, that the model cannot be asked."""
        from heldout.llm import open_client  # The SDK behind it takes half a second to import.

        wire = self.settings.models.wire
        client = open_client(self.model, base_url=self.base_url, concurrency=1, wire=wire)
        asyncio.run(client.aclose())

    def rates(self, incidents: Sequence[Admitted], name: str) -> dict[str, float]:
        """Pass rate (0..1) of each incident over its valid repeats; one without any is left out.

        A run with too many invalid investigations, or one that a cap stopped, is a
        :class:`HeldoutError`: half a measurement would make labels of chance.
        """
        if not incidents:
            return {}
        plan = self._plan(incidents, name)
        with Ledger.open(self.settings.ledger) as ledger:
            result = asyncio.run(
                play(
                    plan, ledger, self.settings, interface=WorldInterface(),
                    on_progress=lambda state: self.show(name, state),
                    caps=Caps(max_usd=self.max_usd),
                )
            )  # fmt: skip
            self.runs[name] = result.run
            reasons = {one.reason for one in final(result.outcomes).values() if one.reason}
            status = run_status(result.outcomes, plan, result.absent)
            found = {
                incident: pass_mean(outcomes)
                for incident, outcomes in by_incident(result.outcomes, ARM).items()
            }
        if status != "finished":
            why = ", ".join(sorted(reasons)) or status
            raise HeldoutError(
                f"the measurement '{name}' is not complete ({why})",
                where=f"run {result.run}",
                mend="Mend that and give the same command again; what is finished is kept",
            )
        return {incident: rate for incident, rate in found.items() if rate is not None}

    def _plan(self, incidents: Sequence[Admitted], name: str) -> Plan:
        limits = self.settings.limits
        return Plan(
            purpose="probe",
            set=self.set,
            model=self.model,
            cases=tuple(_case(self.settings, self.set, one) for one in incidents),
            arms=(Arm(ARM, self.brain),),
            repeats=self.repeats,
            seed=int(token("measure", self.set, name, digits=7), 16),
            limits=Limits(limits.max_steps, limits.max_tokens, limits.max_seconds, limits.max_usd),
            concurrency=self.settings.run.concurrency,
            max_invalid=self.settings.run.max_invalid,
            base_url=self.base_url,
            job=f"build-{self.set}",
            terms=Terms.of(self.settings),
            pins={"measurement": name},
        )


def _case(settings: Settings, set_name: str, one: Admitted) -> Case:
    """The incident as a run plays it. It may yet join either side, so it counts as held out."""
    spec, place = one.spec, place_of(settings, one.spec)
    return Case(
        incident=Incident(spec.id, set_name, one.alert, place.world, spec.world_digest),
        side="test",
        kind=spec.kind,
        domain=spec.domain,
        family=spec.family,
        traps=spec.traps,
        group=spec.group,
        origin=spec.origin,
        truth_file=place.truth,
        truth_digest=spec.truth_digest,
    )
