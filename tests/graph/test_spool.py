"""Lines and values that come as a stream: the same world as if they had been held in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.worlds import MINUTE, NOW, SECOND, eid, small_builder, small_metrics

from heldout.errors import WorldError
from heldout.graph import read_table, verify_world, write_world
from heldout.graph import spool as spool_room
from heldout.graph.logs import masked
from heldout.graph.schema import MetricBlock, WorldTables
from heldout.graph.spool import Spool

Line = tuple[int, str, str, str]


def spooled(lines: list[Line], size: int, metrics: MetricBlock | None = None) -> WorldTables:
    """A small world with these lines, given to a spool in chunks of a size."""
    spool = Spool()
    known: dict[tuple[str, str, str], int] = {}
    for first in range(0, len(lines), size):
        chunk = lines[first : first + size]
        keys = [(entity, masked(text), level) for _, entity, level, text in chunk]
        numbers = [known.setdefault(key, len(known)) for key in keys]
        spool.patterns = [*known]
        spool.add_lines(
            np.array([one[0] for one in chunk]), np.array(numbers), [one[3] for one in chunk]
        )
    if metrics is not None:
        for own, values in sorted(zip(metrics.series_ids, metrics.values, strict=True)):
            spool.add_values(own, metrics.t0, metrics.step_s, values)
    return replace(small_builder().tables(), lines=(), spool=spool)


def plain(lines: list[Line], metrics: MetricBlock | None = None) -> WorldTables:
    """The same world with its lines and values in memory."""
    return replace(
        small_builder().tables(metrics=() if metrics is None else (metrics,)), lines=lines
    )


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
lines_of_any = st.lists(
    st.tuples(
        st.integers(NOW - 20, NOW), st.sampled_from([eid(1), eid(2)]),
        st.sampled_from(["INFO", "ERROR"]), texts,
    ),
    max_size=12,
)  # fmt: skip


@given(lines_of_any, st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_a_stream_of_lines_makes_the_same_world(tmp_path_factory, lines: list[Line], size: int):
    """In any order and any chunks, the digest is that of the lines given at once."""
    folder = tmp_path_factory.mktemp("w")
    digest = write_world(spooled(lines, size), folder / "a")
    assert digest == write_world(plain(lines), folder / "b")
    verify_world(folder / "a", digest, deep=True)


def test_lines_out_of_order_are_sorted_and_numbered(tmp_path: Path):
    """Lines come back by time with ids from 1; those of one time as they were given."""
    times = [5, 3, 3, 9, 1]
    lines = [(NOW - one * SECOND, eid(1), "INFO", f"at {one} {n}") for n, one in enumerate(times)]
    write_world(spooled(lines, 2), tmp_path / "w")
    rows = read_table(tmp_path / "w", "log")
    assert [row["msg"] for row in rows] == ["at 9 3", "at 5 0", "at 3 1", "at 3 2", "at 1 4"]
    assert [row["id"] for row in rows] == [1, 2, 3, 4, 5]


def test_a_stream_of_values_makes_the_same_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Values in slices smaller than a series give the digest of one block, gaps and all."""
    metrics = small_metrics()
    metrics.values[0, 3:7] = np.nan
    monkeypatch.setattr(spool_room, "SLICE", 7)
    digest = write_world(spooled([], 1, metrics), tmp_path / "a")
    assert digest == write_world(plain([], metrics), tmp_path / "b")
    verify_world(tmp_path / "a", digest, deep=True)


def test_text_of_many_megabytes_has_the_same_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The digest does not depend on the parts in which text is read."""
    lines = [(NOW - n, eid(1), "INFO", "é" * n) for n in range(1, 40)]
    first = write_world(plain(lines), tmp_path / "a")
    monkeypatch.setattr("heldout.graph.digest._TEXT_BYTES", 50)
    assert write_world(plain(lines), tmp_path / "b") == first
    assert write_world(spooled(lines, 3), tmp_path / "c") == first


def test_lines_are_added_to_those_of_a_world(tmp_path: Path):
    """A spool that takes a world gives the world of the old and new lines and values together."""
    old = [(NOW - n * SECOND, eid(1), "INFO", f"old {n}") for n in (4, 2)]
    new = [(NOW - n * SECOND, eid(2), "ERROR", f"new {n}") for n in (5, 3)]
    metrics = small_metrics()
    write_world(spooled(old, 9, metrics), tmp_path / "old")
    spool = Spool()
    spool.take(tmp_path / "old")
    number = len(spool.patterns)
    spool.patterns.append((eid(2), "new <*>", "ERROR"))
    spool.add_lines(np.array([one[0] for one in new]), [number] * 2, [one[3] for one in new])
    both = replace(small_builder().tables(), lines=(), spool=spool)
    digest = write_world(both, tmp_path / "both")
    assert digest == write_world(spooled(old + new, 2, metrics), tmp_path / "once")


def test_a_line_of_no_pattern_is_refused_and_leaves_nothing(tmp_path: Path):
    """A provisional number that was never given a pattern is an error, and no world is left."""
    spool = Spool()
    spool.add_lines(np.array([NOW]), np.array([3]), ["lost"])
    with pytest.raises(WorldError, match="names a pattern that was not given"):
        write_world(replace(small_builder().tables(), lines=(), spool=spool), tmp_path / "w")
    assert [*tmp_path.iterdir()] == []


def test_a_spool_beside_blocks_is_refused(tmp_path: Path):
    """Lines in two places would have to be merged: that is said, not guessed."""
    tables = replace(plain([(NOW, eid(1), "INFO", "one")]), spool=Spool())
    with pytest.raises(WorldError, match="both in a spool and in blocks"):
        write_world(tables, tmp_path / "w")


def test_the_span_and_the_folder_of_a_spool():
    """Its span covers lines and values; its folder goes when it is closed."""
    spool = Spool()
    assert spool.span is None
    spool.add_values("m-00000001", NOW - MINUTE, 30, np.zeros(2, dtype=np.float32))
    spool.patterns = [(eid(1), "x", "INFO")]
    spool.add_lines(np.array([NOW]), np.array([0]), ["x"])
    assert spool.span == (NOW - MINUTE, NOW)
    folder = Path(spool._holder.name)
    assert folder.is_dir()
    spool.close()
    assert not folder.exists()
