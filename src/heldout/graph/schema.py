"""The tables of a world. All times are integer microseconds since the epoch, UTC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from heldout.graph.spool import Spool

SCHEMA_VERSION = 2

PROVENANCE = ("observed", "declared", "inferred", "asserted")
SOURCES = ("iac", "aws", "gcp", "azure", "k8s", "git", "cicd", "traffic", "human")
CHANGE_TYPES = (
    "deploy", "config", "iac_apply", "cloud_api", "secret", "certificate", "flag", "pr_merge",
    "scale", "pod", "node", "runtime",
)  # fmt: skip
ACTOR_KINDS = ("person", "bot", "controller", "provider")
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
TARGET_ROLES = ("target", "deleted", "applied")
"""What a change did to an entity: altered it, deleted it, or applied it anew after a deletion."""

TABLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "entity": (
        ("id", "VARCHAR"), ("kind", "VARCHAR"), ("name", "VARCHAR"), ("external_id", "VARCHAR"),
        ("cluster", "VARCHAR"), ("first_seen", "BIGINT"), ("last_seen", "BIGINT"),
    ),
    "fact": (
        ("entity_id", "VARCHAR"), ("field", "VARCHAR"), ("value_json", "VARCHAR"),
        ("valid_from", "BIGINT"), ("valid_to", "BIGINT"), ("observed_at", "BIGINT"),
        ("provenance", "VARCHAR"), ("confidence", "FLOAT"), ("source", "VARCHAR"),
        ("event_id", "VARCHAR"),
    ),
    "edge": (
        ("src", "VARCHAR"), ("pred", "VARCHAR"), ("dst", "VARCHAR"), ("valid_from", "BIGINT"),
        ("valid_to", "BIGINT"), ("observed_at", "BIGINT"), ("provenance", "VARCHAR"),
        ("confidence", "FLOAT"), ("source", "VARCHAR"), ("event_id", "VARCHAR"),
    ),
    "change_event": (
        ("id", "VARCHAR"), ("ts", "BIGINT"), ("observed_at", "BIGINT"), ("type", "VARCHAR"),
        ("actor", "VARCHAR"), ("actor_kind", "VARCHAR"), ("source", "VARCHAR"), ("pr", "VARCHAR"),
        ("repo", "VARCHAR"), ("commit", "VARCHAR"), ("summary", "VARCHAR"),
    ),
    "change_target": (("event_id", "VARCHAR"), ("entity_id", "VARCHAR"), ("role", "VARCHAR")),
    "change_diff": (
        ("event_id", "VARCHAR"), ("entity_id", "VARCHAR"), ("field", "VARCHAR"),
        ("old_json", "VARCHAR"), ("new_json", "VARCHAR"), ("redacted", "BOOLEAN"),
    ),
    "log": (("id", "BIGINT"), ("ts", "BIGINT"), ("template_id", "INTEGER"), ("msg", "VARCHAR")),
    "log_template": (
        ("id", "INTEGER"), ("entity_id", "VARCHAR"), ("level", "VARCHAR"), ("template", "VARCHAR"),
    ),
    "metric_series": (
        ("id", "VARCHAR"), ("entity_id", "VARCHAR"), ("name", "VARCHAR"), ("unit", "VARCHAR"),
    ),
    "metric_chunk": (
        ("series_id", "VARCHAR"), ("t0", "BIGINT"), ("step_s", "INTEGER"), ("first", "BIGINT"),
        ("points", "INTEGER"),
    ),
    "metric_value": (("v", "FLOAT"),),
    "alert": (
        ("id", "VARCHAR"), ("ts", "BIGINT"), ("rule", "VARCHAR"), ("entity_id", "VARCHAR"),
        ("severity", "VARCHAR"), ("text", "VARCHAR"), ("state", "VARCHAR"),
    ),
    "data_gap": (
        ("source", "VARCHAR"), ("entity_id", "VARCHAR"), ("since", "BIGINT"), ("until", "BIGINT"),
        ("note", "VARCHAR"),
    ),
}  # fmt: skip
"""Column order and DuckDB types. ``runtime`` change events carry pod and node lifecycle.

A line's entity and level are its template's. A chunk is the ``points`` values of ``metric_value``
from row ``first`` (0 is the first row), ``step_s`` apart from ``t0`` on; a gap is NULL.
"""

IN_DATABASE = tuple(name for name in TABLES if name != "metric_value")
"""Tables that are asked in SQL; metric values are used as one array."""

BLOCK_TABLES = ("log", "log_template", "metric_chunk", "metric_value")
"""Tables that are filled from the blocks of a :class:`WorldTables`, not from its columns."""

OPEN_END = 2**62
"""``valid_to`` of a fact or edge that still holds."""

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class LogBlock:
    """Many log lines without a Python string each.

    Line *i* is ``templates[template[i]]`` with ``{0}`` and ``{1}`` replaced by ``arg0[i]`` and
    ``arg1[i]``, at ``ts[i]``, of the template's entity (``template_entity``) and level
    (``template_level``).
    """

    ts: np.ndarray[Any, np.dtype[np.int64]]
    template: np.ndarray[Any, np.dtype[np.int32]]
    arg0: np.ndarray[Any, np.dtype[np.int64]]
    arg1: np.ndarray[Any, np.dtype[np.int64]]
    templates: Sequence[str]
    template_entity: Sequence[str]
    template_level: Sequence[str]


@dataclass(frozen=True, slots=True)
class MetricBlock:
    """Equal-length series: row *i* of ``values`` belongs to ``series_ids[i]``, from ``t0``."""

    series_ids: Sequence[str]
    t0: int
    step_s: int
    values: np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True, slots=True)
class WorldTables:
    """A world in memory, ready to be written.

    ``columns`` holds every table of ``TABLES`` but those of ``BLOCK_TABLES``, column-wise;
    ``logs`` and ``metrics`` hold those as blocks; ``lines`` are single log lines
    (``ts, entity_id, level, msg``), e.g. the symptom's. ``now`` is when the alert fired.
    With a ``spool`` all lines and values are there, and none in the blocks.
    """

    columns: Mapping[str, Columns]
    logs: Sequence[LogBlock] = ()
    lines: Sequence[tuple[int, str, str, str]] = ()
    metrics: Sequence[MetricBlock] = ()
    now: int = 0
    start: int = 0
    meta: Mapping[str, str] = field(default_factory=dict)
    spool: Spool | None = None
