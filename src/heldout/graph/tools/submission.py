"""From the arguments of ``submit_diagnosis`` to a submission, read leniently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.graph.tools.arguments import MAX_ITEMS, respelt
from heldout.graph.tools.catalogue import BY_NAME, SUBMIT
from heldout.graph.tools.page import ids_in
from heldout.graph.tools.refusals import Refusal
from heldout.interface import Submission

_NONE = frozenset({"", "none", "null", "n/a", "no change", "nothing"})
_LONGEST = 4_000
_SUSPECTS = 4


def read_submission(given: Any) -> Submission:
    """The submission in ``given``; what cannot be read at all is a :class:`Refusal`.

    A root cause that is given with its name around it, as in ``e-0123abcd (payments)``, is read as
    its id. Lists may come as one string. A misspelt argument is read as the one that it resembles.
    """
    if not isinstance(given, Mapping):
        raise Refusal("bad_argument", f"the arguments of {SUBMIT} must be one JSON object")
    given = respelt(SUBMIT, given, [one.name for one in BY_NAME[SUBMIT].arguments])
    for argument in BY_NAME[SUBMIT].arguments:
        if argument.required and argument.name not in given:
            raise Refusal(
                "missing_argument",
                f"{SUBMIT} needs '{argument.name}': {argument.schema['description']}",
            )
    return Submission(
        root_cause_entity=_root("root_cause_entity", given["root_cause_entity"], "e-"),
        root_cause_change=_root("root_cause_change", given["root_cause_change"], "c-"),
        mechanism=_prose(given["mechanism"]),
        trigger=_prose(given.get("trigger")),
        affected=_items("affected", given.get("affected")),
        evidence_ids=_items("evidence_ids", given.get("evidence_ids"), ids=True),
        ruled_out=_items("ruled_out", given.get("ruled_out")),
        unavailable_sources=_items("unavailable_sources", given.get("unavailable_sources")),
        recommended_fix=_prose(given.get("recommended_fix")),
        alternatives=_items("alternatives", given.get("alternatives"), ids=True)[:_SUSPECTS],
    )


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "")[:_LONGEST].strip()


def _root(name: str, value: Any, prefix: str) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None:
        return None
    if not isinstance(value, str):
        raise Refusal("bad_argument", f"'{name}' must be one id or 'none'")
    text = _clean(value)
    if text.casefold().rstrip(".") in _NONE:
        return None
    ids = {one for one in ids_in(text) if one.startswith(prefix)}
    if len(ids) > 1:
        raise Refusal("bad_argument", f"'{name}' names {len(ids)} ids: name one", sorted(ids)[:5])
    return ids.pop() if ids else text[:200]


def _prose(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, Sequence):
        return _clean("; ".join(str(part) for part in value))
    return _clean(str(value))


def _items(name: str, value: Any, *, ids: bool = False) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        value = (ids and ids_in(value)) or value.split(",")
    elif isinstance(value, Mapping):
        value = [f"{key}: {inner}" for key, inner in value.items()]
    elif not isinstance(value, Sequence):
        raise Refusal("bad_argument", f"'{name}' must be a list of strings")
    texts = [_clean(_item(part))[:400] for part in value[:MAX_ITEMS]]
    kept = [text for text in texts if text and text.casefold() not in _NONE]
    return tuple(dict.fromkeys(kept))


def _item(part: Any) -> str:
    if isinstance(part, Mapping):
        return str(part.get("id") or part.get("name") or dict(part))
    return str(part)
