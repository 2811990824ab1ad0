"""Names in every disguise, and what must not be taken for a name."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable

import pytest

from heldout.brain import Brain
from heldout.gate.engine import Engine
from heldout.gate.report import Finding, GateReport

Rejects = Callable[..., tuple[Finding, ...]]
RARE = "kestrovan-ledger"
PAIR = "harbor-lantern"

DISGUISES: dict[str, Callable[[str], str]] = {
    "exact": lambda n: n,
    "upper": str.upper,
    "title": str.title,
    "underscore": lambda n: n.replace("-", "_"),
    "camel": lambda n: n.title().replace("-", ""),
    "dotted": lambda n: n.replace("-", "."),
    "spaced": lambda n: n.replace("-", " "),
    "glued": lambda n: n.replace("-", ""),
    "letter-spaced": lambda n: " ".join(n.replace("-", "")),
    "plural": lambda n: n + "s",
    "possessive": lambda n: n + "'s",
    "quoted": lambda n: f"`{n}`",
    "glob": lambda n: f"{n}-*",
    "zero-width": lambda n: n[:3] + "\u200b" + n[3:],
    "soft hyphen": lambda n: n[:4] + "\u00ad" + n[4:],
    "homoglyph": lambda n: n.replace("e", "е").replace("a", "а").replace("o", "о"),
    "full-width": lambda n: "".join(chr(ord(c) + 0xFEE0) for c in n),
    "accents": lambda n: n.replace("e", "é").replace("a", "ä"),
    "entities": lambda n: "".join(f"&#{ord(c)};" for c in n),
    "percent": lambda n: "".join(f"%{ord(c):02x}" for c in n),
    "unicode escapes": lambda n: "".join(f"\\u{ord(c):04x}" for c in n),
    "bold inside": lambda n: n[:3] + "**" + n[3:6] + "**" + n[6:],
    "backslash": lambda n: n.replace("-", "\\-"),
    "split code spans": lambda n: f"`{n[:4]}``{n[4:]}`",
    "comment inside": lambda n: n[:4] + "<!-- c -->" + n[4:],
    "inside a comment": lambda n: f"<!-- {n} -->",
    "split at the hyphen": lambda n: n.replace("-", "-\n  "),
    "split inside a word": lambda n: n[:4] + "\n  " + n[4:],
    "base64": lambda n: base64.b64encode(n.encode()).decode(),
    "hex": lambda n: n.encode().hex(),
    "rot13": lambda n: codecs.encode(n, "rot13"),
    "reversed": lambda n: n[::-1],
    "leet": lambda n: n.translate(str.maketrans("oea", "034")),
    "letter dropped": lambda n: n[:4] + n[5:],
    "letter doubled": lambda n: n[:4] + n[3:],
    "letters swapped": lambda n: n[:3] + n[4] + n[3] + n[5:],
    "vowels dropped": lambda n: n[0] + "".join(c for c in n[1:] if c not in "aeiou"),
    "reordered": lambda n: "-".join(reversed(n.split("-"))),
    "two halves": lambda n: f"'{n[:8]}' and then '{n[8:]}'",
    "glued affixes": lambda n: "my" + n.replace("-", "") + "x",
}


def test_method_text_alone_passes(engine: Engine, make_brain: Callable[..., Brain], method: str):
    """Sixty lines of ordinary method, checked without a base, give not one rejection."""
    report = engine.check(None, make_brain(method))
    assert report.rejects == ()
    assert report.passed


@pytest.mark.parametrize("name", [RARE, PAIR])
@pytest.mark.parametrize("disguise", sorted(DISGUISES))
def test_a_name_is_refused_in_every_disguise(
    rejects: Rejects, name: str, disguise: str, method: str
):
    """A service's name is found however it is written, on the line where it was written."""
    text = f"- Begin with {DISGUISES[disguise](name)} when in doubt."
    found = rejects(text)
    assert found, disguise
    assert all(finding.line > method.count("\n") for finding in found)


@pytest.mark.parametrize(
    "line",
    [
        "- Search changes at least 14 days back; also try 7 days, 2 weeks and 30 days.",
        "- When a value looks wrong, ask when it became what it is and which change set it; search "
        "changes at least 14 days back before you settle.",
        "- Read `replicas`, `timeout` and `memory` of the failing workload and of a sibling.",
        "- Walnut trees aside, the plane of control is rarely at fault.",
        "- A lantern lights a harbor; an export borrows a connection.",
        "- The control-plane is rarely at fault, data planes often are.",
        "- Use `get_field_history` and `compare_state` before `submit_diagnosis`.",
        "- The ceiling of a pool matters more than its average.",
        "- Idle workers waiting on a lock are a sign of contention.",
        "- Judge for yourself whether the scenario fits; score each suspect.",
    ],
)
def test_generic_lines_pass(rejects: Rejects, line: str):
    """Lines that use the same plain words without naming anything are let through."""
    assert rejects(line) == ()


@pytest.mark.parametrize(
    "text",
    ["`walnut`", "the walnut service", "the walnut pods", "walnut-*", "`control-plane`",
     "controlPlane", "the control-plane deployment"],
)  # fmt: skip
def test_plain_words_are_refused_only_as_names(rejects: Rejects, text: str):
    """A service called by a plain word is refused where it is written as a name."""
    assert rejects(f"- Look at {text} first.")


@pytest.mark.parametrize(
    "text",
    ["kestrovan", "mara.veldhuizen", "Veldhuizen", "kestrovan-settings", "spindle_pool_ceiling",
     "spindlePoolCeiling", "kestrovan-ledger-6b9f7c8d54-x2k90", "inc-7f3a90c1",
     "canary-truth-inc-7f3a90c1-1b9c", "canary-spec-inc-7f3a90c1-77aa"],
)  # fmt: skip
def test_parts_people_keys_pods_and_canaries_are_names(rejects: Rejects, text: str):
    """Everything that points at one incident is refused."""
    assert rejects(f"- Begin with {text} when in doubt.")


def test_a_finding_says_where_what_whose_and_how_to_mend(rejects: Rejects, method: str):
    """A finding on the train side carries line, columns, name, incident, rule and remedy."""
    text = "- Begin with **Kestrovan_Ledger** when in doubt."
    (finding,) = rejects(text)
    assert (finding.file, finding.line) == (
        "method.md",
        method.count("\n") + 1,
    )
    assert text[finding.column - 1 : finding.end_column - 1].strip("*") == "Kestrovan_Ledger"
    assert finding.identifier == "kestrovan-ledger"
    assert finding.incident == "small/inc-7f3a90c1"
    assert finding.rule == "incident-identifier"
    assert finding.hint


def test_only_what_is_new_rejects(engine: Engine, make_brain: Callable[..., Brain], method: str):
    """A team's own names that stood there before are counted, a newly added one is refused."""
    site = "".join(f"- {RARE} and {PAIR} belong to team {n}.\n" for n in "abcdefgh")
    before = make_brain(method + site)
    same = before.with_file("method.md", method + site + "- Look further back.\n")
    report = engine.check(before, same)
    assert report.passed
    assert report.preexisting >= 16
    moved = before.with_file("method.md", site + method)
    assert engine.check(before, moved).passed
    added = before.with_file("method.md", method + site + f"- Blame {RARE} first.\n")
    report = engine.check(before, added)
    assert {finding.line for finding in report.rejects} == {method.count("\n") + 9}
    changed = before.with_file("method.md", method + site.replace("team c", "team c, blame it"))
    assert not engine.check(before, changed).passed


def test_frozen_files_are_exempt_and_thawing_is_not(engine: Engine, method: str):
    """A frozen site file may name its services; a file that becomes frozen in an edit may not."""
    site = f"- We run {RARE}.\n"
    frozen = Brain(
        {"method.md": method, "site.md": site}, ("method.md", "site.md"), (), ("site.md",)
    )
    assert engine.check(None, frozen).passed
    before = Brain({"method.md": method, "site.md": "- We run it.\n"}, ("method.md", "site.md"))
    after = Brain(
        {"method.md": method, "site.md": site}, ("method.md", "site.md"), (), ("site.md",)
    )
    assert not engine.check(before, after).passed


def test_file_names_headings_and_rationale_are_read_too(
    engine: Engine, make_brain: Callable[..., Brain], method: str, rejects: Rejects
):
    """A name may hide in a heading, in an overlay's path or in the reason of an edit."""
    before = make_brain(method)
    assert rejects(f"## {RARE}")
    named = before.with_file(f"overlays/models/{RARE}/method.md", "- Look further back.\n")
    assert [f.file for f in engine.check(before, named).rejects] == ["(file names)"]
    report = engine.check(before, before, rationale=f"{RARE} failed because of its pool")
    assert [f.file for f in report.rejects] == ["(rationale)"]
    assert engine.check(before, before, rationale="3 of 5 train incidents stop too early").passed


def test_a_name_over_two_edits_is_found(
    engine: Engine, make_brain: Callable[..., Brain], method: str
):
    """The second half of a name is refused though the first half stood there."""
    before = make_brain(method + "- Remember harbor\n")
    after = before.with_file("method.md", method + "- Remember harbor\n  lantern, always.\n")
    assert not engine.check(before, after).passed


@pytest.mark.parametrize(
    ("stem", "text"),
    [
        ("incident_identifiers", f"- Begin with {RARE} when in doubt."),
        ("encoded_identifiers", f"- Begin with {RARE[::-1]} when in doubt."),
        ("similar_identifiers", f"- Begin with {RARE[:4]}{RARE[5:]} when in doubt."),
        ("shaped_identifiers", "- Begin with vpc-0a1b2c3d4e5f60718 when in doubt."),
        ("incident_values", "- Begin with 913 MiB when in doubt."),
        ("incident_phrases", "- Begin where requests queued behind stale leases, as ever."),
        ("evaluation_talk", "- The held-out half is like this."),
        (
            "answer_tables",
            "- slow login page -> expired token key\n- full queue here -> slow writer",
        ),
        ("edit_size", "- Try 11, 12, 13, 14, 15, 16, 17, 18, 19."),
        ("brain_format", "- Never name a change that you have not read."),
    ],
)
def test_switching_a_checker_off_sinks_its_class(
    engine: Engine,
    make_brain: Callable[..., Brain],
    method: str,
    monkeypatch: pytest.MonkeyPatch,
    stem: str,
    text: str,
):
    """Each class is caught by its own checker and by no other."""
    before = make_brain(method)
    after = before.with_file("method.md", method + text + "\n")
    assert not engine.check(before, after).passed
    loaded = tuple(pair for pair in engine.checkers.loaded if pair[0] != stem)
    monkeypatch.setattr(engine, "_checkers", type(engine.checkers)(loaded, "x"))
    engine.forget()
    report: GateReport = engine.check(before, after)
    monkeypatch.undo()
    engine.forget()
    assert report.passed, report.rejects
