"""Log lines of every usual shape: their time, level, place and text; and lines of no shape."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.ingest.reading import Unreadable
from heldout.ingest.redaction import Redactor
from heldout.ingest.telemetry import lines as lines_room
from heldout.ingest.telemetry.files import LogFile
from heldout.ingest.telemetry.joining import LONGEST, Message, Tally, messages
from heldout.ingest.telemetry.levels import level_in, level_of
from heldout.ingest.telemetry.mining import Miner
from heldout.ingest.telemetry.places import Place, place_of_file
from heldout.ingest.telemetry.stamps import Clock, moment

REFERENCE = int(datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()) * 1_000_000


def at(text: str) -> int:
    """Microseconds of an ISO time."""
    moment = datetime.fromisoformat(text)
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def said(folder: Path, content: str | bytes, name: str = "app.log") -> list[Message]:
    """The messages of a file with this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [*messages(LogFile(path, REFERENCE, Redactor()).entries(), Tally())]


@pytest.mark.parametrize(
    ("line", "ts", "level", "text"),
    [
        ("2026-03-04T10:00:00.5Z stderr F boom", "2026-03-04T10:00:00.5Z", "INFO", "boom"),
        (
            "2026-03-04T10:00:00.123456789+02:00 level=warn msg=slow",
            "2026-03-04T08:00:00.123456Z", "WARN", "level=warn msg=slow",
        ),
        ("2026-03-04 10:00:00,250 ERROR [main] no disk", "2026-03-04T10:00:00.25Z", "ERROR",
         "[main] no disk"),
        ("E0304 10:00:00.000001       7 sync.go:12] lost", "2026-03-04T10:00:00.000001Z", "ERROR",
         "sync.go:12] lost"),
        ("I1231 23:59:59.000000       7 sync.go:12] old", "2025-12-31T23:59:59Z", "INFO",
         "sync.go:12] old"),
        ("Mar  4 10:00:00 mill sshd[12]: refused", "2026-03-04T10:00:00Z", "INFO",
         "sshd: refused"),
        ("<11>Mar  4 10:00:00 mill cron: failed", "2026-03-04T10:00:00Z", "ERROR", "cron: failed"),
        ('1.2.3.4 - - [04/Mar/2026:10:00:00 +0000] "GET / HTTP/1.1" 200', "2026-03-04T10:00:00Z",
         "INFO", '1.2.3.4 - - "GET / HTTP/1.1" 200'),
        ("2026/03/04 10:00:00 [crit] 7#7: no room", "2026-03-04T10:00:00Z", "ERROR",
         "7#7: no room"),
        ("[2026-03-04 10:00:00] WARNING low", "2026-03-04T10:00:00Z", "WARN", "low"),
        ('time="2026-03-04T10:00:00Z" level=error msg=x', "2026-03-04T10:00:00Z", "ERROR",
         'time="2026-03-04T10:00:00Z" level=error msg=x'),
        ("1772618400 started", "2026-03-04T10:00:00Z", "INFO", "started"),
    ],
)  # fmt: skip
def test_a_line_of_text(tmp_path: Path, line: str, ts: str, level: str, text: str):
    """Times with and without zone or year, the carriers' heads, the loggers' levels."""
    [found] = said(tmp_path, line + "\n")
    assert (found.ts, found.level, found.text) == (at(ts), level, text)


KUBERNETES = {
    "pod_name": "web-1", "namespace_name": "shop", "container_name": "web", "host": "n1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("record", "level", "text", "place"),
    [
        ({"time": "2026-03-04T10:00:00Z", "level": "warning", "msg": "slow", "took": 3},
         "WARN", "slow took=3", Place()),
        ({"@timestamp": "2026-03-04T10:00:00Z", "log.level": "error", "message": "no",
          "kubernetes": {"pod": {"name": "p"}, "namespace": "n"}},
         "ERROR", "no", Place(namespace="n", pod="p")),
        ({"log": "E0304 10:00:00.000000  7 a.go:1] lost\n", "stream": "stderr",
          "time": "2026-03-04T10:00:00Z", "kubernetes": KUBERNETES},
         "ERROR", "a.go:1] lost", Place(namespace="shop", pod="web-1", container="web", node="n1")),
        ({"log": '{"level":50,"msg":"down","time":1772618400000}\n', "date": 1772618400.0},
         "ERROR", "down", Place()),
        ({"ts": 1772618400.0, "level": "info", "msg": "hi", "password": "hunter22"},
         "INFO", "hi password=redacted-0001", Place()),
        ({"timestamp": "2026-03-04T10:00:00Z", "severity": "CRITICAL", "textPayload": "gone",
          "resource": {"labels": {"pod_name": "p", "namespace_name": "n"}}},
         "ERROR", "gone", Place(namespace="n", pod="p")),
        ({"timestamp": 1772618400000, "message": "x", "service": "cart", "error": {"stack": "at y"}},
         "INFO", "x\nat y", Place(service="cart")),
    ],
)  # fmt: skip
def test_a_line_of_json(
    tmp_path: Path, record: dict[str, Any], level: str, text: str, place: Place
):
    """Fields by the names that loggers and collectors use; secrets in them are replaced."""
    [found] = said(tmp_path, json.dumps(record) + "\n")
    assert (found.ts, found.level, found.text, found.place) == (
        at("2026-03-04T10:00:00Z"), level, text, place,
    )  # fmt: skip


NANO = str(1772618400 * 10**9)
POD = Place(namespace="shop", pod="web-1")
LABELS = {"namespace": "shop", "pod": "web-1", "level": "error"}
OTEL = {
    "resource": {"attributes": [
        {"key": "k8s.pod.name", "value": {"stringValue": "web-1"}},
        {"key": "k8s.namespace.name", "value": {"stringValue": "shop"}},
    ]},
    "scopeLogs": [{"logRecords": [
        {"timeUnixNano": NANO, "severityNumber": 17, "body": {"stringValue": "lost"}},
    ]}],
}  # fmt: skip


@pytest.mark.parametrize("pretty", [False, True], ids=["line", "document"])
@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"streams": [{"stream": LABELS, "values": [[NANO, "lost"]]}]}, POD),
        ({"status": "success", "data": {"resultType": "streams", "result": [
            {"stream": LABELS, "values": [[NANO, "lost"]]}]}}, POD),
        ({"resourceLogs": [OTEL]}, POD),
        ({"logGroup": "/g", "logStream": "web-1_shop_web-0123456789abcdef", "logEvents": [
            {"timestamp": 1772618400000, "message": "ERROR lost"}]}, POD._replace(container="web")),
        ({"events": [{"timestamp": 1772618400000, "message": "ERROR lost", "pod": "web-1",
                      "namespace": "shop"}]}, POD),
        ({"hits": {"hits": [{"_source": {"@timestamp": "2026-03-04T10:00:00Z", "level": "error",
                             "message": "lost", "pod": "web-1", "namespace": "shop"}}]}}, POD),
        ([{"ts": 1772618400, "level": "error", "message": "lost", "pod": "web-1",
           "namespace": "shop"}], POD),
    ],
    ids=["loki push", "loki answer", "otel", "subscription", "cloudwatch", "elastic", "list"],
)  # fmt: skip
def test_a_frame_of_many_lines(tmp_path: Path, document: Any, place: Place, *, pretty: bool):
    """The frames of collectors and their queries, on one line or written out."""
    text = json.dumps(document, indent=1 if pretty else None)
    [found] = said(tmp_path, text, "export.json")
    assert (found.ts, found.level, found.place) == (at("2026-03-04T10:00:00Z"), "ERROR", place)
    assert found.text == "lost"


TRACE = """2026-03-04T10:00:00Z ERROR worker failed
Traceback (most recent call last):
  File "a.py", line 1, in <module>
ValueError: no
2026-03-04T10:00:01Z INFO next
"""


def test_a_stack_trace_is_one_message(tmp_path: Path):
    """Lines without a head go on with the message before them."""
    first, second = said(tmp_path, TRACE)
    assert first.text.endswith("ValueError: no")
    assert (first.level, second.text) == ("ERROR", "next")


def test_a_stack_trace_that_a_carrier_stamped_is_one_message(tmp_path: Path):
    """A runtime stamps every line; a trace in its frame is joined, other lines are not."""
    frame = "".join(
        f"2026-03-04T10:00:00.00000000{n}Z stderr F {text}\n"
        for n, text in enumerate(
            ["Exception in thread main java.lang.X: no", "\tat a.B.c(B.java:1)", "Caused by: y",
             "plain line", "second plain line"]
        )
    )  # fmt: skip
    found = said(tmp_path, frame)
    assert [one.text.count("\n") for one in found] == [2, 0, 0]
    assert found[0].level == "ERROR"


def test_what_a_runtime_cut_in_the_middle_is_whole_again(tmp_path: Path):
    """Partial lines are put together without a break."""
    parts = [("P", "one "), ("P", "two "), ("F", "three"), ("F", "four")]
    text = "".join(f"2026-03-04T10:00:00Z stdout {flag} {part}\n" for flag, part in parts)
    assert [one.text for one in said(tmp_path, text)] == ["one two three", "four"]


def test_damaged_lines_are_mended_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Bytes that are no UTF-8, escapes, NUL and endless lines: replaced, taken out, cut."""
    monkeypatch.setattr(lines_room, "LONGEST_LINE", 20_000)
    stamp = b"2026-03-04T10:00:00Z "
    raw = b"\n".join(
        [stamp + b"\xff\xfe x", stamp + b"\x1b[31mred\x1b[0m \x00", stamp + b"y" * 50_000]
    )
    path = tmp_path / "a.log"
    path.write_bytes(raw + b"\n" + stamp + b"last\n")
    file, tally = LogFile(path, REFERENCE, Redactor()), Tally()
    found = [*messages(file.entries(), tally)]
    assert [one.text for one in found[:2]] == ["�� x", "red "]
    assert found[2].text.endswith("[cut]")
    assert len(found[2].text) < LONGEST + 20
    assert found[3].text == "last"
    assert (file.damage.not_utf8, file.damage.cleaned, file.damage.cut, tally.cut) == (1, 1, 1, 1)


def test_archives_are_unpacked_and_broken_ones_read_as_far_as_they_go(tmp_path: Path):
    """Gzip is known by its first bytes; one that breaks off gives what came before."""
    text = "".join(f"2026-03-04T10:00:00Z line {n} {n * 7919 % 1009}\n" for n in range(5_000))
    packed = gzip.compress(text.encode(), mtime=0)
    assert len(said(tmp_path, packed, "a.log")) == 5_000
    path = tmp_path / "b.gz"
    path.write_bytes(packed[: len(packed) // 2])
    file = LogFile(path, REFERENCE, Redactor())
    assert 100 < len([*messages(file.entries(), Tally())]) < 5_000
    assert "damaged" in file.damage.ended


def test_lines_before_the_first_time_are_counted(tmp_path: Path):
    """A file without any time gives nothing, and says of how many lines."""
    path = tmp_path / "a.log"
    path.write_text("no time here\nnor here\n", encoding="utf-8")
    tally = Tally()
    assert [*messages(LogFile(path, REFERENCE, Redactor()).entries(), tally)] == []
    assert tally.without_time == 2


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("var/log/containers/web-1_shop_web-0123456789abcdef.log",
         Place(namespace="shop", pod="web-1", container="web")),
        ("pods/shop_web-1_0a1b2c3d-0000-1111-2222-333344445555/web/0.log",
         Place(namespace="shop", pod="web-1", container="web")),
        ("namespaces/shop/pods/web-1/web/web/logs/current.log",
         Place(namespace="shop", pod="web-1", container="web")),
        ("config/pod/shop/logs/web-1/errors.log", Place(namespace="shop", pod="web-1")),
        ("cluster-resources/pods/logs/shop/web-1/web.log",
         Place(namespace="shop", pod="web-1", container="web")),
        ("checkout.log.1.gz", Place(service="checkout", named_by="file")),
    ],
)  # fmt: skip
def test_a_file_name_tells_the_place(path: str, place: Place):
    """Kubelet's layouts and those of bundles; any other file is named after a service."""
    assert place_of_file(path) == place


@given(st.lists(st.binary(max_size=80) | st.sampled_from(
    [b'{"log":', b'{"time":1e400,"msg":1}', b"[[[[", b'{"streams":[{"values":[[1]]}]}', b"\x1f\x8b",
     b'{"logEvents":[{"message":null}]}', b"2026-13-45T99:99:99Z x", b'[null,null,{"a":1}]',
     b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[{"key":1,"value":{}}]}]}]}]}']
), max_size=6))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_any_bytes_give_messages_or_a_reason(tmp_path_factory: Any, parts: list[bytes]):
    """Whatever a file holds, it is read, or there is a reason; times lie between 1970 and 2100."""
    folder = tmp_path_factory.mktemp("any")
    try:
        found = said(folder, b"\n".join(parts))
    except Unreadable:
        return
    for one in found:
        assert 0 < one.ts < at("2100-01-01T00:00:00Z")
        assert one.level in ("DEBUG", "INFO", "WARN", "ERROR")
        assert len(one.text) <= LONGEST + 20


@given(st.text(max_size=60), st.integers() | st.floats() | st.text(max_size=40) | st.none())
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_for_a_time_and_a_level(text: str, value: Any):
    """Clocks, times and levels take anything."""
    Clock(REFERENCE).leading(text)
    Clock(REFERENCE).bracketed(f"[{text}")
    assert moment(value) is None or 0 < (moment(value) or 1) < at("2100-01-01T00:00:00Z")
    assert level_of(value) in (None, "DEBUG", "INFO", "WARN", "ERROR")
    assert level_in(text) in (None, "DEBUG", "INFO", "WARN", "ERROR")


def test_patterns_are_mined_across_lines_and_entities():
    """Words that vary become holes; the number of a pattern stays while its text is found."""
    miner = Miner()
    users = ["ann", "bob", "eve"]
    numbers = {miner.number("e-1", "INFO", f"user {one} logged in from 10.0.0.{n}")
               for n, one in enumerate(users)}  # fmt: skip
    other = miner.number("e-2", "INFO", "user joe logged in from 10.0.0.9")
    apart = miner.number("e-1", "INFO", "cache warmed in 3s")
    assert len(numbers) == 1
    assert [miner.patterns()[one] for one in (*numbers, other, apart)] == [
        ("e-1", "user <*> logged in from <*>", "INFO"),
        ("e-2", "user <*> logged in from <*>", "INFO"),
        ("e-1", "cache warmed in <*>", "INFO"),
    ]
    again = Miner(miner.patterns())
    assert again.number("e-2", "INFO", "user zoe logged in from 10.0.0.9") == other


@given(st.lists(st.text(max_size=40), max_size=30))
@settings(max_examples=50, deadline=None)
def test_any_lines_have_patterns_that_fit_them(texts: list[str]):
    """Each line's pattern has as many words as its masked first line, and fits them but for holes."""
    miner = Miner()
    numbers = [miner.number("e-1", "INFO", one) for one in texts]
    patterns = miner.patterns()
    assert sorted(set(numbers)) == [*range(len(patterns))]
    again = [miner.number("e-1", "INFO", one) for one in texts]
    assert len(set(again)) <= len(set(numbers))
