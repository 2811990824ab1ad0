"""The gate at work, in its own process: inventory, checkers, and what is new in a brain."""

from __future__ import annotations

import datetime
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from heldout.brain import Brain
from heldout.errors import GateError
from heldout.gate.bait import planted
from heldout.gate.checkers import Checkers, live_fire, load_checkers, run_checker
from heldout.gate.consistency import gist_of
from heldout.gate.encoded import decodings
from heldout.gate.exceptions import Exceptions, read_exceptions, utc_day
from heldout.gate.hits import Context, Hit, Limits, Tools
from heldout.gate.inventory import Held, Inventory, load_inventory
from heldout.gate.material import Source, fingerprint, read_sources
from heldout.gate.pages import RATIONALE, Page, Place, Scan, pages_of, squash
from heldout.gate.report import GATE_VERSION, GateReport
from heldout.gate.shapes import shapes
from heldout.gate.shingles import PHRASE, content_words, shingles
from heldout.gate.similar import finder
from heldout.gate.tools import world_tools
from heldout.gate.views import fold
from heldout.gate.vocabulary import load_vocabulary
from heldout.gate.windows import halves, runs, windows
from heldout.settings import Settings
from heldout.split import HeldoutAccess

MAX_FINDINGS = 400
_KEPT_BASES = 8
_ORDER = {"reject": 0, "warn": 1, "info": 2}


class _Asked(NamedTuple):
    """What a check depends on besides the brains: phrases of the job, the agent's tools."""

    job: frozenset[int]
    tools: Tools


class Engine:
    """Opens both halves (so its process must be declared ``gate``) and checks brains.

    Anything missing or failing is a :class:`GateError`. ``today`` decides which exceptions are in
    force; ``also`` are incidents of no set that the inventory holds beside, for measuring.
    """

    def __init__(
        self,
        settings: Settings,
        today: Callable[[], datetime.date] | None = None,
        also: Sequence[Held] = (),
    ) -> None:
        self.settings = settings
        self._today = today or utc_day
        self._also = tuple(also)
        self._access = HeldoutAccess()
        self._vocabulary = load_vocabulary()
        self._limits = Limits(
            added_lines=settings.tune.max_added_lines, brain_lines=settings.gate.max_brain_lines
        )
        self._seen = ""
        self._bases: OrderedDict[tuple[str, _Asked], Counter[tuple[str, ...]]] = OrderedDict()
        self._inventory: Inventory
        self._checkers: Checkers
        self._exceptions: Exceptions
        self.refresh()

    @property
    def inventory(self) -> Inventory:
        """The inventory in use."""
        return self._inventory

    @property
    def checkers(self) -> Checkers:
        """The checkers in use."""
        return self._checkers

    def refresh(self) -> None:
        """Load inventory and checkers again if a set, a split or a checker has changed."""
        seen = fingerprint(self.settings)
        if seen == self._seen:
            return
        self._seen = ""
        self._bases.clear()
        checkers = load_checkers(self.settings.checkers)
        sources: Sequence[Source] = read_sources(self.settings, self._access)
        beside = (planted(self._vocabulary), *self._also)
        inventory = load_inventory(sources, self.settings.state / "gate", self._vocabulary, beside)
        live_fire(checkers, inventory)
        self._exceptions = read_exceptions(self.settings.checkers)
        self._checkers, self._inventory, self._seen = checkers, inventory, seen

    def forget(self) -> None:
        """Drop everything remembered of brains, as at start; for measuring."""
        self._bases.clear()
        for memory in (
            fold, squash, decodings, shapes, windows, runs, halves, content_words, gist_of,
        ):  # fmt: skip
            memory.cache_clear()
        finder(self._inventory).forget()

    def check(
        self,
        before: Brain | None,
        after: Brain,
        *,
        rationale: str = "",
        job_texts: Sequence[str] = (),
        tools: Tools | None = None,
    ) -> GateReport:
        """The report on ``after``; only what is new against ``before`` rejects.

        ``tools`` are those that the agent has, a world's where none are given.
        """
        started = time.monotonic()
        self.refresh()
        known = self.inventory.vocabulary.known
        job = frozenset(run for text in job_texts for run in shingles(text, PHRASE, known))
        pages = pages_of(after, before)
        if rationale.strip():
            pages = (*pages, Page(RATIONALE, tuple(rationale.splitlines())))
        oversize = _oversize(pages, self._limits)
        if oversize is not None:
            return self._report([oversize], 0, started)
        ask = _Asked(job, tools or world_tools())
        old = Counter[tuple[str, ...]]() if before is None else self._base(before, ask)
        found = self._hits(self._context(pages, after, before, ask))
        left = old.copy()
        new: list[Hit] = []
        for hit in found:
            identity = hit.identity()
            if left[identity] > 0:
                left[identity] -= 1
            else:
                new.append(hit)
        return self._report(new, len(found) - len(new), started)

    def _context(
        self, pages: Sequence[Page], brain: Brain, base: Brain | None, ask: _Asked
    ) -> Context:
        scan = Scan(pages)
        return Context(scan, self._inventory, brain, base, ask.job, self._limits, ask.tools)

    def _base(self, brain: Brain, ask: _Asked) -> Counter[tuple[str, ...]]:
        """What stood in the base already, remembered by its hash."""
        key = (brain.hash, ask)
        known = self._bases.get(key)
        if known is None:
            pages = pages_of(brain)
            if _oversize(pages, self._limits) is not None:
                raise GateError(
                    "the base brain is too large to be checked",
                    where="brain",
                    mend="Shorten its lines or files",
                )
            context = self._context(pages, brain, None, ask)
            known = Counter(hit.identity() for hit in self._hits(context))
            self._bases[key] = known
            while len(self._bases) > _KEPT_BASES:
                self._bases.popitem(last=False)
        self._bases.move_to_end(key)
        return known

    def _hits(self, context: Context) -> list[Hit]:
        found: dict[tuple[str, str, int, int, str], Hit] = {}
        for stem, checker in self._checkers.loaded:
            for hit in run_checker(stem, checker, context):
                place = hit.place
                key = (hit.rule, place.page.file, place.line, place.column, hit.identifier)
                found.setdefault(key, hit)
        return _without_echoes(list(found.values()))

    def _report(self, hits: list[Hit], preexisting: int, started: float) -> GateReport:
        exceptions = self._exceptions.on(self._today())
        hits, excused = exceptions.excuse(hits)
        rejects = [hit for hit in hits if hit.severity == "reject"]
        ordered = sorted(
            hits,
            key=lambda h: (_ORDER[h.severity], h.place.page.file, h.place.line, h.place.column),
        )
        findings = tuple(_short(hit).finding() for hit in ordered[:MAX_FINDINGS])
        return GateReport(
            passed=not rejects,
            findings=findings,
            preexisting=preexisting,
            gate_version=GATE_VERSION,
            inventory_hash=self._inventory.hash,
            vocabulary_hash=self._vocabulary.hash,
            checkers_hash=self._checkers.hash,
            seconds=time.monotonic() - started,
            test_side_only=any(hit.held_out and hit.strong for hit in rejects),
            incidents=self._inventory.incidents,
            exceptions=len(exceptions.signed),
            excused=excused,
            ignored=exceptions.ignored,
        )


def _oversize(pages: Sequence[Page], limits: Limits) -> Hit | None:
    """A brain that is too large to be read within limits is refused unread."""
    total = 0
    for page in pages:
        for number, line in enumerate(page.lines, 1):
            total += len(line) + 1
            if len(line) > limits.line_characters or total > limits.brain_characters:
                what = f"line of {len(line)} characters" if len(line) > 1000 else "brain too large"
                return Hit(
                    rule="edit-size",
                    severity="reject",
                    place=Place(page, number, 1, number, min(len(line), 1000) + 1),
                    matched=what,
                    identifier_type="form",
                    hint=(
                        f"Lines hold at most {limits.line_characters} characters, a brain "
                        f"{limits.brain_characters}"
                    ),
                )
    return None


def _without_echoes(hits: list[Hit]) -> list[Hit]:
    """Drop what a fuzzy or decoding rule says about a span that the exact rule has refused."""
    exact = [
        (h.place.page.file, h.place.line, h.place.column, h.place.end_column)
        for h in hits
        if h.rule == "incident-identifier" and h.severity == "reject"
    ]
    return [
        hit
        for hit in hits
        if hit.rule != "similar-identifier"
        or not any(
            hit.place.page.file == file
            and hit.place.line == line
            and hit.place.column < end
            and first < hit.place.end_column
            for file, line, first, end in exact
        )
    ]


def _short(hit: Hit) -> Hit:
    return hit if len(hit.matched) <= 200 else replace(hit, matched=hit.matched[:199] + "…")
