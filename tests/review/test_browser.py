"""The review page in headless Chromium: one screen, and a real click that accepts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.review.browser import HEIGHT, WIDTH, Browser, needs_chromium
from tests.review.conftest import BEFORE, EDITS, edit, propose
from tests.review.planted import planted

from heldout.brain import load_brain, write_brain
from heldout.edit import Edit, apply_edits
from heldout.review.web import Open
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store.queries import decisions

pytestmark = [pytest.mark.chromium, needs_chromium]
OVERFLOWING = "[...document.querySelectorAll({0!r})].filter(e => e.scrollHeight > e.clientHeight)"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A browser of its own."""
    with Browser(tmp_path / "profile") as opened:
        yield opened


def fits(browser: Browser) -> bool:
    """Whether the page is no larger than the window and the window is the one asked for."""
    root = "document.documentElement"
    seen = browser.value(
        f"[innerWidth, innerHeight, {root}.scrollWidth, {root}.scrollHeight, "
        "document.querySelector('footer').getBoundingClientRect().bottom]"
    )
    return seen == [WIDTH, HEIGHT, WIDTH, HEIGHT, HEIGHT]


def test_a_click_accepts_what_is_on_one_screen(
    settings: Settings, proposed: str, served: Open, browser: Browser, tmp_path: Path
) -> None:
    """A proposal of five lines is seen whole at 1280x800; typed and clicked, it is accepted."""
    browser.open(f"{served.url}{proposed}")
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 40_000
    assert fits(browser)
    for panel in (".diff", ".trace", ".measures"):
        assert browser.value(f"{OVERFLOWING.format(panel)}.length") == 0, panel
    text = browser.value("document.body.innerText")
    for said in (EDITS[0].expected_effect, "at most 31 %", "get_neighbors", "9 fixed, 0 broken"):
        assert said in text, said
    assert browser.value("document.querySelector('[name=name]').value") == "kim"
    browser.type_into("[name=reason]", "reads well")
    browser.click("#accept")
    assert browser.value("document.querySelector('#answer').innerText") == f"Accepted {proposed}"
    assert load_brain(settings.brain).hash == apply_edits(BEFORE, EDITS).hash
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        (row,) = decisions(ledger, proposed)
    assert (row.action, row.name, row.reason) == ("accept", "kim", "reads well")
    assert [one for one in browser.complaints if "favicon" not in one] == []


def test_planted_faults_are_seen_without_scrolling(
    settings: Settings, served: Open, browser: Browser, tmp_path: Path
) -> None:
    """What speaks against a proposal stands above the diff and beside its lines, in sight."""
    with Ledger.open(settings.ledger) as ledger:
        name = planted(ledger)
    browser.open(f"{served.url}{name}")
    browser.screenshot(tmp_path / "planted.png")
    assert fits(browser)
    inside = "(r => r.top >= 0 && r.bottom <= innerHeight)(e.getBoundingClientRect())"
    for seen, count in ((".chip .state", 4), (".tag", 5)):
        found = f"[...document.querySelectorAll({seen!r})].filter(e => {inside}).length"
        assert browser.value(found) == count, seen


def test_a_decision_needs_a_reason_and_a_moved_brain_a_new_job(
    settings: Settings, proposed: str, served: Open, browser: Browser
) -> None:
    """The browser itself asks for the reason; over a moved brain the button is dead."""
    write_brain(BEFORE.with_file("method.md", "# Mine\n"), settings.brain)
    browser.open(f"{served.url}{proposed}")
    assert browser.value("document.querySelector('#accept').disabled") is True
    assert "no longer the one" in browser.value("document.querySelector('#moved').innerText")
    assert browser.value("document.querySelector('#decide').checkValidity()") is False
    browser.type_into("[name=reason]", "stale")
    browser.click("#reject")
    assert browser.value("document.querySelector('#answer').innerText") == f"Rejected {proposed}"


def test_a_huge_and_hostile_proposal_still_fits(
    settings: Settings, served: Open, browser: Browser
) -> None:
    """Forty lines, markup, long words and escapes scroll within their panel and run nothing."""
    nasty = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
    many = tuple(f"- Line {n} {nasty} \x1b[31m \u202e {'x' * 300}" for n in range(40))
    hostile = Edit(edit(*many).ops, reason=nasty, expected_effect=nasty * 9, feared_harm=nasty)
    with Ledger.open(settings.ledger) as ledger:
        name = propose(ledger, (hostile, *EDITS), name="p-hostile")
    browser.open(f"{served.url}{name}")
    assert fits(browser)
    assert browser.value("document.querySelectorAll('script, img').length") == 0
    assert browser.value("document.title") == f"Review {name}"
    assert "\u202e" not in browser.value("document.body.innerText")
    assert browser.value(f"{OVERFLOWING.format('.diff')}.length") == 1
