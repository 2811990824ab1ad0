"""``sregym-lite``: every fault and the healthy states as cases of a recorded set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from heldout.graph.tools.page import iso
from heldout.ingest.cases.case import OVER, Recorded, truth
from heldout.ingest.cases.sregym.apps import App, apps
from heldout.ingest.cases.sregym.estate import after, before, healthy
from heldout.ingest.cases.sregym.fault import Fault, Tier, faults
from heldout.ingest.cases.sregym.naming import Naming
from heldout.ingest.cases.sregym.recording import NOW, Recording
from heldout.ingest.importer import ImportOptions
from heldout.truth.specs import Origin
from heldout.truth.truths import NONE

Names = Literal["verbatim", "renamed"]
NAMES = ("verbatim", "renamed")
CALM = "no fault"


@dataclass(frozen=True, slots=True)
class SregymLite:
    """The 21 faults of the lite list and a healthy twin of each application.

    ``tier`` is what the capture holds, ``names`` under which names; an ``alerted`` case also tells
    one alert. Nothing is read: what a benchmark's public injectors do is done to small estates.
    """

    tier: Tier = "metrics"
    names: Names = "verbatim"
    alerted: bool = False

    name = "sregym-lite"
    reads = "nothing: the faults are in the package"
    source = "reconstructed from SREGym's public injectors at ba07faf; no cluster ran"
    halves = False
    origin: Origin = "reconstructed"

    def cases(self, path: Path, options: ImportOptions) -> Iterator[Recorded]:
        """Every fault in the order of the list, then the healthy states."""
        for fault in faults().values():
            yield self._faulty(fault)
        for app in apps().values():
            yield self._healthy(app)

    def _faulty(self, fault: Fault) -> Recorded:
        app = apps()[fault.app]
        cluster = healthy(app)
        before(cluster)
        cause = fault.inject(cluster)
        after(cluster)
        naming = self._naming(app, fault.telling)
        made = Recording(cluster, naming, self.tier)
        return Recorded(
            key=self._key(fault.name),
            alert=self._alert(app, naming, fault.rule),
            kind="trap", domain=fault.domain, family=fault.family,
            group=f"sregym-lite/{fault.name}", truth=made.truth(fault, cause), draft=made.draft,
            now=NOW,
        )  # fmt: skip

    def _healthy(self, app: App) -> Recorded:
        cluster = healthy(app)
        before(cluster)
        after(cluster)
        naming = self._naming(app, {})
        made = Recording(cluster, naming, self.tier)
        return Recorded(
            key=self._key(f"{CALM} {app.name}"),
            alert=self._alert(app, naming, ""),
            kind="no_fault", domain="kubernetes", family=CALM,
            group=f"sregym-lite/{CALM} {app.name}",
            truth=truth(
                "", "nothing is wrong; the changes near the time did no harm", (OVER,),
                accepted=(NONE,),
            ),
            draft=made.draft, now=NOW,
        )  # fmt: skip

    def _key(self, case: str) -> str:
        """Ids differ between variants, so that two sets may stand in one project."""
        return "/".join((self.names, self.tier, *(["alerted"] if self.alerted else []), case))

    def _naming(self, app: App, telling: dict[str, str]) -> Naming:
        if self.names == "verbatim":
            return Naming({})
        others = {one.name: one.alias for one in app.services.values()}
        return Naming({**others, app.name: app.alias, **telling})

    def _alert(self, app: App, naming: Naming, rule: str) -> str:
        """One template for all: the application and its namespace, and nothing of where to look."""
        lines = [
            f"# {app.name} may be in trouble", "", f"Fired at {iso(NOW)}",
            f"Namespace: {app.name}", "",
            f"The application {app.name} {app.description}. Find out whether something is wrong "
            "with it, and if so its root cause.",
        ]  # fmt: skip
        if self.alerted:
            lines += ["", f"Alert: {rule or 'HighRequestRate'}", f"Service: {app.door}"]
        return naming.text("\n".join(lines)) + "\n"
