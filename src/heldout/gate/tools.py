"""Names of tools in a brain: what sends the agent to a tool that it doesn't have is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extractOne

from heldout.agent.prompt import READ_SKILL
from heldout.gate.hits import Context, Hit, Tools, line_place
from heldout.gate.pages import FILE_NAMES, RATIONALE
from heldout.graph import tool_specs
from heldout.interface import ToolSpec

RULE = "brain-format"
_QUOTES = "`'\"*"
_SNAKE = re.compile(r"(?<![\w.\-/=])[a-z]+(?:_[a-z0-9]+)+(?![\w\-/=]|\.\w)")
_CUE = re.compile(
    rf"\b(?:calls?|calling|uses?|using|runs?|running|try|ask|invoke|open|start with|begin with)\s+"
    rf"(?:the\s+)?[{_QUOTES}]*$",
    re.IGNORECASE,
)
_TOOL_BEFORE = re.compile(rf"\btools?\s+(?:named\s+|called\s+)?[{_QUOTES}]*$", re.IGNORECASE)
_TOOL_AFTER = re.compile(rf"^[{_QUOTES}]*\s+tools?\b", re.IGNORECASE)
_SETTING = re.compile(
    r"_(?:timeout|limit|interval|size|seconds|ms|count|max|min|level|period|threshold|enabled|ratio|"
    r"ids?|name|total|bytes|percent|policy|mode)$"
)


def tools_of(specs: Iterable[ToolSpec]) -> Tools:
    """The names of an interface's tools and of their arguments, with the harness's own tool."""
    offered = (*specs, READ_SKILL)
    arguments = {name for spec in offered for name in spec.parameters.get("properties", {})}
    return Tools(frozenset(spec.name for spec in offered), frozenset(arguments))


@lru_cache(maxsize=1)
def world_tools() -> Tools:
    """The tools with which worlds are asked."""
    return tools_of(tool_specs())


def check(context: Context) -> Iterator[Hit]:
    """Every word that is written as a tool's name and is none."""
    tools = context.tools
    if not tools.names:
        return
    verbs = frozenset(name.split("_")[0] for name in tools.names) | {"fetch", "describe", "show"}
    known = sorted(tools.names)
    for row in context.scan.folded:
        if row[0].file in {RATIONALE, FILE_NAMES} or "_" not in row[2].text:
            continue
        for match in _SNAKE.finditer(row[2].text):
            word = match.group()
            if word in tools.names or word in tools.arguments:
                continue
            nearest, distance, _ = extractOne(word, known, scorer=Levenshtein.distance)
            if distance <= 2 or _called(row[2].text, match, verbs):
                place = line_place(row, *match.span())
                hint = f"There is no tool '{word}'; the nearest is '{nearest}'"
                yield Hit(RULE, "reject", place, word, "", "tool name", (), hint)


def _called(line: str, match: re.Match[str], verbs: frozenset[str]) -> bool:
    """True where a word is named a tool, or begins like one and is called or to be used."""
    before, after = line[: match.start()], line[match.end() :]
    if _TOOL_BEFORE.search(before) or _TOOL_AFTER.search(after):
        return True
    word = match.group()
    if word.split("_")[0] not in verbs or _SETTING.search(word):
        return False
    return after.startswith("(") or bool(_CUE.search(before))
