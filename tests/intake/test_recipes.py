"""Public incidents as recipes: each is offered its fault, drafted and valid; real reports too."""

from __future__ import annotations

import pytest
from tests.intake.recipes import RECIPES, UNCOVERED, Recipe
from tests.real import real

from heldout.intake import (
    Drafting,
    checked_reading,
    draft_incident,
    form_path,
    nearest,
    read_form,
    read_material,
    write_form,
)
from heldout.intake.forms import OFFERED
from heldout.settings import Settings
from heldout.simulate.fault import fault_named
from heldout.split import HeldoutAccess

HOW = Drafting("recipes", variants=1, scale=0.12)


def drafted(own: Settings, access: HeldoutAccess, recipe: Recipe) -> None:
    """Hand a recipe in, fill its form, draft it."""
    path = own.root / "intake" / f"{recipe.name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(recipe.text)
    material = read_material(path)
    form = write_form(material, access)
    head = f'report = "{material.digest}"\n'
    form.write_text(
        head + "".join(f"{key} = {_toml(one)}\n" for key, one in recipe.reading.items())
    )
    reading = read_form(material, access)
    assert reading is not None
    draft = draft_incident(own, material, reading, HOW, access)
    (spec,) = draft.specs
    assert spec.fault == recipe.reading["fault"]
    assert spec.kind == recipe.reading.get("kind", "trap")
    assert draft.side in ("train", "test")


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def test_the_recipes_are_many_and_each_is_said_once():
    """Thirty incidents of public reports, each with a fault that there is."""
    assert len({one.reading["fault"] for one in RECIPES}) == len(RECIPES) == 30
    for one in RECIPES:
        assert fault_named(one.reading["fault"])
        assert checked_reading(one.reading, one.name).expressible


def test_a_form_offers_the_right_fault_for_nearly_every_recipe():
    """Ranking by words alone puts the fault among those a form shows, mostly first."""
    places = []
    for one in RECIPES:
        names = [near.fault for near in nearest(one.text, 60)]
        places.append(names.index(one.reading["fault"]))
    offered = sum(place < OFFERED for place in places)
    assert offered >= 28, [
        (r.name, p) for r, p in zip(RECIPES, places, strict=True) if p >= OFFERED
    ]
    assert sum(place == 0 for place in places) >= 20


@pytest.mark.parametrize("recipe", RECIPES[::6], ids=lambda one: one.name)
def test_a_recipe_becomes_a_valid_draft(own: Settings, access: HeldoutAccess, recipe: Recipe):
    """A sample of the recipes; the validity gate lets each through."""
    drafted(own, access, recipe)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda one: one.name)
def test_every_recipe_becomes_a_valid_draft(own: Settings, access: HeldoutAccess, recipe: Recipe):
    """All of them."""
    drafted(own, access, recipe)


@pytest.mark.parametrize(("name", "text"), UNCOVERED)
def test_a_recipe_without_a_fault_is_not_bent(
    own: Settings, access: HeldoutAccess, name: str, text: str
):
    """It becomes a draft without specs that names the nearest."""
    path = own.root / f"{name}.md"
    path.write_text(text)
    reading = checked_reading({"fault": "zone_isolation", "fits": "family"}, name)
    draft = draft_incident(own, read_material(path), reading, HOW, access)
    assert draft.specs == ()
    assert draft.near[0] == "zone_isolation"


REAL = {
    "cloud-platform/2023-09-18-lack-of-diskspace.md": {"fault": "root_disk", "cause_days": 2.0},
    "cloud-platform/2023-01-11-cluster-image-pull.md": {"fault": "registry_login", "cause_days": 5},
    "cloud-platform/2024-09-20-eks-subnet-route-table.md": {"fault": "route_unlinked",
                                                            "cause_days": 2.0},
    "cloud-platform/2022-01-22-some-dns-records-deleted.md": {"fault": "record_weight",
                                                              "cause_days": 3.0},
    "mybinder/2018-03-13-PVC-hub-locked.md": {"fault": "volume_lock", "cause_days": 1.0},
}  # fmt: skip
"""Five real reports and what a person who read them fills in."""


@pytest.mark.real
@pytest.mark.parametrize("name", REAL)
def test_a_real_report_filled_by_form_becomes_a_draft(
    own: Settings, access: HeldoutAccess, name: str
):
    """What a person fills in after reading a real report makes a valid draft."""
    source = real("incident_reports", *name.split("/"))
    drafted(own, access, Recipe(source.stem, source.read_text(encoding="utf-8"), REAL[name]))
    assert form_path(own.root / "intake" / f"{source.stem}.md").is_file()


@pytest.mark.real
def test_every_real_report_is_read():
    """Each of the folder's reports is a report with some text, and none is cut."""
    found = [read_material(path) for path in sorted(real("incident_reports").rglob("*.md"))]
    assert len(found) >= 50
    assert all(one.sort == "report" and one.cut == 0 for one in found)
    assert all(nearest(one.text) for one in found)
