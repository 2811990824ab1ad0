"""The findings about one state, to read or to hand on: text, JSON, and SARIF 2.1.0."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from heldout import __version__
from heldout.graph.health import SEVERITIES, Finding, described
from heldout.graph.snapshot import Snapshot

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
DECLARED_ONLY = "declared only: nothing was observed, the states of pods are derived"
_LEVELS = {"critical": "error", "warning": "warning"}


@dataclass(frozen=True, slots=True)
class Scorecard:
    """What the checks say of ``source`` as it stood at the snapshot's now.

    ``unread`` are files of it that could not be read, with why. ``declared_only`` says that nothing
    in it was observed, so that the states of pods are what the declarations would make of them.
    """

    source: str
    state: Snapshot
    findings: Sequence[Finding]
    unread: Sequence[str] = ()
    declared_only: bool = False

    @property
    def counts(self) -> Counter[str]:
        """How many findings of each severity."""
        return Counter(one.severity for one in self.findings)

    @property
    def unasked(self) -> dict[str, list[str]]:
        """Checks that were not run, each with the fields that no fact names."""
        lacking = {
            check.name: [field for field in check.needs if not self.state.tells(field)]
            for check, _ in described()
        }
        return {name: fields for name, fields in lacking.items() if fields}

    def text(self) -> str:
        """For people: findings worst first, then what was not looked at."""
        lines = [
            f"health of {self.source} at {_iso(self.state.now)}: "
            f"{len(self.state.entities)} entities, "
            f"{len(described()) - len(self.unasked)} of {len(described())} checks run",
            "",
        ]
        for severity in SEVERITIES:
            for one in self.findings:
                if one.severity == severity:
                    lines += [
                        f"{severity:8}  {one.check}  {self._where(one)}",
                        f"          {one.text}",
                    ]
        found = ", ".join(f"{self.counts[name]} {name}" for name in SEVERITIES)
        lines += [found if self.findings else "nothing found"]
        if self.unasked:
            names = ", ".join(sorted(self.unasked))
            lines += ["", f"not run, because no fact tells what they read: {names}"]
        if self.declared_only:
            lines += ["", DECLARED_ONLY]
        lines += [f"not read: {one}" for one in self.unread]
        return "\n".join(lines)

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "source": self.source,
            "at": _iso(self.state.now),
            "entities": len(self.state.entities),
            "counts": {name: self.counts[name] for name in SEVERITIES},
            "findings": [
                {
                    "check": one.check,
                    "severity": one.severity,
                    "entity": one.entity,
                    **self._names(one),
                    "finding": one.text,
                    "fields": list(one.fields),
                }
                for one in self.findings
            ],
            "declared_only": self.declared_only,
            "not_run": self.unasked,
            "not_read": list(self.unread),
        }

    def sarif(self) -> dict[str, Any]:
        """As a SARIF 2.1.0 log with one run; entities are logical locations."""
        names = [check.name for check, _ in described()]
        rules = [
            {
                "id": check.name,
                "shortDescription": {"text": sentence},
                "help": {"text": f"Silent when: {check.silent_when}."},
            }
            for check, sentence in described()
        ]
        notes = [{"level": "warning", "message": {"text": f"not read: {one}"}}
                 for one in self.unread]  # fmt: skip
        if self.declared_only:
            notes.append({"level": "warning", "message": {"text": DECLARED_ONLY}})
        notes += [
            {"level": "note", "message": {"text": f"{name} was not run: no {', '.join(fields)}"}}
            for name, fields in self.unasked.items()
        ]
        invocation = {"executionSuccessful": True, "toolExecutionNotifications": notes}
        return {
            "$schema": SARIF_SCHEMA,
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {"driver": {"name": "heldout", "version": __version__, "rules": rules}},
                    "invocations": [invocation],
                    "results": [self._result(one, names) for one in self.findings],
                }
            ],
        }

    def _result(self, one: Finding, names: Sequence[str]) -> dict[str, Any]:
        where, known = self._where(one), self._names(one)
        # Not the text, which may tell of a pod that has another name tomorrow.
        alike = [other for other in self.findings if other[:2] == one[:2]]
        parts = (one.check, *known.values(), str(alike.index(one)))
        mark = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
        return {
            "ruleId": one.check,
            "ruleIndex": names.index(one.check),
            "level": _LEVELS[one.severity],
            "message": {"text": f"{where}: {one.text}"},
            "locations": [
                {
                    "logicalLocations": [
                        {"name": known["name"], "fullyQualifiedName": where, "kind": "resource"}
                    ]
                }
            ],
            "partialFingerprints": {"heldoutHealth/v1": mark},
        }

    def _names(self, one: Finding) -> dict[str, str]:
        entity = self.state.entities[one.entity]
        cluster, namespace = self.state.namespace(entity)
        return {
            "kind": entity.kind,
            "name": entity.name,
            "namespace": namespace,
            "cluster": cluster,
        }

    def _where(self, one: Finding) -> str:
        names = self._names(one)
        parts = (names["cluster"], names["namespace"], names["kind"], names["name"])
        return "/".join(part for part in parts if part)


def rendered(card: Scorecard, form: str) -> str:
    """A scorecard as ``text``, ``json`` or ``sarif``."""
    if form == "text":
        return card.text()
    return json.dumps(card.plain() if form == "json" else card.sarif(), indent=1)


def _iso(moment: int) -> str:
    return datetime.fromtimestamp(moment // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
