"""Redaction: what the tools showed and what is shaped like an identifier never gets out."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.propose import Redactor, redactor_for

ALERT = "# Latency high\nFired at 2026-03-04T12:00:00Z\nService: quillmere-orbit\np99 is 4.2 s."
ANSWERS = (
    json.dumps(
        {
            "rows": [
                {"id": "e-0011aabb", "kind": "Service", "name": "quillmere-orbit", "cluster": "eu-3"},
                {"id": "e-0011aacc", "kind": "ConfigMap", "name": "tarnwick-pool",
                 "external_id": "arn:aws:thing/tarn", "fields": {"data.maxConns": {"value": "20"}}},
                {"id": "c-0011aadd", "type": "config", "actor": "mira.holt", "pr": "4711",
                 "repo": "org/estate", "commit": "0f3c9ab12", "entities":
                 [{"id": "e-0011aaee", "name": "Orlaith"}],
                 "diffs": [{"entity": "e-0011aacc", "entity_name": "tarnwick-pool",
                            "field": "spec.pool.idleTimeoutSeconds", "old": "3m20s", "new": "ultra"}]},
            ]
        }
    ),
    "not json at all",
)  # fmt: skip


def test_ids_names_fields_people_and_values_are_replaced() -> None:
    """Everything that a tool answer names is a typed placeholder in the text."""
    said = redactor_for(ALERT, ANSWERS).text(
        "mira.holt set idleTimeoutSeconds (idle_timeout_seconds, idle timeout seconds) of "
        "TARNWICK-POOL from 3m20s to ultra in c-0011aadd (PR 4711, commit 0f3c9ab12), which hit "
        "quillmere-orbit in eu-3 and Orlaith; maxConns is 20."
    )
    for name in ("mira", "holt", "dle", "tarn", "3m20", "0011", "4711", "0f3c", "quill", "eu-3",
                 "orlaith", "maxconns", "20."):  # fmt: skip
        assert name.casefold() not in re.sub(r"<[a-z]+-\d+>", "<>", said).casefold(), (name, said)
    for kind in ("person", "field", "configmap", "change", "service", "cluster"):
        assert re.search(rf"<{kind}-\d+>", said), (kind, said)


def test_placeholders_are_stable_and_shared_by_id_and_name() -> None:
    """One thing has one placeholder, by whichever of its names it is called."""
    redactor = redactor_for(ALERT, ANSWERS)
    assert (
        redactor.text("tarnwick-pool")
        == redactor.text("e-0011aacc")
        == redactor.text("Tarnwick-Pool")
    )
    assert redactor.text("e-0011aabb") == redactor.text("quillmere-orbit") == "<service-1>"
    assert redactor.text("tarnwick-pool quillmere-orbit").count("<") == 2
    assert redactor.text("quillmere-orbit") != redactor.text("tarnwick-pool")


@pytest.mark.parametrize(
    "secret",
    [
        "c-deadbeef", "e-12345678", "l-99123", "2026-03-02T09:14:00Z", "2026-03-02", "09:14",
        "March 2nd", "#812", "PR 812", "OPS-1234", "10.2.3.4", "10.0.0.0/16", "0f3c9ab12de",
        "arn:aws:iam::123456789012:role/x", "ana@example.org", "https://git.example/x/1",
        "brimholt-ledger", "pool_size_max", "spec.replicas.max", "maxConnections", "node17",
        "512Mi", "4096", "37.5%", "1,200",
    ],
)  # fmt: skip
def test_what_no_tool_showed_is_caught_by_its_shape(secret: str) -> None:
    """A judge may name what the agent never saw: its shape gives it away."""
    said = Redactor().text(f"The cause is {secret}, as said.")
    assert secret.casefold() not in said.casefold()
    assert re.fullmatch(r"The cause is <[a-z]+-\d+>(?: <[a-z]+-\d+>)?, as said\.", said), said


@pytest.mark.parametrize(
    "plain",
    [
        "It blames a change that is innocent: its diff does not touch the mechanism.",
        "This near-miss answer names the fleet-wide template, which is read-only.",
        "No tool call showed it; 3 of the lists were cut off.",
    ],
)
def test_plain_words_stay(plain: str) -> None:
    """Negative control: prose without identifiers is left as it is."""
    assert Redactor().text(plain) == plain


def test_a_date_learnt_from_one_text_does_not_cut_another() -> None:
    """What was replaced by its shape is stable, and never tears a longer date apart."""
    redactor = Redactor()
    first = redactor.text("on 2026-06-17")
    assert redactor.text("at 2026-06-17T17:38:30Z.") == "at <date-2>."
    assert redactor.text("on 2026-06-17") == first


def test_text_is_cut_after_redaction() -> None:
    """A limit never cuts a name in two so that half of it gets out."""
    redactor = redactor_for(ALERT, ANSWERS)
    assert "quill" not in redactor.text("x" * 95 + " quillmere-orbit", 100)


@given(st.text(max_size=200))
def test_any_text_is_handled(text: str) -> None:
    """Whatever a log or a model wrote is redacted without an error, and again without change."""
    redactor = redactor_for(ALERT, ANSWERS)
    once = redactor.text(text)
    assert "quillmere-orbit" not in once.casefold()
    assert redactor.text(once) == once


@given(st.lists(st.from_regex(r"[a-z]{4,8}-[a-z]{4,8}(-[a-z]{3,6})?", fullmatch=True), max_size=8))
def test_every_name_of_an_answer_is_replaced(names: list[str]) -> None:
    """Names that contain each other are replaced longest first, in any order of the text."""
    rows = [{"id": f"e-{i:08x}", "kind": "Service", "name": name} for i, name in enumerate(names)]
    redactor = redactor_for("", [json.dumps({"rows": rows})])
    said = redactor.text(" and ".join([*names, *names[::-1]]))
    assert [name for name in names if name in said] == []
