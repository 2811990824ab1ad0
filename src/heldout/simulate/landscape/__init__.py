"""A healthy organisation's estate: clusters, services and everything around them.

Four archetypes. ``saas``: one large cluster. ``fleet``: clusters in several regions that run the
same services from a template, with overrides, and a home cluster's own services. ``multicloud``:
services split over two or three providers. ``data``: few entries, many topics, stores and batch
jobs. Shapes and counts follow graph_simulator research (section 8).
"""

from __future__ import annotations

from heldout.simulate.landscape.build import Build
from heldout.simulate.landscape.clusters import lay_clusters
from heldout.simulate.landscape.entries import lay_entry, lay_gateways
from heldout.simulate.landscape.estate import ARCHETYPES, IMPORTED, Landscape, Site, spell
from heldout.simulate.landscape.habits import draw_habits
from heldout.simulate.landscape.logicals import Logical, draw_logicals
from heldout.simulate.landscape.organisation import lay_organisation
from heldout.simulate.landscape.plan import Knobs, draw_plan
from heldout.simulate.landscape.records import write_records
from heldout.simulate.landscape.rest import lay_rest
from heldout.simulate.landscape.services import place_service
from heldout.simulate.landscape.stores import lay_stores

__all__ = ["ARCHETYPES", "IMPORTED", "Landscape", "Site", "build_landscape", "spell"]


def build_landscape(seed: int, knobs: Knobs) -> Landscape:
    """A healthy estate for a seed and the knobs ``archetype``, ``bank``, ``scale``, ``clusters``,
    ``drift``, ``pr_coverage`` and ``name_similarity``.
    """
    plan = draw_plan(seed, knobs)
    build = Build(seed, int(knobs.get("bank", 0)), plan)
    build.land.habits = draw_habits(seed, knobs)
    lay_organisation(build)
    lay_clusters(build)
    logicals = draw_logicals(build.rng("logicals"), build.book, plan)
    _place(build, logicals)
    lay_gateways(build)
    lay_rest(build)
    write_records(build)
    return build.land


def _place(build: Build, logicals: list[Logical]) -> None:
    placed: list[dict[int, Site]] = [{} for _ in build.places]
    for number, place in enumerate(build.places):
        for at, logical in enumerate(logicals):
            if number not in logical.places:
                continue
            build.owning = logical.team
            site = place_service(build, logical, place)
            lay_stores(build, site, logical, place)
            lay_entry(build, site, logical, place)
            build.level_of[site.service] = logical.level
            placed[number][at] = site
    build.owning = 0
    called: set[int] = set()
    for sites in placed:
        for at, site in sites.items():
            for other in logicals[at].calls:
                to = sites.get(other) or placed[logicals[other].places[0]][other]
                build.ground.link(site.service, "calls", to.service)
                called.add(to.service)
    _call_the_uncalled(build, logicals, placed, called)


def _call_the_uncalled(
    build: Build, logicals: list[Logical], placed: list[dict[int, Site]], called: set[int]
) -> None:
    """A copy that nobody in reach calls gets the callers of its first copy."""
    for at, logical in enumerate(logicals):
        if logical.level == 0:
            continue
        for number in logical.places:
            site = placed[number][at]
            if site.service in called:
                continue
            above = next(n for n, one in enumerate(logicals)
                         if at in one.calls and one.level < logical.level)  # fmt: skip
            caller = placed[logicals[above].places[0]][above]
            build.ground.link(caller.service, "calls", site.service)
            called.add(site.service)
