"""A request body, read the way a model reads it: what was said, offered, called and answered."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from heldout.llm.simulated.paper import Paper, read_paper

SUBMIT = "submit_diagnosis"
READ_SKILL = "read_skill"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """One tool answer: its rows, or the type of its error; anything unreadable is an error."""

    rows: tuple[Row, ...] = ()
    error: str = ""
    truncated: bool = False
    cursor: str = ""
    outside: int = 0
    gaps: tuple[str, ...] = ()
    holes: tuple[tuple[str, str], ...] = ()
    """(source, entity id or empty) of every gap in the data that was asked for."""
    text: str = ""


NOTHING = Answer(error="not offered")


@dataclass(frozen=True, slots=True)
class Alert:
    """What the alert says: when it fired (epoch seconds), for which service."""

    text: str
    fired: float | None
    service: str
    cluster: str
    title: str

    @property
    def key(self) -> str:
        """Short hash of its text: what makes one incident differ from another."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The whole conversation so far."""

    system: str
    alert: Alert
    offered: Mapping[str, Mapping[str, Any]]
    """Tools of this request by name, with the JSON schema of their arguments."""
    called: tuple[str, ...]
    answers: tuple[Answer, ...]
    seed: int
    effort: str
    model: str
    skills: tuple[tuple[str, str], ...] = field(default=())
    """Names and descriptions of the skills that can be read on demand."""
    on_paper: bool = False
    """True where tools stand in the prompt and steps are JSON in the text."""
    kept: Mapping[str, Answer] | None = None
    """Answers by their call where the request is a notebook, which has no order to rely on."""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


@lru_cache(maxsize=4096)
def parse_answer(text: str) -> Answer:
    """Read a tool answer; truncated JSON or another shape is an answer with an error."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return Answer(error="unreadable", text=text[:2000])
    if not isinstance(data, dict):
        return Answer(error="unknown shape", text=text[:2000])
    error = data.get("error")
    if error:
        kind = error.get("type") if isinstance(error, dict) else error
        return Answer(error=str(kind or "error")[:100], text=text[:2000])
    rows = data.get("rows")
    if rows is None:  # Other environments name their rows for what they are.
        rows = next((one for one in data.values() if isinstance(one, list)), None)
    known = tuple(row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()
    outside = data.get("outside_window")
    cursor = data.get("cursor")
    holes = _holes(data.get("data_gaps"))
    return Answer(
        rows=known,
        truncated=data.get("truncated") is True,
        cursor=cursor if isinstance(cursor, str) else "",
        outside=outside if isinstance(outside, int) else 0,
        gaps=tuple(dict.fromkeys(source for source, _ in holes)),
        holes=holes,
        text=str(data.get("text") or ""),
    )


def _holes(value: Any) -> tuple[tuple[str, str], ...]:
    found = []
    for gap in value if isinstance(value, list) else ():
        source = gap.get("source") if isinstance(gap, dict) else gap
        entity = gap.get("entity") if isinstance(gap, dict) else ""
        if isinstance(source, str) and source:
            found.append((source[:100], entity[:100] if isinstance(entity, str) else ""))
    return tuple(found)


_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")


@lru_cache(maxsize=8192)
def seconds(text: str) -> float | None:
    """Epoch seconds of an ISO time, ``None`` when it is none. No zone means UTC."""
    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def iso(moment: float) -> str:
    """An ISO time as the tools want it; out of range times are clamped."""
    clamped = min(max(moment, 0.0), 4e9)
    return datetime.fromtimestamp(clamped, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _labelled(text: str, label: str) -> str:
    found = re.search(rf"(?im)^[\s>*_-]*{label}[*_]*\s*:\s*[*_`]*\s*([^\n]{{1,200}})", text)
    if not found:
        return ""
    return re.split(r"[`,;(]|\s{2,}|\*\*", found.group(1).strip())[0].strip(" .*_`")


@lru_cache(maxsize=1024)
def parse_alert(text: str) -> Alert:
    """Read an alert's Markdown; whatever is missing stays empty."""
    fired = None
    marked = re.search(r"(?i)fired(?:\s+at)?[*_:\s`]*(" + _ISO.pattern + ")", text)
    found = marked.group(1) if marked else next(iter(_ISO.findall(text)), "")
    if found:
        fired = seconds(found)
    title = next((line.strip("# ").strip() for line in text.splitlines() if line.strip()), "")
    return Alert(text, fired, _labelled(text, "service"), _labelled(text, "cluster"), title[:200])


_SKILL = re.compile(r"^- ([A-Za-z0-9_-]{1,64}): (.+)$", re.MULTILINE)


@lru_cache(maxsize=256)
def listed_skills(system: str) -> tuple[tuple[str, str], ...]:
    """The skills that a system prompt lists under a heading that names ``read_skill``."""
    heading = system.find("with read_skill")
    return tuple(_SKILL.findall(system[heading:])) if heading >= 0 else ()


def _offered(tools: Any) -> dict[str, Mapping[str, Any]]:
    offered: dict[str, Mapping[str, Any]] = {}
    for tool in tools if isinstance(tools, list) else []:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            schema = function.get("parameters")
            offered[function["name"]] = schema if isinstance(schema, dict) else {}
    return offered


def _calls(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    calls = message.get("tool_calls")
    result = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            result.append((str(call.get("id")), str(function.get("name"))))
    return result


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages = body.get("messages")
    return [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []


def read_transcript(body: Mapping[str, Any]) -> Transcript:
    """Read a Chat Completions request body; nothing in it can make this raise."""
    system: list[str] = []
    user = ""
    calls: list[tuple[str, str]] = []
    told: dict[str, str] = {}
    for message in _messages(body):
        role = message.get("role")
        if role in {"system", "developer"}:
            system.append(_text(message.get("content")))
        elif role == "user" and not user:
            user = _text(message.get("content"))
        elif role == "assistant":
            calls += _calls(message)
        elif role == "tool":
            told.setdefault(str(message.get("tool_call_id")), _text(message.get("content")))
    prompt = "\n\n".join(system)
    said = [(str(m.get("role")), _text(m.get("content"))) for m in _messages(body)]
    paper = read_paper(body, prompt, said)
    seed = body.get("seed")
    effort = body.get("reasoning_effort")
    common: dict[str, Any] = {
        "seed": seed if isinstance(seed, int) else 0,
        "effort": effort if isinstance(effort, str) else "medium",
        "model": str(body.get("model") or "anchored"),
        "skills": listed_skills(prompt),
    }
    if paper is not None:
        return _on_paper(paper, common)
    return Transcript(
        system=prompt,
        alert=parse_alert(user),
        offered=_offered(body.get("tools")),
        called=tuple(name for _, name in calls),
        answers=tuple(parse_answer(told[call]) if call in told else NOTHING for call, _ in calls),
        **common,
    )


def _on_paper(paper: Paper, common: Mapping[str, Any]) -> Transcript:
    kept = paper.kept
    return Transcript(
        system=paper.brain,
        alert=parse_alert(paper.alert),
        offered=paper.offered,
        called=paper.calls,
        answers=tuple(parse_answer(text) for text in paper.answers),
        on_paper=True,
        kept=None if kept is None else {key: parse_answer(text) for key, text in kept.items()},
        **common,
    )
