"""How the simulated proposer writes edits from the diagnoses of a cluster, and revises them."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import numpy as np

from heldout.llm.simulated.proposer_phrases import (
    ADVICE,
    DAYS,
    EXPECTED,
    FEARED,
    GIVING_UP,
    OVER_CORRECTION,
    PADDING,
)

LEAKS = 0.2
OVER_CORRECTS = 0.12
PADS = 0.12
"""How often a candidate has each flaw."""

_FILE = re.compile(r"^### FILE (\S+)$", re.MULTILINE)
_WORD = re.compile(r"[a-z]{3,}")
_DAYS_IN_LINE = re.compile(r"\b(\d{1,3})\s+days?\b")


def write_edits(sections: dict[str, str], draw: np.random.Generator) -> list[dict[str, Any]]:
    """Candidates for one cluster, from narrow to broad; other diagnoses give other edits."""
    diagnoses = _list(sections.get("diagnoses", ""))
    if not diagnoses:
        return []
    key = sections.get("cluster", "").partition(":")[0].strip()
    files = files_of(sections.get("brain", ""))
    target = sections.get("target_file", "method.md").split()[0]
    count = limit(sections.get("limits", ""), r"at most (\d+) candidates", 3)
    lines = limit(sections.get("limits", ""), r"most (\d+) added lines", 8)
    refused = _list(sections.get("rejected", ""))
    tally = Counter(str(b) for item in diagnoses for b in item.get("behaviours", []))
    broad = [
        name
        for name in sorted(tally, key=lambda item: (-tally[item], item))
        if name != key and name in ADVICE and tally[name] * 5 >= len(diagnoses) * 2
    ]
    plans = [[key, *broad], [key], [key, *broad[:2]]][:count]
    edits = [
        _candidate(plan, diagnoses, files, target, refused, draw)
        for plan in plans
        if any(name in ADVICE for name in plan)
    ]
    for edit in edits:
        _bound(edit, lines)
    return edits


def write_rules(sections: dict[str, str], draw: np.random.Generator) -> list[str]:
    """Sentences against one behaviour, as a small model is asked for; now and then one leaks."""
    key = sections.get("behaviour", "").partition(":")[0].strip()
    if key not in ADVICE:
        return []
    found = [{"found": text} for text in _texts(sections.get("failures", ""))]
    refused = _texts(sections.get("refused", ""))
    rules: list[str] = []
    for _ in range(limit(sections.get("count", ""), r"(\d+)", 3)):
        rules.append(_phrase(key, found, "", [*refused, *rules], draw))
    if draw.random() < LEAKS:
        rules.append(_leak(found, draw))
    return rules


def _texts(text: str) -> list[str]:
    said = leading_json(text)
    return [str(one) for one in said] if isinstance(said, list) else []


def _candidate(
    plan: list[str],
    diagnoses: list[dict[str, Any]],
    files: dict[str, str],
    target: str,
    refused: list[dict[str, Any]],
    draw: np.random.Generator,
) -> dict[str, Any]:
    said = "\n".join(files.values())
    texts = [str(item.get("text", "")) for item in refused]
    ops: list[dict[str, Any]] = []
    lines: list[str] = []
    for name in plan:
        if name not in ADVICE or (name != plan[0] and known(name, said)):
            continue
        line = _phrase(name, diagnoses, said, texts, draw)
        old = _weaker(name, line, files.get(target, ""))
        if old:
            ops.append({"file": target, "action": "replace", "anchor": old, "text": line})
        elif line:
            lines.append(line)
    lines += _flaws(diagnoses, draw)
    if lines:
        text = "\n".join(f"- {line}" for line in lines)
        ops.insert(0, {"file": target, "action": "append", "anchor": "", "text": text})
    return {
        "ops": ops,
        "reason": _reason(plan[0], diagnoses),
        "expected_effect": EXPECTED.get(plan[0], "") + ".",
        "feared_harm": FEARED.get(plan[0], "Little, beyond a longer prompt") + ".",
    }


def _phrase(
    name: str,
    diagnoses: list[dict[str, Any]],
    said: str,
    refused: list[str],
    draw: np.random.Generator,
) -> str:
    """One way to put a piece of advice: not one the brain has, not one that was refused."""
    ways = list(ADVICE[name])
    start = int(draw.integers(len(ways)))
    ways = ways[start:] + ways[:start]
    tried = "\n".join([said, *refused])
    fresh = [way for way in ways if not says(tried, way)]
    if not fresh and says(said, ways[0]):
        return "" if name != "short_history" else dated(ways[0], diagnoses, said, draw)
    way = (fresh or ways)[0]
    return dated(way, diagnoses, said, draw)


def dated(way: str, diagnoses: list[dict[str, Any]], said: str, draw: np.random.Generator) -> str:
    """A piece of advice with its number of days: more than was reached, and than the brain says."""
    if "{n}" not in way:
        return way
    reached = max((float(item.get("window_days", 0) or 0) for item in diagnoses), default=0.0)
    already = max((int(n) for n in _DAYS_IN_LINE.findall(said)), default=0)
    floor = max(reached, already)
    options = [word for days, word in DAYS if days > floor] or [DAYS[-1][1]]
    return way.replace("{n}", str(options[int(draw.integers(len(options)))]))


def _weaker(name: str, line: str, target: str) -> str:
    """The target file's line that says the same with fewer days, to be replaced."""
    if name != "short_history" or not line:
        return ""
    for old in target.splitlines():
        words = old.casefold()
        if (
            _DAYS_IN_LINE.search(old)
            and "change" in words
            and ("before" in words or "back" in words)
        ):
            return old.strip()
    return ""


def says(text: str, sentence: str) -> bool:
    """True if a line of the text shares most content words with the sentence."""
    wanted = set(_WORD.findall(sentence.replace("{n}", "").casefold()))
    for line in text.splitlines():
        words = set(_WORD.findall(line.casefold()))
        if words and len(wanted & words) >= 0.7 * len(wanted):
            return True
    return False


def known(name: str, said: str) -> bool:
    """True if the brain gives this piece of advice already, in one of the known wordings."""
    return any(says(said, way) for way in ADVICE[name])


_TOO_MUCH = ("forced_blame", "passed_trouble", "unproven")
"""Failures of those who named a cause where none was to be named."""


def _flaws(diagnoses: list[dict[str, Any]], draw: np.random.Generator) -> list[str]:
    """Lines that a careful writer would not add: a leak, an over-correction, padding."""
    leak, over, pad = draw.random(3)
    lines: list[str] = []
    if leak < LEAKS:
        lines.append(_leak(diagnoses, draw))
    if over < OVER_CORRECTS:
        quiet = any(item.get("primary") in _TOO_MUCH for item in diagnoses)
        lines.append(str(draw.choice(GIVING_UP if quiet else OVER_CORRECTION)))
    if pad < PADS:
        count = int(draw.integers(4, 9))
        lines += [PADDING[i] for i in sorted(draw.permutation(len(PADDING))[:count].tolist())]
    return lines


def _leak(diagnoses: list[dict[str, Any]], draw: np.random.Generator) -> str:
    """An example out of the evidence: a quoted mechanism where one is to be seen, else a fact."""
    quoted = [
        match.group(1)
        for item in diagnoses
        for match in re.finditer(r"\(([^()]{20,})\)", str(item.get("found", "")))
    ]
    phrases = [re.sub(r"<[^<>]*>", "it", text) for text in quoted]
    phrases = [text for text in phrases if len(_WORD.findall(text)) >= 5]
    if phrases:
        phrase = phrases[int(draw.integers(len(phrases)))]
        return f"For example, {phrase.strip(' .;,')}: look there first."
    hour, minute = int(draw.integers(24)), int(draw.integers(60))
    number = int(draw.integers(1000, 9999))
    return f"Remember the case of PR #{number}, applied at {hour:02d}:{minute:02d}."


def _reason(key: str, diagnoses: list[dict[str, Any]]) -> str:
    hit = sum(key in item.get("behaviours", []) for item in diagnoses)
    asked = Counter(str(q) for item in diagnoses for q in item.get("never_asked", []))
    question = min(asked, key=lambda item: (-asked[item], item), default="")
    tail = f" Most often unasked: {question}" if question else ""
    return f"{hit} of {len(diagnoses)} failures of the cluster show it.{tail}"


def revise_edit(sections: dict[str, str], draw: np.random.Generator) -> dict[str, Any]:
    """The refused draft without its marked lines; now and then only the first of them is dropped."""
    draft = leading_json(sections.get("draft", ""))
    draft = draft if isinstance(draft, dict) else {}
    marked = [str(item.get("line", "")).strip() for item in _list(sections.get("findings", ""))]
    marked = [line for line in marked if line]
    if len(marked) > 1 and draw.random() < 0.2:
        marked = marked[:1]
    ops: list[dict[str, Any]] = []
    for op in draft.get("ops", []):
        lines = str(op.get("text", "")).splitlines()
        kept = [line for line in lines if line.strip() not in marked]
        if kept or not lines:
            ops.append({**op, "text": "\n".join(kept)})
    if not ops:
        for op in draft.get("ops", []):
            text = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`|#?\d[\d:.,]*", "", str(op.get("text", "")))
            ops.append({**op, "text": text})
    return {"ops": ops, "reason": draft.get("reason", ""), "expected_effect": "", "feared_harm": ""}


def _bound(edit: dict[str, Any], lines: int) -> None:
    """Keep within the number of lines that was asked for, most of the time: padding overruns."""
    for op in edit["ops"]:
        if op["action"] == "append":
            op["text"] = "\n".join(op["text"].splitlines()[: lines + 6])


def files_of(text: str) -> dict[str, str]:
    """The brain's files out of a prompt, by name."""
    parts = _FILE.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=False))


def _list(text: str) -> list[dict[str, Any]]:
    data = leading_json(text)
    return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []


def leading_json(text: str) -> Any:
    """The JSON value at the start of a section, ``None`` where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text.strip())[0]
    except ValueError:
        return None


def limit(text: str, pattern: str, default: int) -> int:
    """A number that a prompt states."""
    match = re.search(pattern, text)
    return int(match.group(1)) if match else default
