"""Every fault finds a place, leaves its evidence, and says where it comes from."""

from __future__ import annotations

import pytest
from tests.simulate.small import FLEET, small_spec

from heldout.build.validity import Subject, findings, points
from heldout.errors import SpecError
from heldout.simulate import generate
from heldout.simulate.fault import Fault, fault_named, faults
from heldout.simulate.knobs import checked
from heldout.simulate.trap import trap_named, traps

CHANGES = sorted(name for name, fault in faults().items() if fault.cause == "change")


@pytest.mark.parametrize("name", CHANGES)
def test_a_fault_can_be_walked_to_from_its_alert(name: str):
    """All points of the validity gate but size hold on a small world, for at least one seed."""
    last: list[str] = ["no place"]
    for seed in range(6):
        spec = small_spec(name, seed, knobs={"scale": 0.6})
        try:
            made = generate(spec)
        except SpecError:
            continue
        last = findings(Subject(spec, made))
        if not last:
            return
    pytest.fail(f"{name}: {last}")


def test_there_are_at_least_eight_domains_with_sources():
    """Families come from at least eight domains, and each fault cites a public report."""
    known = faults().values()
    assert len({fault.domain for fault in known}) >= 8
    assert all(fault.source.startswith("public:") for fault in known)
    assert all(fault.terms and all(group for group in fault.terms) for fault in known)


def test_the_traps_of_the_article_are_there():
    """The four stacked traps, and the composer that prices over-correction."""
    assert set(traps()) >= {"latent_cause", "onset_decoy", "partial_fleet", "change_noise"}
    assert traps()["partial_fleet"].siblings


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda: fault_named("pool_ceilin"), "pool_ceiling"),
        (lambda: trap_named("latent"), "latent_cause"),
        (lambda: checked({"latency": 3}), "latency_days"),
        (lambda: checked({"hops": 9}), "0 to 4"),
        (lambda: checked({"hops": "two"}), "0 to 4"),
        (lambda: checked({"archetype": "mainframe"}), "saas"),
        (lambda: generate(small_spec(traps=FLEET)), "archetype"),
        (lambda: generate(small_spec(), variant="other"), "other_cause"),
        (lambda: generate(small_spec("flag_exposure", traps=FLEET,
                                     knobs={"archetype": "fleet"})), "siblings"),
    ],
)  # fmt: skip
def test_a_bad_spec_names_what_to_change(broken: object, says: str):
    """Unknown faults, traps, knobs, values and bindings are SpecErrors with a way out."""
    with pytest.raises(SpecError, match=says):
        broken()  # type: ignore[operator]


def test_a_field_is_spelled_in_the_organisations_style():
    """Words in braces take a style; the rest of the path stays."""
    fault: Fault = fault_named("pool_ceiling")
    assert fault.field_in("upper") == "data.DB_POOL_MAX"
    assert fault.field_in("camel") == "data.dbPoolMax"
    assert fault.said_in("snake") == "db_pool_max"
    assert fault_named("memory_quota").holder_kind == "ResourceQuota"


def test_points_are_found_by_listing():
    """The validity gate is one file per point."""
    assert {"necessity", "innocence", "latency", "oracle", "alert", "leaks", "sizes"} <= set(
        points()
    )
