"""Quantities: one value in any unit, in words, and as configuration says it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.gate.amounts import amounts, amounts_of_value, close


def values(text: str) -> list[tuple[str, float]]:
    """Dimension and value of every quantity."""
    return [(amount.dimension, amount.value) for amount in amounts(text)]


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("437s", "time", 437.0),
        ("437 seconds", "time", 437.0),
        ("437,000 ms", "time", 437.0),
        ("a 7-minute wait", "time", 420.0),
        ("four hundred thirty-seven seconds", "time", 437.0),
        ("two weeks", "time", 14 * 86400.0),
        ("512Mi", "bytes", 512 * 2.0**20),
        ("0.5 GiB", "bytes", 2.0**29),
        ("37.5%", "percent", 37.5),
        ("250m", "cpu", 0.25),
        ("1.5 cores", "cpu", 1.5),
        ("900 rps", "rate", 900.0),
        ("2371", "number", 2371.0),
    ],
)
def test_a_quantity_is_read_with_its_unit(text: str, dimension: str, value: float):
    """Units become base units, whatever the spelling."""
    assert any(
        d == dimension and close(v, value) for d, v in values(f"set it to {text}, then wait")
    )


@pytest.mark.parametrize("text", ["p99", "v2", "x509", "sha256", "utf-8", "1.2.3"])
def test_digits_inside_names_are_no_quantities(text: str):
    """Names with digits are left alone."""
    assert values(f"the {text} of it") == []


@pytest.mark.parametrize(
    ("value", "field", "dimension", "number"),
    [
        ("300", "data.http-client-timeout-ms", "time", 0.3),
        ('"2000"', "spec.timeoutSeconds", "time", 2000.0),
        ('"30s"', "data.grace", "time", 30.0),
        ("64", "data.buffer_mb", "bytes", 64 * 2.0**20),
        ('{"limits": {"memory": "913Mi"}}', "resources", "bytes", 913 * 2.0**20),
        ("0.35", "spec.threshold", "percent", 35.0),
        ("20", "data.max_connections", "number", 20.0),
    ],
)
def test_configuration_values_take_the_unit_of_their_key(
    value: str, field: str, dimension: str, number: float
):
    """A bare number is read with what the end of its key says."""
    found = amounts_of_value(value, field)
    assert any(a.dimension == dimension and close(a.value, number) for a in found)


@given(st.text(max_size=120))
def test_any_text_can_be_read(text: str):
    """Hostile text gives quantities inside the text or none, never an error."""
    for amount in amounts(text):
        assert 0 <= amount.start < amount.end <= len(text)
    amounts_of_value(text, text)
