"""``heldout ingest metrics``: series of files, as they are exported from where they are kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.reading import FileRecord, Outcome, Unreadable
from heldout.ingest.telemetry.grid import Numbers
from heldout.ingest.telemetry.lines import Damage, lines_of, opened
from heldout.ingest.telemetry.places import NOWHERE, Place, place_of, place_of_file
from heldout.ingest.telemetry.prometheus import Answer, Point, samples
from heldout.ingest.telemetry.sheets import Calls, read_sheet
from heldout.ingest.telemetry.sink import Held, Sink, name_of
from heldout.ingest.telemetry.sources import Sources
from heldout.ingest.telemetry.units import unit_of
from heldout.ingest.telemetry.walk import telemetry_files

_TEXT = (".prom", ".txt", ".openmetrics", ".metrics")
_JSON = (".json", ".jsonl", ".ndjson")
_SHEETS = (".csv", ".tsv")


class Metrics:
    """Values over time become series of the world, evened out to a grid, gaps as gaps."""

    name = "metrics"
    reads = (
        "metrics over time: answers of Prometheus to range queries, its exports with times, and "
        "tables (CSV) with one column a series or one row a value; plain or gzip"
    )

    def read_into(self, path: Path, draft: WorldDraft, options: ImportOptions) -> None:
        """Read every file of metrics at or below ``path``."""
        sources = Sources(draft, options.cluster)
        for relative, full in telemetry_files(
            path, (*_SHEETS, *_JSON, *_TEXT, ".gz"), draft.report
        ):
            draft.report.file(_File(relative, full, draft, sources).read())


class _File:
    """One file on its way into the draft."""

    def __init__(self, relative: str, full: Path, draft: WorldDraft, sources: Sources) -> None:
        self._relative = relative
        self._full = full
        self._draft = draft
        self._sources = sources
        self._sink = Sink(self._give)
        self._notes: list[str] = []

    def read(self) -> FileRecord:
        """Read it; the record says how many series there were and what was done to them."""
        calls, problem = 0, ""
        try:
            calls = self._read()
        except Unreadable as error:
            if not self._sink.series:
                return FileRecord(self._relative, error.outcome, 0, error.detail)
            problem = f"what follows {error.detail}"
        self._sink.flush()
        tally = self._sink.tally
        notes = [*self._notes, *tally.notes()]
        if self._sink.left_out:
            notes.append(f"{self._sink.left_out} points of further series left out")
        notes += [problem] * bool(problem)
        found = self._sink.series or calls
        if not found:
            notes.insert(0, "holds no values over time")
        outcome: Outcome = "read" if found else "no object"
        return FileRecord(self._relative, outcome, found, "; ".join(notes), bool(problem))

    def _read(self) -> int:
        name = self._relative.lower().removesuffix(".gz")
        damage = Damage()
        with opened(self._full) as stream:
            if name.endswith(_JSON):
                answer = Answer()
                self._points(answer.points(stream))
                if answer.histograms:
                    self._notes.append(f"{answer.histograms} native histograms left out")
                return 0
            lines = lines_of(stream, damage)
            if name.endswith(_TEXT):
                self._points(samples(lines))
                calls = None
            else:
                calls = read_sheet(lines, self._sink, place_of_file(self._relative))
        self._notes += damage.notes()
        return self._calls(calls) if calls is not None else 0

    def _points(self, points: Iterable[Point | str]) -> None:
        """Points whose labels are one object as long as they are the same."""
        labels: object = None
        held: Held | None = None
        odd = 0
        for one in points:
            if isinstance(one, str):
                odd += 1
                continue
            if one.labels is not labels:
                labels = one.labels
                place = place_of({key.lower(): value for key, value in one.labels.items()})
                if place == NOWHERE and one.labels.get("instance"):
                    place = Place(node=one.labels["instance"].rsplit(":", 1)[0])
                held = self._sink.held(place, name_of(one.labels))
            self._sink.add(held, one.time, one.value)
        if odd:
            self._notes.append(f"{odd} lines that are no samples left out")

    def _give(self, place: Place, name: str, t0: int, step_s: int, values: Numbers) -> None:
        entity = self._sources.entity(place)
        self._draft.series(entity, name, unit_of(name), t0, step_s, values)

    def _calls(self, calls: Calls) -> int:
        for caller, callee in calls.pairs:
            self._draft.edge(
                self._sources.entity(caller), "calls", self._sources.entity(callee),
                provenance="observed", source="traffic",
            )  # fmt: skip
        self._notes.append("who calls whom")
        return len(calls.pairs)


IMPORTER = Metrics()
