"""Units as the names of metrics say them."""

from __future__ import annotations

import re

_SUFFIXES = (
    ("_per_second", "per_s"), ("_rps", "per_s"), ("_qps", "per_s"), ("_milliseconds", "ms"),
    ("_millis", "ms"), ("_ms", "ms"), ("_microseconds", "us"), ("_nanoseconds", "ns"),
    ("_seconds", "s"), ("_minutes", "min"), ("_bytes", "bytes"), ("_megabytes", "MB"),
    ("_bits", "bits"), ("_ratio", "ratio"), ("_percent", "percent"), ("_percentage", "percent"),
    ("_pct", "percent"), ("_celsius", "celsius"), ("_cores", "cores"),
    ("_millicores", "millicores"),
    ("_volts", "volts"), ("_amperes", "amperes"), ("_joules", "joules"), ("_hertz", "hertz"),
    ("_bytes_per_second", "bytes_per_s"),
)  # fmt: skip
_COUNTS = re.compile(r"_(?:total|count|created|requests|errors|restarts|connections|replicas)$")
_STATISTIC = re.compile(r"_(?:sum|max|min|avg|average|mean|p\d{2,3}|total|bucket|count)$")
_WORDS = (
    (re.compile(r"(?:^|_)(?:rps|qps)$"), "per_s"),
    (re.compile(r"\((ms|s|%|bytes|MB|KB|GB|m|cores)\)$", re.I), ""),
)  # fmt: skip
_BRACKETED = {"%": "percent", "m": "millicores"}


def unit_of(name: str) -> str:
    """The unit of a metric by its name, without its labels; empty where the name does not say.

    ``_total`` and ``_count`` count, whatever unit stands before them only says what of: the sum
    of a histogram keeps its unit, its buckets and its count are counts.
    """
    bare = name.partition("{")[0].strip()
    lower = bare.lower()
    for pattern, unit in _WORDS:
        match = pattern.search(lower)
        if match:
            return unit or _BRACKETED.get(match[1], match[1])
    if lower.endswith(("_bucket", "_count")):
        return "count"
    stem = _STATISTIC.sub("", lower)
    for one in (lower, stem):
        for suffix, unit in sorted(_SUFFIXES, key=lambda pair: -len(pair[0])):
            if one.endswith(suffix):
                return unit
    return "count" if _COUNTS.search(lower) else ""
