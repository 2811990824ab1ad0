"""Lines and series of a draft on their way to disk: redacted, with patterns, a chunk at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import IngestError
from heldout.graph.files import read_tables
from heldout.graph.schema import LEVELS
from heldout.graph.spool import Spool
from heldout.ingest.redaction import Redactor
from heldout.ingest.telemetry.grid import Numbers
from heldout.ingest.telemetry.mining import Miner

_CHUNK_LINES = 50_000
_CHUNK_CHARS = 8_000_000

QUIET = 15 * 60_000_000
"""A silence so long before the world's now, or after its start, is a gap in what was recorded."""

BEFORE = "what was recorded before was not imported"
AFTER = "what was recorded after was not imported"
NOTHING = "none was imported"
COVERAGE = (BEFORE, AFTER, NOTHING)
"""Notes of the gaps that say how far a recording reaches; each import says it anew."""

Line = tuple[int, str, str, str]
Names = dict[str, list[str]]


class Recording:
    """Takes lines and series; ``spool`` holds them for the writer of the world.

    Given the folder of a world, it begins with the lines and series of that.
    """

    def __init__(self, redactor: Redactor, world: Path | None = None) -> None:
        self.spool = Spool()
        self._redactor = redactor
        self._series: dict[tuple[str, str], str] = {}
        self._units: dict[str, str] = {}
        if world is not None:
            self.spool.take(world)
            columns = ("id", "entity_id", "name", "unit")
            for row in read_tables(world, {"metric_series": columns})["metric_series"]:
                self._series[row["entity_id"], row["name"]] = row["id"]
                self._units[row["id"]] = row["unit"]
        self._miner = Miner(self.spool.patterns)

    def log_lines(self, lines: Iterable[Line]) -> None:
        """Take lines: time in microseconds, entity id, level, message; streamed, in any order.

        Messages are redacted. A level that a world does not know is an :class:`IngestError`.
        """
        times: list[int] = []
        numbers: list[int] = []
        texts: list[str] = []
        chars = 0
        for ts, entity, level, message in lines:
            if level not in LEVELS:
                raise IngestError(
                    f"'{level[:20]}' is no level of a log line",
                    where="log_lines",
                    mend=f"Use one of: {', '.join(LEVELS)}",
                )
            text = self._redactor.text(message)
            if not text.isascii():
                text = text.encode("utf-8", "replace").decode()
            times.append(ts)
            numbers.append(self._miner.number(entity, level, text))
            texts.append(text)
            chars += len(text)
            if len(texts) >= _CHUNK_LINES or chars >= _CHUNK_CHARS:
                self._keep(times, numbers, texts)
                times, numbers, texts, chars = [], [], [], 0
        self._keep(times, numbers, texts)
        self.spool.patterns = self._miner.patterns()

    def _keep(self, times: list[int], numbers: list[int], texts: Sequence[str]) -> None:
        chosen = np.array(times, dtype=np.int64)
        self.spool.add_lines(chosen, np.array(numbers, dtype=np.int32), texts)

    def series(
        self, entity: str, name: str, unit: str, t0: int, step_s: int, values: Numbers
    ) -> None:
        """Take values of a series, ``step_s`` apart from ``t0`` (microseconds) on, gaps as NaN.

        Runs of one series may come apart; where they overlap, what begins later stands.
        """
        found = self._series.get((entity, name))
        if found is None:
            found = self._series[entity, name] = self._id(entity, name)
            self._units[found] = unit
        self.spool.add_values(found, t0, step_s, values)

    def _id(self, entity: str, name: str) -> str:
        for salt in range(1000):
            text = f"{salt}\x1f{entity}\x1f{name}"
            made = "m-" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
            if made not in self._units:
                return made
        raise IngestError("no id is left for a series", where=name[:80], mend="Import less at once")

    def names(self) -> Names:
        """The columns of ``metric_series``."""
        keys = [*self._series]
        ids = [*self._series.values()]
        return {
            "id": ids,
            "entity_id": [entity for entity, _ in keys],
            "name": [name for _, name in keys],
            "unit": [self._units[one] for one in ids],
        }

    def gaps(self, start: int, now: int) -> list[dict[str, Any]]:
        """Rows of ``data_gap`` for the time that no line, or no value, was recorded of."""
        rows = []
        for source, span in (("log", self.spool.line_span), ("metric", self.spool.value_span)):
            first, last = span or (now, now)
            for since, until, note in ((start, first - 1, BEFORE), (last + 1, now, AFTER)):
                if until - since > QUIET:
                    row = {"source": source, "entity_id": "", "since": since, "until": until}
                    rows.append({**row, "note": note if span else NOTHING})
        return rows

    def close(self) -> None:
        """Give back what lies on disk."""
        self.spool.close()
