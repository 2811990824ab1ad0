"""The report: first line, escaping, offline, the same bytes twice, and what the ledger becomes."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.compare.text import render_comparison
from heldout.errors import HeldoutError
from heldout.report import render_html, render_text, save, visible
from heldout.report.data import ProposalView

HOSTILE = (
    "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>"
    "\x1b[31mred\x1b[0m\x1b]0;title\x07 \u202egnp.exe\u202c \x00\x08 {{ 7*7 }} ' \" & $x^2$ \u2028"
)
LONG = "A" * 40_000


class Page(HTMLParser):
    """Collects tags, attributes and the text of the page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One opening tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        if data.strip() and (not self.tags or self.tags[-1][0] not in ("style", "title")):
            self.text.append(data.strip())


def hostile(maker: Any) -> Any:
    """A report in which everything that people or models wrote is hostile."""
    made = maker()
    data = made.report()
    edit = data.tuning.accepted[0]
    op = replace(edit.ops[0], anchor=HOSTILE, added=(HOSTILE, LONG), file=HOSTILE)
    bad = replace(
        edit, id=HOSTILE, reason=HOSTILE + LONG, cluster=HOSTILE, rationale=HOSTILE, feared=HOSTILE,
        findings=(HOSTILE,), ops=(op,),
    )  # fmt: skip
    rejected = replace(bad, fate="rejected", by="gate")
    incidents = (replace(data.score.incidents[0], incident=HOSTILE), *data.score.incidents[1:])
    sides = {
        arm: replace(side, served_models=(HOSTILE,), invalid={HOSTILE: 1})
        for arm, side in data.score.sides.items()
    }
    evidence = replace(data.score.evidence, model=HOSTILE)
    score = replace(data.score, incidents=incidents, sides=sides, model=HOSTILE, evidence=evidence)
    tuning = replace(
        data.tuning, accepted=(bad,), rejected=(rejected,), reason=HOSTILE, job=HOSTILE
    )
    proposal = ProposalView(HOSTILE, f"--- a/x\n+++ b/x\n+{HOSTILE}\n+{LONG}\n", "d" * 64, 1)
    return replace(
        data, score=score, tuning=tuning, proposal=proposal, title=HOSTILE, project=HOSTILE,
        review=HOSTILE, verdict=HOSTILE, evidence=HOSTILE, hashes=((HOSTILE, HOSTILE),),
        wishes=(HOSTILE, LONG),
    )  # fmt: skip


def test_the_first_line_is_the_class_of_evidence(maker: Any):
    """Page and text both begin with what the result can be evidence of."""
    data = maker().report()
    assert Page(render_html(data)).text[0].startswith("Mechanism test: sim/anchored@low")
    assert render_text(data).startswith("Mechanism test: sim/anchored@low")
    real = maker(model="openai/x@low").score()
    data = replace(data, evidence=real.evidence.sentence(), score=real)
    assert Page(render_html(data)).text[0].startswith("Real model: openai/x@low")


def test_the_page_runs_and_loads_nothing(maker: Any):
    """No script, no address, no handler; a policy that forbids them stands in the head."""
    html = render_html(maker().report())
    page = Page(html)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "href")]
    policies = [
        attributes["content"]
        for tag, attributes in page.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "url(http" not in html
    assert "@import" not in html


def test_hostile_text_is_shown_and_does_nothing(maker: Any):
    """Tags, escape sequences, direction marks, templates and endless lines are only text."""
    html = render_html(hostile(maker))
    page = Page(html)
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert "&lt;script&gt;" in html
    assert "{{ 7*7 }}" in html
    for char in ("\x1b", "\x00", "\x08", "\u202e", "\u2028"):
        assert char not in html
    assert "U+202E" in html
    assert len(max(html.splitlines(), key=len)) < 200_000
    assert "A" * 1000 not in html
    for svg in re.findall(r"<svg .*?</svg>", html, re.DOTALL):
        ElementTree.fromstring(svg)


def test_hostile_text_does_not_reach_the_terminal(maker: Any):
    """Nothing in the text can colour, move the cursor, reverse the line or fill the screen."""
    text = render_text(hostile(maker), diff=True)
    for char in text:
        assert char == "\n" or unicodedata.category(char) not in {"Cc", "Cf", "Zl", "Zp"}
    assert max(len(line) for line in text.splitlines()) < 1000


def test_the_same_data_gives_the_same_bytes(maker: Any):
    """Pictures included: no date, no random id."""
    assert render_html(maker().report()) == render_html(maker().report())


def test_ids_on_the_page_are_unique(maker: Any):
    """Several pictures share one page without sharing ids."""
    found = [a["id"] for _, a in Page(render_html(maker().report())).tags if a.get("id")]
    assert len(found) == len(set(found))


def test_everything_that_was_asked_for_is_on_the_page(maker: Any):
    """Looks, endpoint, floors, harm bound, invalids, noise, behaviour, transfer, edits, cost."""
    html = render_html(maker().report())
    text = " ".join(Page(html).text)
    for words in (
        "2 of 5", "e" * 64, "newest change", "one-sided 95 % bound", "1 provider", "noop",
        "change searches that reach before", "undefined", "sim/scattered@low", "rejected by gate",
        "rejected by screen", "by policy (auto), not by a person", "Ask when the value became",
        "520\u202f000", "unknown", "Tango", "never opened before", "tuned on",
    ):  # fmt: skip
        assert words in text, words
    assert html.count("<svg ") == 4


def test_what_the_tools_should_gain_is_told_where_it_is_known(maker: Any):
    """The section stands in both forms with its lines, and not at all without any."""
    data = maker().report(wishes=("argument 'list_changes.team' was asked for 9 times",))
    assert "What the graph or the tools should gain" in render_html(data)
    assert "list_changes.team" in " ".join(Page(render_html(data)).text)
    assert "- argument 'list_changes.team'" in render_text(data)
    assert "should gain" not in render_html(maker().report()) + render_text(maker().report())


def test_how_production_agreed_is_told_where_somebody_compared(maker: Any):
    """The section stands in both forms, harmless, and not at all without a comparison."""
    data = maker().report(fidelity=("Of 4 incidents <b>75%</b> ended alike \x1b[2J",))
    assert "Production against the simulation" in render_html(data)
    assert "<b>75%</b>" not in render_html(data)
    assert "- Of 4 incidents" in render_text(data)
    assert "\x1b" not in render_text(data) + render_html(data)
    assert "Production against" not in render_html(maker().report())


def test_words_of_the_verdict_follow_the_outcome(maker: Any):
    """Good, bad and open results are told apart by tone, and a simulated gain never says gain."""
    data = maker().report()
    assert 'class="verdict good' in render_html(data)
    assert 'class="verdict bad' in render_html(replace(data, word="harm"))
    assert 'class="verdict open' in render_html(replace(data, word="indecisive"))
    assert data.verdict.startswith("Mechanism shown")


def test_a_report_without_a_score_says_so(maker: Any):
    """A job whose held-out half was not opened gets a page too, with no figure of worth."""
    data = replace(
        maker().report(), score=None, others=(), word="not scored", halves=(),
        evidence="Not scored: nothing here is evidence.", verdict="Proposal p-1 waits.",
    )  # fmt: skip
    html = render_html(data)
    assert Page(html).text[0].startswith("Not scored")
    assert "McNemar" not in " ".join(Page(html).text)
    assert html.count("<svg ") == 2
    assert "Proposal p-1 waits." in render_text(data)


def test_a_score_without_controls_floors_or_job_is_drawn(maker: Any):
    """The smallest score still gives a whole page."""
    made = maker(traps=3, controls=0)
    score = replace(made.score(), floors=(), arms={}, fresh=None, breakdown=())
    data = replace(made.report(), score=score, tuning=None, proposal=None, others=(), review="")
    html = render_html(data)
    assert "What else does as much?" not in html
    assert render_text(data)


def test_large_sets_are_drawn_in_blocks(maker: Any):
    """A hundred incidents fit the page's width."""
    data = maker(traps=90, controls=10).report()
    svg = re.findall(r"<svg .*?</svg>", render_html(data), re.DOTALL)[1]
    assert "inc-89" in svg
    assert "calm-09" in svg


def test_a_report_appears_whole_or_not_at_all(maker: Any, tmp_path: Path):
    """A folder that cannot be written is a named error and leaves nothing behind."""
    blocked = tmp_path / "reports"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(HeldoutError, match="cannot be written"):
        save(maker().report(), blocked)
    path = save(maker().report(), tmp_path / "fine")
    assert path.name == "0a1b2c3d4e5f.html"
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@given(st.text(max_size=200))
def test_visible_text_has_nothing_hidden(text: str):
    """Whatever comes in, what comes out is one line of characters that can be seen."""
    shown = visible(text, 50)
    assert "\n" not in shown
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(shown) <= 50 * 10 + 2


def test_comparisons_of_a_report_render_as_text(maker: Any):
    """The comparison inside a score is the one that 'heldout compare' prints."""
    assert "14 fixed, 1 broken" in render_comparison(maker().score().traps)


@pytest.mark.chromium
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_chromium_opens_the_page_offline(maker: Any, tmp_path: Path):
    """The browser paints the page, finds the last heading, and refuses nothing by policy."""
    path = save(maker().report(), tmp_path)
    done = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={tmp_path / 'page.png'}",
            "--window-size=1200,2400", path.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (tmp_path / "page.png").stat().st_size > 50_000
    assert "Content Security Policy" not in done.stderr
