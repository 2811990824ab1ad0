"""What there is to leak, read from built worlds and their truths and from nothing else.

The gate's own inventory is not asked: what it failed to take up must be missed here too.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.recall.disguises import UNITS, without_names, words
from heldout.graph import read_tables
from heldout.truth import Truth

KINDS = (
    "Service", "K8sService", "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Function",
    "Repository", "Pipeline", "Namespace", "Cluster", "NodeGroup", "DbInstance", "Cache", "Queue",
    "KafkaTopic", "ConsumerGroup", "Bucket", "ConfigMap", "Secret", "FeatureFlag", "IamRole",
    "IamPolicy", "ServiceAccount", "SecurityGroup", "LoadBalancer", "Ingress", "Certificate",
    "HelmRelease", "GitOpsApplication", "IacStack", "Team", "Person", "Vpc", "Webhook",
)  # fmt: skip
"""Whose names people write down."""
_TABLES = {
    "entity": ("id", "kind", "name"), "change_event": ("id", "actor", "summary"),
    "change_diff": ("event_id", "field", "old_json", "new_json"), "log_template": ("template",),
}  # fmt: skip
_VALUE = re.compile(r'"?(\d+(?:\.\d+)?) ?(ms|s|m|h|Mi|Gi|%|min)?"?')
_KEY_UNITS = {"ms": "ms", "millis": "ms", "s": "s", "sec": "s", "seconds": "s", "minutes": "min",
              "percent": "%", "mb": "Mi", "mib": "Mi"}  # fmt: skip
_GRAMMAR_WORDS = (
    "the and for with from into onto over under than then that this these those its are was were "
    "been being does did done have has had not can could may might must will would should which "
    "who whom whose what when where why how there here their they them his her our your any each "
    "every both either such same own just only very more most less least also after before while "
    "during until since per via because all out but nor yet off"
)
_GRAMMAR = frozenset(_GRAMMAR_WORDS.split())
SHORTEST_RUN = 6
"""Telling words that a copied piece of a sentence must have to count as one."""
EVERYDAY = 0.1
"""What more than two incidents and this share of them have is nobody's own."""


@dataclass(frozen=True)
class Value:
    """A number that a cause set or replaced: ``key`` is the field's name in plain words."""

    number: float
    unit: str
    key: str
    raw: str

    @property
    def anybodys(self) -> bool:
        """A small number of a field whose name is one word: ``percent`` 5, ``replicas`` 3."""
        return self.number < 20 and len([w for w in self.key.split() if len(w) > 2]) < 2


@dataclass
class Facts:
    """What many incidents hold: names by kind, values, and sentences by where they stand."""

    names: dict[str, list[str]] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)
    sentences: dict[str, list[str]] = field(default_factory=dict)
    spread: Counter[str] = field(default_factory=Counter)
    """In how many incidents a piece stands once its names are taken out."""
    incidents: int = 0

    def own(self, piece: str) -> bool:
        """A piece without names that few incidents have: not what a library writes everywhere."""
        return self.spread[piece] <= max(2, EVERYDAY * self.incidents)

    def drawn(self, draw: random.Random) -> list[str]:
        """All names in a drawn order that goes round the kinds, so that a rare kind counts too."""
        pools = [draw.sample(names, len(names)) for _, names in sorted(self.names.items()) if names]
        return [
            pool[at] for at in range(max(map(len, pools), default=0)) for pool in pools
            if at < len(pool)
        ]  # fmt: skip


def read_facts(incidents: Iterable[tuple[Path, str, Truth]]) -> Facts:
    """From each incident's world folder, alert and truth."""
    found = Facts()
    seen: set[str] = set()
    for world, alert, truth in incidents:
        rows = read_tables(world, _TABLES)
        for row in rows["entity"]:
            name = str(row["name"])
            if row["kind"] in KINDS and name not in seen and _written(name):
                seen.add(name)
                found.names.setdefault(row["kind"], []).append(name)
        for row in rows["change_diff"]:
            if row["event_id"] == truth.culprit_change and row["field"] == truth.culprit_field:
                found.values.extend(
                    value
                    for side in ("old_json", "new_json")
                    if (value := _value(row["field"], row[side] or ""))
                )
        bare: set[str] = set()
        found.incidents += 1
        summaries = [str(row["summary"]) for row in rows["change_event"]]
        templates = [str(row["template"]) for row in rows["log_template"]]
        for source, texts in (
            ("truth", (truth.mechanism, truth.trigger, truth.recommended_fix, *truth.chain)),
            ("alert", (alert.partition("\n\n")[2],)),
            ("title of a change", sorted(set(summaries))),
            ("line of a log", templates),
        ):
            held = found.sentences.setdefault(source, [])
            told = [run for text in texts for run in runs(text)]
            held.extend(told)
            bare.update(map(without_names, told))
        found.spread.update(bare)
    return found


def _written(name: str) -> bool:
    """A name that a person could write: not a path, an address, or something with a counter."""
    return bool(re.fullmatch(r"[a-z]+(?:[-_.][a-z]+){0,3}", name)) and len(name) >= 6


def _value(name: str, raw: str) -> Value | None:
    match = _VALUE.fullmatch(raw)
    key = " ".join(
        w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", re.split(r"[./]", name)[-1])
    )
    if not match or not key or float(match[1]) == 0:
        return None
    unit = match[2] or _KEY_UNITS.get(words(key)[-1], "")
    unit = "" if unit == "m" and "cpu" not in name.lower() else unit
    return Value(float(match[1]), unit if unit in UNITS else "", key, raw.strip('"'))


def runs(text: str) -> list[str]:
    """Pieces of a text's sentences with enough telling words, numbers and ids left aside."""
    found = []
    for sentence in re.split(r"(?<=[.!?;])\s+|\n", text):
        told = sentence.split()
        telling = [at for at, word in enumerate(told) if _tells(word)]
        for first in range(0, max(0, len(telling) - SHORTEST_RUN + 1), SHORTEST_RUN):
            last = telling[first + SHORTEST_RUN - 1]
            found.append(" ".join(told[telling[first] : last + 1]))
    return found


def _tells(word: str) -> bool:
    bare = word.strip(".,;:!?()'\"").lower()
    return len(bare) > 2 and bare.isalpha() and bare not in _GRAMMAR


def sampled(items: Sequence[str], count: int, seed: int) -> list[str]:
    """``count`` different ones, or all of them in a drawn order."""
    distinct = sorted(set(items))
    return random.Random(seed).sample(distinct, min(count, len(distinct)))
