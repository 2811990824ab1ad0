"""The series of a world as PromQL sees them: labels, matchers, vectors of values.

Times are microseconds; a missing value is NaN and is left out of answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np

from heldout.graph.ontology import near
from heldout.graph.series import name_and_labels
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Times = np.ndarray[Any, np.dtype[np.int64]]
Labels = Mapping[str, str]

NAME = "__name__"


@dataclass(frozen=True, slots=True)
class Vector:
    """Series side by side: labels and, per time, values; ``ids`` are empty once combined."""

    labels: Sequence[Labels]
    values: Numbers
    ids: Sequence[str]

    def like(self, values: Numbers, *, named: bool = False) -> Vector:
        """The same series with other values; most operations take the metric's name away."""
        labels = self.labels if named else [without_name(one) for one in self.labels]
        return Vector(labels, values, self.ids)


Value = Vector | Numbers


def without_name(labels: Labels) -> dict[str, str]:
    """The labels but for the metric's name."""
    return {key: value for key, value in labels.items() if key != NAME}


def refuse(what: str) -> Refusal:
    """The refusal of what the subset leaves out."""
    return Refusal("unavailable", f"{what} is not offered by this server")


@dataclass(slots=True)
class Catalogue:
    """Every series of a world with its labels."""

    reader: Reader
    series: list[tuple[str, dict[str, str], str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = self.reader.rows(
            "select id, name, unit, entity_id from metric_series order by name, entity_id, id"
        )
        for key, name, unit, owner in rows:
            one = self.reader.graph.entities.get(owner)
            metric, own = name_and_labels(name)
            labels = {**own, NAME: metric, "entity": owner}
            if one is not None:
                cluster, namespace = self.reader.graph.namespace(one)
                labels |= {"name": one.name, "kind": one.kind, "cluster": cluster}
                labels |= {"namespace": namespace} if namespace else {}
            self.series.append((key, {k: v for k, v in labels.items() if v}, unit))

    def names(self) -> list[str]:
        """The metrics, each once."""
        return sorted({labels[NAME] for _, labels, _ in self.series})

    def select(self, selector: Any) -> list[tuple[str, dict[str, str], str]]:
        """The series that a selector picks; an unknown metric or label is refused."""
        if selector.matchers.or_matchers:
            raise refuse("'or' between matchers")
        if selector.name and selector.name not in self.names():
            raise Refusal(
                "bad_argument",
                f"no metric is called '{selector.name[:80]}'",
                near(selector.name, self.names(), limit=5) or self.names()[:8],
            )
        found = [one for one in self.series if selector.name in (None, "", one[1][NAME])]
        for matcher in selector.matchers.matchers:
            found = self._matched(found, matcher)
        return found

    def _matched(self, found: list[Any], matcher: Any) -> list[Any]:
        known = {key for _, labels, _ in self.series for key in labels}
        if known and matcher.name not in known:
            raise Refusal(
                "bad_argument",
                f"no series has a label '{matcher.name[:60]}'",
                near(matcher.name, known) or sorted(known),
            )
        kind = str(matcher.op).rsplit(".", 1)[-1]
        values = [labels.get(matcher.name, "") for _, labels, _ in found]
        if kind in ("Re", "NotRe"):
            hits = self._regex(values, matcher.value)
        else:
            hits = [value == matcher.value for value in values]
        negative = kind.startswith("Not")
        return [one for one, hit in zip(found, hits, strict=True) if hit != negative]

    def _regex(self, values: list[str], pattern: str) -> list[bool]:
        if not values:
            return []
        try:
            rows = self.reader.rows(
                "select [regexp_full_match(value, $pattern) for value in $values]",
                {"pattern": pattern, "values": values},
            )
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise Refusal("bad_argument", f"the regex '{pattern[:60]}' is not valid") from error
        return [bool(one) for one in rows[0][0]]
