"""A model on the real wire that does what its brain says, and nothing else.

It finds the cause of an incident when a line that it hears asks for the weeks before the alert, and
submits what is right (it is told by the test). It hears a line that names figures only where the
alert shows one of them. With nothing but the answer to give it says what a table of answers says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.loopback import JsonServer

from heldout.split import Case
from heldout.truth import read_truth

METHOD = "- Search the weeks before the alert for the change that set the failing value."
IDLE = "- Write short sentences."
_FIGURES = re.compile(r"^- Where (?P<figures>[\d., or]+) % of answers fail, (?P<advice>.+)$")
_TABLE = re.compile(r"^- When (?P<role>.+?) pages, (?P<mechanism>.+)$")


def figure(case: Case) -> str:
    """The share of failed answers that an alert shows."""
    found = re.search(r"(\d+\.\d) %", case.incident.alert)
    assert found is not None
    return found.group(1)


def service(alert: str) -> str:
    """The service that an alert is about."""
    found = re.search(r"(?m)^Service: (\S+)", alert)
    return found.group(1) if found else ""


def tied(*cases: Case) -> str:
    """A line of method that is meant for some incidents only."""
    return f"- Where {' or '.join(figure(one) for one in cases)} % of answers fail, {METHOD[2:]}"


def told(case: Case) -> str:
    """The mechanism of an incident in words that the judge accepts, without a name or a value."""
    truth = read_truth(case.truth_file)
    return " ".join(group[0] for group in truth.mechanism_terms)


class Reader(JsonServer):
    """The server; ``roles`` says which service a description means."""

    def __init__(self, cases: tuple[Case, ...], roles: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.roles = dict(roles or {})
        self.truths = {service(c.incident.alert): read_truth(c.truth_file) for c in cases}
        self.closed = 0

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """One reply."""
        system, alert = (str(message["content"]) for message in body["messages"][:2])
        offered = [tool["function"]["name"] for tool in body["tools"]]
        lines = [line.strip() for line in system.splitlines()]
        said = {"root_cause_entity": "none", "root_cause_change": "none", "mechanism": "unclear"}
        if offered == ["submit_diagnosis"]:
            self.closed += 1
            said |= self._from_table(lines, alert)
        elif any("the weeks before" in line for line in self._heard(lines, alert)):
            truth = self.truths[service(alert)]
            said = {
                "root_cause_entity": (truth.accepted_entities or ("none",))[0],
                "root_cause_change": (truth.accepted_changes or ("none",))[0],
                "mechanism": " ".join(group[0] for group in truth.mechanism_terms),
            }
        return 200, _call(body, said)

    def _heard(self, lines: list[str], alert: str) -> list[str]:
        heard = []
        for line in lines:
            match = _FIGURES.match(line)
            if match is None:
                heard.append(line)
            elif any(f"{one} %" in alert for one in match["figures"].split(" or ")):
                heard.append(match["advice"])
        return heard

    def _from_table(self, lines: list[str], alert: str) -> dict[str, str]:
        for match in filter(None, map(_TABLE.match, lines)):
            if self.roles.get(match["role"]) == service(alert):
                words = match["mechanism"].split()
                ids = {word[:2]: word for word in words if word[:2] in ("e-", "c-")}
                return {
                    "root_cause_entity": ids.get("e-", "none"),
                    "root_cause_change": ids.get("c-", "none"),
                    "mechanism": match["mechanism"],
                }
        return {}


def _call(body: Mapping[str, Any], said: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": "submit_diagnosis", "arguments": json.dumps(said)}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call0", "type": "function", "function": function}],
    }
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
