"""An incident on an estate that was read from real material instead of drawn."""

from __future__ import annotations

from dataclasses import replace

from heldout.errors import SpecError
from heldout.graph.topology import Topology
from heldout.simulate.ground import Ground
from heldout.simulate.landscape import IMPORTED, Landscape, Site
from heldout.simulate.names import NameBook
from heldout.simulate.world import Generated, assemble, plot_of
from heldout.truth import Spec


def graft(topology: Topology, spec: Spec, *, variant: str = "") -> Generated:
    """Lay a spec's fault, traps, ordinary changes and telemetry over an imported topology.

    Entities keep their ids, facts and edges. The fault must find a place among the imported
    Services; a topology without calls between Services is a :class:`SpecError`.
    """
    topology.check()
    land = imported_landscape(topology, spec)
    return replace(assemble(spec, plot_of(spec, land), variant=variant), topology=topology)


def imported_landscape(topology: Topology, spec: Spec) -> Landscape:
    """The topology as a landscape: its services are the sites, people and bots are invented."""
    ground = Ground(spec.seed)
    index: dict[str, int] = {}
    for entity in topology.entities:
        at = ground.add(entity.kind, entity.name, _place(entity.cluster, entity.external_id),
                        id=entity.id)  # fmt: skip
        ground.entities[at].cluster = entity.cluster
        ground.entities[at].external_id = entity.external_id
        index[entity.id] = at
    for fact in topology.facts:
        at = index[fact.entity]
        ground.base[(at, fact.field)] = fact.value
        ground.entities[at].said = (fact.provenance, fact.confidence, fact.source)
    for edge in topology.edges:
        ground.link(
            index[edge.src], edge.predicate, index[edge.dst],
            said=(edge.provenance, edge.confidence, edge.source),
        )  # fmt: skip
    land = Landscape(ground, IMPORTED, style="upper")
    for service in ground.of_kind("Service"):
        walk = ground.walk(service, ("runs_on>Deployment",))
        if walk:
            land.sites.append(
                Site(service, walk[0], ground.name(service), ground.entities[service].cluster)
            )
    if not any(ground.walk(site.service, ("calls>Service",)) for site in land.sites):
        raise SpecError(
            "no service calls another one, so an alert could name nothing but the cause",
            where=f"topology {topology.name}",
            mend="Import manifests whose environment or configuration names other services",
        )
    book = NameBook(spec.seed, int(spec.knobs.get("bank", 0)))
    land.people = [book.person() for _ in range(14)]
    word = book.brand()
    land.bots = (f"{word}-sync[bot]", f"{word}-bump[bot]")
    for site in land.sites:
        land.repo_of[site.service] = land.repo_of[site.deployment] = site.name
    land.clusters = list(dict.fromkeys(site.cluster for site in land.sites))
    return land


def _place(cluster: str, external_id: str) -> str:
    """Where names are unique in an import: cluster and namespace."""
    parts = external_id.split("/")
    return f"{cluster}/{parts[1]}" if len(parts) > 2 else cluster
