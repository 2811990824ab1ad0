"""What is handed in: reports, threads, forms, the vocabulary, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heldout.split as split_module
from heldout.errors import IngestError, SplitViolation
from heldout.intake import checked_reading, form_path, nearest, read_form, read_material, write_form
from heldout.intake.material import LARGEST, LONGEST
from heldout.intake.reading import Reading
from heldout.intake.vocabulary import choosable, kinds_of, trigger_of, vocabulary
from heldout.simulate.fault import fault_named
from heldout.split import HeldoutAccess

THREAD = """# Checkout is slow

## Answer of the agent
The deploy at 14:02 did it.

## Correction
No: the pool was made smaller five days before.
"""


@pytest.fixture
def access() -> Iterator[HeldoutAccess]:
    """The key of an intake process."""
    before = split_module._role
    split_module._role = "intake"
    yield HeldoutAccess()
    split_module._role = before


def handed_in(folder: Path, text: str | bytes, name: str = "report.md") -> Path:
    """A file as somebody hands it in."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_thread_is_told_from_a_report(tmp_path: Path):
    """An answer and a later correction make a thread, in Markdown and in JSON; else a report."""
    assert read_material(handed_in(tmp_path, THREAD)).sort == "thread"
    assert read_material(handed_in(tmp_path, "# What happened\nA quota.")).sort == "report"
    backwards = "## Correction\nno\n## Answer of the agent\nyes\n"
    assert read_material(handed_in(tmp_path, backwards)).sort == "report"
    plain = {"alert": "slow", "answer": {"mechanism": "deploy"}, "correction": "the pool"}
    found = read_material(handed_in(tmp_path, json.dumps(plain), "t.json"))
    assert found.sort == "thread"
    assert "the pool" in found.text


def test_secrets_and_control_characters_are_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Neither a password nor this process's own key reaches a model, and no escape a terminal."""
    monkeypatch.setenv("SOME_API_KEY", "zebra-zebra-zebra")
    text = "password=correcthorse \x1b[31mred\x1b[0m \u202e zebra-zebra-zebra http://u:pass12@h/x"
    found = read_material(handed_in(tmp_path, text, "a\x1b[2Jb.md"))
    for secret in ("correcthorse", "zebra-zebra", "pass12", "\x1b", "\u202e"):
        assert secret not in found.text
    assert found.redacted >= 2
    assert "\x1b" not in found.name


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.md", b"", "empty"),
        ("a.md", b"\x00\x01\x02", "no text"),
        ("a.json", b"{", "not JSON"),
        ("a.json", b'{"alert": "x"}', "neither"),
        ("a.md", b"x" * (LARGEST + 1), "larger"),
    ],
)
def test_what_is_no_report_is_refused_with_why(tmp_path: Path, name: str, text: bytes, said: str):
    """Empty, binary, malformed and huge files are named errors."""
    with pytest.raises(IngestError, match=said):
        read_material(handed_in(tmp_path, text, name))


def test_a_missing_report_is_a_named_error(tmp_path: Path):
    """So is a folder."""
    for path in (tmp_path / "none.md", tmp_path):
        with pytest.raises(IngestError, match="cannot be read"):
            read_material(path)


def test_of_a_long_report_the_beginning_and_the_end_are_read(tmp_path: Path):
    """What is left out is counted."""
    text = "begin\n" + "middle of it\n" * 20_000 + "the end"
    found = read_material(handed_in(tmp_path, text))
    assert found.text.startswith("begin")
    assert found.text.endswith("the end")
    assert found.cut > 0
    assert len(found.text) < LONGEST + 100


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["a.md", "a.json"]))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, name: str
):
    """No file makes the reader fall over."""
    path = handed_in(tmp_path_factory.mktemp("any"), raw, name)
    with suppress(IngestError):
        assert read_material(path).text


def test_a_form_offers_the_nearest_faults_and_is_read_when_filled(
    tmp_path: Path, access: HeldoutAccess
):
    """An empty form is none yet; filled it is a reading; it is never written over."""
    material = read_material(handed_in(
        tmp_path, "A memory quota on the namespace refused new replicas: FailedCreate"
    ))  # fmt: skip
    assert read_form(material, access) is None
    path = write_form(material, access)
    assert "memory_quota:" in path.read_text().split("fault =")[0]
    assert read_form(material, access) is None
    filled = path.read_text().replace('fault = ""', 'fault = "memory_quota"')
    path.write_text(filled.replace("#cause_days = 3.0", "cause_days = 4"))
    write_form(material, access)
    reading = read_form(material, access)
    assert reading is not None
    assert (reading.fault, reading.cause_days, reading.expressible) == ("memory_quota", 4.0, True)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["", "fault = ", "traps = ", "affected = "]))
def test_any_form_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str, key: str):
    """Whatever somebody fills in, it is a reading, none yet, or an error that says how to mend."""
    before = split_module._role
    split_module._role = "intake"
    material = read_material(handed_in(tmp_path_factory.mktemp("form"), "a report"))
    form = form_path(material.path)
    form.write_bytes(f'report = "{material.digest}"\n{key}{text}'.encode("utf-8", "replace"))
    try:
        with suppress(IngestError):
            reading = read_form(material, HeldoutAccess())
            assert reading is None or reading.fault
    finally:
        split_module._role = before


@settings(max_examples=60, deadline=None)
@given(
    note=st.text(max_size=80),
    numbers=st.tuples(
        st.none() | st.floats(0, 4000), st.none() | st.integers(0, 9), st.none() | st.floats(0, 1)
    ),
    fault=st.sampled_from(["memory_quota", "none"]),
)
def test_what_a_model_filled_in_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    note: str,
    numbers: tuple[float | None, int | None, float | None],
    fault: str,
):
    """Whatever its note says, the form holds the same reading."""
    before = split_module._role
    split_module._role = "intake"
    material = read_material(handed_in(tmp_path_factory.mktemp("filled"), "a report"))
    days, decoys, affected = numbers
    reading = Reading(fault, cause_days=days, decoys=decoys, affected=affected,
                      traps=("change_noise",), near=("record_ttl",), note=note)  # fmt: skip
    try:
        write_form(material, HeldoutAccess())
        write_form(material, HeldoutAccess(), reading)
        back = read_form(material, HeldoutAccess())
    finally:
        split_module._role = before
    assert back is not None
    assert replace(back, note="") == replace(reading, note="")


def test_a_form_of_another_report_is_refused(tmp_path: Path, access: HeldoutAccess):
    """Negative control: a report that was edited after its form was filled is noticed."""
    path = handed_in(tmp_path, "one text")
    write_form(read_material(path), access)
    path.write_text("another text")
    with pytest.raises(IngestError, match="another report"):
        read_form(read_material(path), access)


def test_a_form_needs_the_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A process that tunes cannot hold the key that a form is opened with."""
    monkeypatch.setattr(split_module, "_role", "tune")
    material = read_material(handed_in(tmp_path, "text"))
    with pytest.raises(SplitViolation):
        read_form(material, HeldoutAccess())
    assert not form_path(material.path).exists()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"fault": "memory_qota"}, "memory_quota"),
        ({"fault": "memory_quota", "traps": ["sharks"]}, "none of its words"),
        ({"fault": "memory_quota", "trigger": "witchcraft"}, "none of its words"),
        ({"fault": "memory_quota", "affected": 7}, "affected"),
        ({"fault": "memory_quota", "cause_days": float("nan")}, "cause_days"),
        ({"fault": "memory_quota", "rm": "-rf"}, "rm"),
        ({"fault": "memory_quota", "kind": "no_change"}, "makes no incident of kind"),
        ({"fault": "load_surge", "kind": "trap"}, "no_change"),
    ],
)
def test_a_word_outside_the_vocabulary_is_refused(answer: dict[str, object], said: str):
    """An answer is data in a closed vocabulary; anything else is an error with near names."""
    with pytest.raises(IngestError, match=said):
        checked_reading(answer, "an answer")


def test_only_the_same_mechanism_is_expressible():
    """A fault of the same family is not bent to fit."""
    assert checked_reading({"fault": "memory_quota"}, "").expressible
    assert not checked_reading({"fault": "memory_quota", "fits": "family"}, "").expressible
    assert not checked_reading({"fault": "none", "fits": "no"}, "").expressible


def test_the_vocabulary_is_complete_and_closed():
    """Every fault that can be chosen makes some kind of incident and has a trigger's word."""
    known = vocabulary()
    assert len(known["faults"]) == len(choosable()) > 50
    assert all(kinds_of(one["name"]) for one in known["faults"])
    assert all("{" not in one["mechanism"] for one in known["faults"])
    assert all(known["traps"].values())
    assert [trigger_of(fault_named(one)) for one in ("memory_quota", "rotated_secret", "root_disk",
            "oversized_record")] == ["load", "restart", "node", "event"]  # fmt: skip


def test_the_nearest_faults_follow_the_text():
    """Another report, another ranking."""
    assert nearest("the certificate was renewed but the process still serves the old one")[0].fault in (
        "unread_renewal", "issuer_switch", "wrong_target",
    )  # fmt: skip
    assert (
        nearest("replicas refused by the memory quota of the namespace")[0].fault == "memory_quota"
    )
