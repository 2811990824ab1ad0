"""The typed calls: read a failure, propose, shorten, revise a refused edit, review its lines."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.edit import Edit, Op, edit_from_plain
from heldout.errors import EditError
from heldout.signatures.engine import Client, ask
from heldout.signatures.records import BEHAVIOURS, QUESTIONS, Answered, Diagnosis, LineReview

MAX_TEXT = 600
"""Longest free text that is kept of a model's answer, in characters."""
_BULLET = re.compile(r"^(?:[-*\u2022]\s+|\d{1,2}[.)]\s+)+")


async def diagnose(client: Client, digest: str, *, seed: int | None = None) -> Answered[Diagnosis]:
    """Read one failing investigation. ``digest`` must be redacted already.

    Behaviours outside the closed list are dropped; none left means ``other``.
    """
    from heldout.signatures.forms import diagnose_form

    answer = await ask(diagnose_form(), client, {"digest": digest}, seed=seed)
    if answer.value is None:
        return Answered(None, answer.spent, answer.failure)
    said = answer.value
    named = [str(item).strip().casefold() for item in (said.primary, *said.behaviours)]
    known = tuple(dict.fromkeys(item for item in named if item in BEHAVIOURS)) or ("other",)
    days = float(said.window_days)
    return Answered(
        Diagnosis(
            found=str(said.found)[:MAX_TEXT],
            never_asked=tuple(str(item)[:MAX_TEXT] for item in said.never_asked[:8]),
            window_days=days if math.isfinite(days) and days > 0 else 0.0,
            decoy_believed=bool(said.decoy_believed),
            primary=known[0],
            behaviours=known,
            decoy=str(said.decoy)[:MAX_TEXT],
        ),
        answer.spent,
    )


async def propose(
    client: Client,
    *,
    brain: Mapping[str, str],
    target_file: str,
    cluster: str,
    diagnoses: Sequence[Diagnosis],
    rejected: Sequence[Mapping[str, Any]] = (),
    candidates: int = 3,
    max_lines: int = 8,
    seed: int | None = None,
) -> Answered[tuple[Edit, ...]]:
    """Ask for candidate edits that answer one cluster of failures.

    Drafts that are no edits (no operation, an action that does not exist) are dropped; when none
    is left the answer is a failure.
    """
    from heldout.signatures.forms import propose_form

    inputs = {
        **_files(brain, target_file),
        "cluster": cluster,
        "diagnoses": json.dumps([item.plain() for item in diagnoses], indent=1),
        "rejected": json.dumps(list(rejected), indent=1),
        "limits": _limits(candidates, max_lines),
    }
    return _edits(await ask(propose_form(), client, inputs, seed=seed), candidates)


async def propose_blind(
    client: Client,
    *,
    brain: Mapping[str, str],
    target_file: str,
    tried: Sequence[str] = (),
    candidates: int = 3,
    max_lines: int = 8,
    seed: int | None = None,
) -> Answered[tuple[Edit, ...]]:
    """Ask for candidate edits without telling anything of how the agent did.

    ``tried`` are texts of its own that were refused before, without why.
    """
    from heldout.signatures.forms import TASK, propose_blind_form

    inputs = {
        **_files(brain, target_file),
        "task": TASK,
        "tried": json.dumps(list(tried), indent=1),
        "limits": _limits(candidates, max_lines),
    }
    return _edits(await ask(propose_blind_form(), client, inputs, seed=seed), candidates)


async def propose_lines(
    client: Client,
    *,
    target_file: str,
    behaviour: str,
    failures: Sequence[str],
    refused: Sequence[str] = (),
    candidates: int = 3,
    seed: int | None = None,
) -> Answered[tuple[Edit, ...]]:
    """Ask for sentences, each of which becomes an edit that appends it to the target file.

    For models that cannot write a patch: place and form are decided here.
    """
    from heldout.signatures.forms import TASK, propose_lines_form

    inputs = {
        "task": TASK,
        "behaviour": behaviour,
        "failures": json.dumps(list(failures), indent=1),
        "refused": json.dumps(list(refused), indent=1),
        "count": str(candidates),
    }
    answer = await ask(propose_lines_form(), client, inputs, seed=seed)
    if answer.value is None:
        return Answered(None, answer.spent, answer.failure)
    said = dict.fromkeys(_sentence(one) for one in answer.value.rules)
    edits = tuple(
        Edit((Op(target_file, "append", text=f"- {text}"),), reason=behaviour[:MAX_TEXT])
        for text in list(said)[:candidates]
        if text
    )
    if not edits:
        return Answered(None, answer.spent, "no draft is an edit: it held no sentence")
    return Answered(edits, answer.spent)


def _sentence(text: str) -> str:
    """One line of a list without its bullet or number."""
    return _BULLET.sub("", " ".join(str(text).split()))[:MAX_TEXT]


async def compress(
    client: Client, *, target_file: str, lines: Sequence[str], seed: int | None = None
) -> Answered[Edit]:
    """Ask for one edit that says the lines of a file in fewer; none is a failure."""
    from heldout.signatures.forms import compress_form

    inputs = {
        "target_file": target_file,
        "grown": json.dumps(list(lines), indent=1, ensure_ascii=False),
    }
    answer = await ask(compress_form(), client, inputs, seed=seed)
    if answer.value is None:
        return Answered(None, answer.spent, answer.failure)
    draft = answer.value.edit.model_dump()
    if not draft["ops"]:
        return Answered(None, answer.spent, "it found nothing to make shorter")
    try:
        return Answered(_edit(draft), answer.spent)
    except EditError as error:
        return Answered(None, answer.spent, error.sentence())


def _files(brain: Mapping[str, str], target_file: str) -> dict[str, str]:
    """The brain and the file to write to, as the prompts show them."""
    return {
        "brain": "\n\n".join(f"### FILE {name}\n{text}" for name, text in brain.items()),
        "target_file": target_file + ("" if target_file in brain else " (does not exist yet)"),
    }


def _limits(candidates: int, max_lines: int) -> str:
    return f"at most {candidates} candidates, each at most {max_lines} added lines"


def _edits(answer: Answered[Any], candidates: int) -> Answered[tuple[Edit, ...]]:
    """The edits of an answer, without drafts that are none."""
    if answer.value is None:
        return Answered(None, answer.spent, answer.failure)
    edits: list[Edit] = []
    problem = "it held no edit"
    for draft in answer.value.edits[:candidates]:
        try:
            edits.append(_edit(draft.model_dump()))
        except EditError as error:
            problem = error.sentence()
    if not edits:
        return Answered(None, answer.spent, f"no draft is an edit: {problem}")
    return Answered(tuple(edits), answer.spent)


async def revise(
    client: Client,
    edit: Edit,
    findings: Sequence[Mapping[str, Any]],
    *,
    seed: int | None = None,
) -> Answered[Edit]:
    """Ask for a refused edit without what the findings mark. Findings must be redacted already."""
    from heldout.signatures.forms import revise_form

    plain = edit.plain()
    draft = {"ops": list(plain["ops"]), "reason": edit.reason}
    inputs = {
        "draft": json.dumps(draft, indent=1),
        "findings": json.dumps(list(findings), indent=1),
    }
    answer = await ask(revise_form(), client, inputs, seed=seed)
    if answer.value is None:
        return Answered(None, answer.spent, answer.failure)
    try:
        return Answered(_edit(answer.value.edit.model_dump()), answer.spent)
    except EditError as error:
        return Answered(None, answer.spent, error.sentence())


async def review_lines(
    client: Client,
    lines: Mapping[int, str],
    remarks: Sequence[Mapping[str, Any]] = (),
    *,
    seed: int | None = None,
) -> Answered[tuple[LineReview, ...]]:
    """Ask what a reviewer's model has against added lines, by number.

    An answer that leaves a line out, or speaks of another, is a failure.
    """
    from heldout.signatures.forms import review_form

    shown = {str(number): text for number, text in lines.items()}
    inputs = {"lines": json.dumps(shown, indent=1, ensure_ascii=False),
              "remarks": json.dumps(list(remarks), indent=1, ensure_ascii=False)}  # fmt: skip
    answer = await ask(review_form(), client, inputs, seed=seed)
    if answer.value is None:
        return Answered(None, answer.spent, answer.failure)
    verdicts = answer.value.verdicts
    if sorted(one.line for one in verdicts) != sorted(lines):
        return Answered(None, answer.spent, "it did not answer for every line once")
    reviews = [
        LineReview(
            line=one.line,
            objections=tuple(name for name in QUESTIONS if getattr(one, name)),
            why=" ".join(one.why.split())[:MAX_TEXT],
        )
        for one in sorted(verdicts, key=lambda one: one.line)
    ]
    return Answered(tuple(reviews), answer.spent)


def _edit(draft: Mapping[str, Any]) -> Edit:
    texts = {
        name: str(draft.get(name, ""))[:MAX_TEXT]
        for name in ("reason", "expected_effect", "feared_harm")
    }
    return edit_from_plain({"ops": draft["ops"], **texts}, where="the proposer's answer")
