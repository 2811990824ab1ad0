"""The tools as a model sees them: name, one paragraph, arguments.

Descriptions say what a tool returns, never how to investigate: that is the brain's part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heldout.graph.ontology import KINDS, PREDICATES
from heldout.graph.schema import CHANGE_TYPES, LEVELS
from heldout.graph.tools.arguments import (
    Argument,
    around,
    choice,
    choices,
    integer,
    since,
    step,
    text,
    texts,
    until,
)
from heldout.graph.tools.page import DEFAULT_ROWS, MAX_ROWS
from heldout.interface import ToolSpec

SUBMIT = "submit_diagnosis"
_TIME = "ISO 8601 time in UTC, such as 2026-03-04T12:00:00Z"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool; ``paged`` tools also take ``limit`` and ``cursor``."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    paged: bool = True

    @property
    def all_arguments(self) -> tuple[Argument, ...]:
        """The tool's own arguments and those of paging."""
        return (*self.arguments, *(_PAGING if self.paged else ()))

    def spec(self) -> ToolSpec:
        """The tool for the wire."""
        return ToolSpec(self.name, self.description, _schema(self.all_arguments))


def _schema(arguments: Sequence[Argument]) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": {argument.name: dict(argument.schema) for argument in arguments},
        "required": [argument.name for argument in arguments if argument.required],
        "additionalProperties": False,
    }


_PAGING = (
    integer("limit", f"Rows per page, {DEFAULT_ROWS} when left out.", 1, MAX_ROWS, most=10_000),
    text("cursor", "Continues an earlier answer of the same query from where it was cut."),
)
_ENTITY = "Id of an entity."
_SINCE = since("since", f"Start of the window, {_TIME}.", required=True)
_UNTIL = until("until", f"End of the window, inclusive, {_TIME}.", required=True)
_AS_OF = until("as_of", f"State at this time; now when left out. {_TIME}.")

TOOLS: tuple[Tool, ...] = (
    Tool(
        "search_entities",
        "Find entities by name, id or external id, exact or similar, best match first. An empty "
        "query lists everything that the filters leave.",
        (
            text("query", "Name or part of a name.", required=True),
            choices("kinds", "Only these kinds, such as Service, Deployment or ConfigMap.", KINDS),
            text("cluster", "Only this cluster."),
        ),
    ),
    Tool(
        "get_entity",
        "One entity with its fields: value, since when it holds, and who said so.",
        (
            text("id", _ENTITY, required=True),
            texts("fields", "Only these fields."),
            _AS_OF,
        ),
    ),
    Tool(
        "get_neighbors",
        "Entities connected to an entity, nearest first. Direction 'out' follows edges from the "
        "entity, 'in' edges to it. Predicates: " + ", ".join(PREDICATES) + ".",
        (
            text("id", _ENTITY, required=True),
            choices("predicates", "Only these edges.", tuple(PREDICATES)),
            choice("direction", "Which way to follow edges; 'both' when left out.",
                   ("out", "in", "both")),
            integer("depth", "Hops, 1 when left out; 3 only together with predicates.", 1, 3),
            _AS_OF,
        ),
    ),
    Tool(
        "find_paths",
        "How two entities are connected, in either direction of the edges, shortest first; paths "
        "through shared owners, namespaces or repositories come last.",
        (
            text("src", "Id of the entity to start from.", required=True),
            text("dst", "Id of the entity to reach.", required=True),
            integer("max_len", "Longest path in hops, 5 when left out.", 1, 5),
        ),
    ),
    Tool(
        "list_changes",
        "Changes in a window, newest first, with the entities and fields that each touched. Pod "
        "and node lifecycle is of type runtime, pod or node. 'outside_window' counts the changes "
        "that match all other arguments at other times.",
        (
            texts("entity_ids", "Only changes of these entities."),
            around("around", "Only changes of this entity and of those within 'depth' hops."),
            _SINCE,
            _UNTIL,
            choices("types", f"Only these types: {', '.join(CHANGE_TYPES)}.", CHANGE_TYPES),
            text("actor", "Only changes by this person, bot or controller."),
            text("field", "Only changes of fields whose name contains this."),
        ),
    ),
    Tool(
        "get_change",
        "One change in full: who, when, through what, and each field's old and new value.",
        (text("id", "Id of a change.", required=True),),
    ),
    Tool(
        "get_field_history",
        "Every recorded change of one field of one entity, newest first.",
        (
            text("entity", _ENTITY, required=True),
            text("field", "Name of the field.", required=True),
            since("since", f"Only changes from then on, {_TIME}."),
        ),
    ),
    Tool(
        "compare_state",
        "Fields that differ between two times of one entity, or between two entities.",
        (
            text("entity", _ENTITY, required=True),
            since("t1", f"Left side's time, {_TIME}."),
            since("t2", f"Right side's time, {_TIME}; now when left out."),
            text("entity_b", "Id of another entity for the right side."),
        ),
    ),
    Tool(
        "search_logs",
        "Log lines, newest first. Mode 'substr' finds the query anywhere in a line and ignores "
        "case; 'regex' takes an RE2 expression. An empty query matches every line.",
        (
            text("query", "What to look for.", required=True),
            choice("mode", "'substr' when left out.", ("substr", "regex")),
            text("entity", "Only lines of this entity, by id."),
            choice("level", "Only lines of this level.", LEVELS),
            since("since", f"From then on, {_TIME}; all that is kept when left out."),
            until("until", f"Until then, {_TIME}; now when left out."),
        ),
    ),
    Tool(
        "log_patterns",
        "Patterns of log lines (numbers masked as <*>) in a window, counted against a baseline, "
        "most anomalous first. Without a baseline it is the time of equal length just before.",
        (
            text("entity", "Only lines of this entity, by id."),
            _SINCE,
            _UNTIL,
            since("baseline_since", f"Start of the baseline, {_TIME}."),
            until("baseline_until", f"End of the baseline, {_TIME}."),
        ),
    ),
    Tool(
        "query_metrics",
        "Metric series of an entity, averaged per step to at most 60 points, with minimum, "
        "maximum, mean and the time of the first lasting change of level in the window.",
        (
            text("entity", _ENTITY, required=True),
            texts("names", "Only these metrics."),
            _SINCE,
            _UNTIL,
            step("step", "Seconds per point; widened where it would give more than 60 points."),
        ),
    ),
    Tool(
        "list_alerts",
        "Alerts that fired in a window, newest first.",
        (_SINCE, _UNTIL, text("entity", "Only alerts of this entity, by id.")),
    ),
    Tool(
        "check_health",
        "Findings of deterministic checks of the present specs and states, without logs, metrics "
        "or history. An empty answer means that no check found anything.",
        (text("scope", "Id of an entity, name of a cluster, or 'all' (when left out)."),),
    ),
    Tool(
        SUBMIT,
        "Submit the diagnosis and end the investigation. It can be submitted once.",
        (
            text(
                "root_cause_entity",
                "Id of the entity whose state is the root cause, or 'none'.",
                required=True,
            ),
            text(
                "root_cause_change",
                "Id of the change that caused it, or 'none' where no change did.",
                required=True,
            ),
            text("mechanism", "How the cause leads to the symptom.", required=True),
            text("trigger", "What made it show at that time."),
            texts("affected", "Ids or names of what is affected."),
            texts("evidence_ids", "Ids of the rows that prove it."),
            texts("ruled_out", "Ids or names of what was suspected and is innocent."),
            texts("unavailable_sources", "Sources that could not be consulted."),
            text("recommended_fix", "What to do."),
            texts(
                "alternatives",
                "Ids of up to 4 entities suspected next, likeliest first; not part of the verdict.",
            ),
        ),
        paged=False,
    ),
)  # fmt: skip
"""All tools in the order in which a model is shown them; the last one ends an investigation."""

BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}


def tool_specs() -> tuple[ToolSpec, ...]:
    """The thirteen tools for looking and ``submit_diagnosis``, in stable order."""
    return tuple(tool.spec() for tool in TOOLS)
