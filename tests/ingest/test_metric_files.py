"""Metrics as they are exported: answers to queries, tables, samples; units; even grids."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.ingest.reading import Unreadable
from heldout.ingest.telemetry import sheets
from heldout.ingest.telemetry import sink as sink_room
from heldout.ingest.telemetry.grid import Tally, even_runs
from heldout.ingest.telemetry.lines import Damage, lines_of, opened
from heldout.ingest.telemetry.places import NOWHERE, Place
from heldout.ingest.telemetry.prometheus import Answer, Point, samples
from heldout.ingest.telemetry.sheets import Calls, read_sheet
from heldout.ingest.telemetry.sink import Sink, name_of
from heldout.ingest.telemetry.units import unit_of

SECOND = 1_000_000
T0 = 1_772_618_400 * SECOND
HOME = Place(service="home")
Run = tuple[str, str, int, int, list[float | None]]


class Given:
    """A sink that keeps what it gives on."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.sink = Sink(self._give)

    def _give(self, place: Place, name: str, t0: int, step_s: int, values: Any) -> None:
        owner = place.pod or place.name or place.service or place.node
        shown = [None if np.isnan(one) else round(float(one), 3) for one in values]
        self.runs.append((owner, name, (t0 - T0) // SECOND, step_s, shown))


def sheet(text: str) -> tuple[list[Run], Calls | None, Sink]:
    """What a table gives."""
    found = Given()
    calls = read_sheet(text.splitlines(), found.sink, HOME)
    found.sink.flush()
    return found.runs, calls, found.sink


def test_a_wide_table():
    """One column a series: entity and metric by the column's name, or by its labels."""
    runs, _, sink = sheet(
        'time;frontend_cpu;cart-db-p95latency;go_threads;"up{pod=""p"",code=""5""}"\n'
        "1772618400;1;2;3;4\n1772618460;;2;x;4\n1772618520;1.5;2;3;4\n"
    )
    assert runs == [
        ("frontend", "cpu", 0, 60, [1.0, None, 1.5]),
        ("cart-db", "p95latency", 0, 60, [2.0, 2.0, 2.0]),
        ("home", "go_threads", 0, 60, [3.0, None, 3.0]),
        ("p", 'up{code="5"}', 0, 60, [4.0, 4.0, 4.0]),
    ]
    assert sink.tally.not_numbers == 1


def test_a_wide_table_in_blocks(monkeypatch: pytest.MonkeyPatch):
    """A table longer than is held gives runs that follow one another, at the same step."""
    monkeypatch.setattr(sheets, "_BLOCK", 16)
    rows = "\n".join(f"{1772618400 + 30 * n},{n}" for n in range(40))
    runs, _, _ = sheet(f"time,a_cpu\n{rows}\n")
    assert [(run[2], run[3], len(run[4])) for run in runs] == [
        (0, 30, 16),
        (480, 30, 16),
        (960, 30, 8),
    ]


def test_a_long_table():
    """One row a value, its place and name in columns."""
    runs, _, _ = sheet(
        "timestamp,metric,value,pod,namespace\n2026-03-04T10:00:00Z,up,1,a,n\n"
        "2026-03-04T10:00:15Z,up,0,a,n\n2026-03-04T10:00:45Z,up,2,a,n\n"
        "2026-03-04T10:00:00Z,up,7,b,n\n"
    )
    assert runs == [("a", "up", 0, 15, [1.0, 0.0, None, 2.0]), ("b", "up", 0, 60, [7.0])]


def test_a_table_with_one_row_a_pod_and_time():
    """Several values in a row, each a metric of the row's place; of two times the one that is one."""
    runs, _, _ = sheet(
        "Time,TimeStamp,PodName,CpuUsage(m),MemoryUsage(%)\n"
        "?,1772618400,cart-7d,12,3\n?,1772618460,cart-7d,13,3.5\n"
    )
    assert runs == [
        ("cart-7d", "CpuUsage(m)", 0, 60, [12.0, 13.0]),
        ("cart-7d", "MemoryUsage(%)", 0, 60, [3.0, 3.5]),
    ]


def test_a_table_whose_header_has_levels():
    """Header lines say what they are in their first cell, as data frames are written."""
    runs, _, _ = sheet(
        "microservice,web_AWS::ECS::Fargate,jobs_AWS::SQS::Queue\nmetric,latency,requests\n"
        "statistic,p90,Sum\nunix_timestamp,,\n1772618400.0,0.5,\n1772618700.0,0.25,4\n"
    )
    assert runs == [
        ("web_AWS::ECS::Fargate", "latency_p90", 0, 300, [0.5, 0.25]),
        ("jobs_AWS::SQS::Queue", "requests_sum", 300, 300, [4.0]),
    ]


def test_a_square_of_names_is_who_calls_whom():
    """An adjacency matrix: the row's node calls the column's."""
    _, calls, _ = sheet(",a,b_AWS::Lambda\na,0.0,1.0\nb_AWS::Lambda,0.0,0.0\n")
    assert calls == Calls([(Place(service="a"), Place(kind="Function", name="b_AWS::Lambda"))])


@pytest.mark.parametrize("text", ["a,b\n1,2\n3,4\n", "", "\n# only a comment\n", "x\n"])
def test_a_table_without_times_is_refused(text: str):
    """A table that has no course over time gives a reason."""
    with pytest.raises(Unreadable):
        sheet(text)


@given(st.lists(st.text(max_size=20) | st.sampled_from(
    ["time,a,b", ",,,", '"', "1772618400,1,2", "time,pod,value", "metric,x,y", "1e400,nan,inf",
     "unix_timestamp,,", "1772618400;2"]), max_size=8), st.sampled_from("\n,;"))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_any_table_gives_runs_or_a_reason(parts: list[str], glue: str):
    """Whatever is in a table, its values are finite or gaps, or there is a reason."""
    raw = glue.join(parts).encode("utf-8", "replace")
    found = Given()
    try:
        read_sheet(lines_of(io.BytesIO(raw), Damage()), found.sink, HOME)
    except Unreadable:
        return
    found.sink.flush()
    assert all(run[3] >= 1 and run[4] for run in found.runs)


MATRIX = {
    "status": "success",
    "data": {"resultType": "matrix", "result": [
        {"metric": {"__name__": "up", "pod": "p"}, "values": [[1772618400, "1"], [1772618415, "NaN"]]},
        {"metric": {"__name__": "up", "pod": "q"}, "values": [[1772618400, "0"]]},
    ]},
}  # fmt: skip
P, Q = {"__name__": "up", "pod": "p"}, {"__name__": "up", "pod": "q"}


def answer(document: Any) -> list[Point]:
    """The points of a document."""
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return [*Answer().points(io.BytesIO(raw))]


def test_the_answer_to_a_range_query():
    """Every value with the labels of its series."""
    found = answer(MATRIX)
    assert [(one.labels, one.time) for one in found] == [(P, T0), (P, T0 + 15 * SECOND), (Q, T0)]
    assert (found[0].value, found[1].value == found[1].value) == (1.0, False)
    assert [one.time for one in answer(MATRIX["data"]["result"])] == [one.time for one in found]  # type: ignore[index]


def test_an_export_that_lists_values_and_times_apart():
    """One line a series, values and milliseconds side by side."""
    lines = [{"metric": P, "values": [1, 2], "timestamps": [T0 // 1000, T0 // 1000 + 15_000]},
             {"metric": Q, "values": [3], "timestamps": [T0 // 1000]}]  # fmt: skip
    found = answer("\n".join(map(json.dumps, lines)).encode())
    assert [tuple(one) for one in found] == [(P, T0, 1.0), (P, T0 + 15 * SECOND, 2.0), (Q, T0, 3.0)]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"data": {"resultType": "vector", "result": [{"metric": P, "value": [1, "2"]}]}}, "instant"),
        ([{"metric": P, "value": [1772618400, "2"]}], "instant"),
        ({"data": {"resultType": "scalar", "result": [1, "2"]}}, "holds a scalar"),
        ({"status": "error", "error": "x"}, "failed"),
        ({"data": {"result": [{"values": [[1772618400, "1"]]}]}}, "before the metric"),
        (b'{"data": {"result": [', "does not parse"),
    ],
)  # fmt: skip
def test_what_is_no_course_over_time_is_refused(document: Any, reason: str):
    """An instant vector, a scalar, a failed query: refused, and the reason says what to export."""
    with pytest.raises(Unreadable) as problem:
        answer(document)
    assert reason in problem.value.detail


def test_samples_as_text():
    """Samples with times are points; without, they are the state of one moment and refused."""
    text = [
        "# HELP up x", 'up{pod="p"} 1 1772618400000', '{__name__="up",pod="q"} +Inf 1772618400', "?? ??",
    ]  # fmt: skip
    found = [*samples(text)]
    assert found[0] == Point(P, T0, 1.0)
    assert isinstance(found[1], Point)
    assert (found[1].labels, found[2]) == (Q, "?? ??")
    with pytest.raises(Unreadable, match="samples without times"):
        [*samples(['up{pod="p"} 1'])]


@given(st.lists(st.text(max_size=40), max_size=5))
@settings(max_examples=80, deadline=None)
def test_any_text_gives_samples_or_a_reason(lines: list[str]):
    """Any lines of text are samples, lines left out, or a refusal."""
    try:
        found = [*samples(lines)]
    except Unreadable:
        return
    assert all(isinstance(one, str | Point) for one in found)


@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.floats(width=32)), min_size=1, max_size=40),
)
@settings(max_examples=120, deadline=None)
def test_an_even_grid_keeps_every_point_that_meets_no_other(points: list[tuple[int, float]]):
    """Runs do not overlap; what is given is as many values as points, less those that met."""
    tally = Tally()
    times = np.array([T0 + at * SECOND for at, _ in points], dtype=np.int64)
    values = np.array([value for _, value in points], dtype=np.float64)
    runs = [*even_runs(times, values, tally)]
    last = -1
    for run in runs:
        assert run.t0 > last
        last = run.t0 + (len(run.values) - 1) * run.step_s * SECOND
        assert abs(int(times.max()) - last) <= run.step_s * SECOND or run is not runs[-1]
    drawn = sum(len(run.values) for run in runs)
    assert drawn == len(points) - tally.met + tally.gaps
    finite = sum(int(np.count_nonzero(~np.isnan(run.values))) for run in runs)
    assert finite <= len(points) - tally.met


def test_irregular_points_go_to_the_nearest_step():
    """Jitter is evened out and counted; a long silence begins a new run."""
    tally = Tally()
    at = np.array([0, 15, 31, 45, 90, 4_000]) * SECOND + T0
    runs = [*even_runs(at, np.arange(6.0), tally)]
    assert [(run.t0, run.step_s, len(run.values)) for run in runs] == [
        (T0, 15, 7), (T0 + 4_000 * SECOND, 15, 1),
    ]  # fmt: skip
    assert np.isnan(runs[0].values[4:6]).all()
    assert (tally.moved, tally.met, tally.gaps) == (1, 0, 2)


def test_a_sink_gives_on_before_it_is_full(monkeypatch: pytest.MonkeyPatch):
    """Points of many series are held up to a number; series too."""
    monkeypatch.setattr(sink_room, "MOST_POINTS", 4)
    monkeypatch.setattr(sink_room, "MOST_SERIES", 2)
    found = Given()
    for n in range(6):
        found.sink.add(found.sink.held(HOME, f"m{n % 2}"), T0 + n * SECOND, float(n))
    assert [len(run[4]) for run in found.runs] == [2, 2]
    found.sink.flush()
    assert [(run[2], run[3], run[4]) for run in found.runs[2:]] == [(4, 2, [4.0]), (5, 2, [5.0])]
    assert found.sink.held(HOME, "m3") is None
    assert found.sink.left_out == 1


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("http_request_duration_seconds_sum", "s"), ("http_request_duration_seconds_bucket", "count"),
        ("node_memory_MemFree_bytes", "bytes"), ("http_requests_total{code=\"500\"}", "count"),
        ("container_cpu_usage_seconds_total", "s"), ("error_ratio", "ratio"), ("front_rps", "per_s"),
        ("MemoryUsage(%)", "percent"), ("latency_p90", ""), ("go_threads", ""),
    ],
)  # fmt: skip
def test_units_are_those_that_names_say(name: str, unit: str):
    """A name that says no unit has none."""
    assert unit_of(name) == unit


def test_a_series_is_named_by_the_labels_that_tell_no_place():
    """Pod and namespace say where; code and path stay in the name."""
    labels = {"__name__": "req", "pod": "p", "namespace": "n", "path": "/", "code": "5", "job": "j"}
    assert name_of(labels) == 'req{code="5",path="/"}'
    assert name_of({}) == "value"
    assert Place() == NOWHERE


def test_a_gzip_table_is_read(tmp_path: Path):
    """Tables come through the same reader of lines as logs do."""
    path = tmp_path / "m.csv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbftime,a_cpu\n1772618400,1\n1772618460,2\n"))
    found = Given()
    with opened(path) as stream:
        read_sheet(lines_of(stream, Damage()), found.sink, HOME)
    assert found.runs == [("a", "cpu", 0, 60, [1.0, 2.0])]
