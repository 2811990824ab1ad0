"""What a draft must be before it costs a gate run: in bounds, applicable, without placeholders."""

from __future__ import annotations

import re
from dataclasses import replace

from heldout.brain import Brain, slug
from heldout.edit import Edit, Op, apply_edit
from heldout.errors import EditError
from heldout.propose.memory import BLANKED

_PLACEHOLDER = re.compile(rf"<[a-z]+-\d+>|<time>|{re.escape(BLANKED)}")
"""What redaction puts for things, times and what was refused: a weak model copies them."""


def target_file(model: str, target: str) -> str:
    """Where a job for one model writes: its overlay of ``method.md``, or the base file."""
    return "method.md" if target == "base" else f"overlays/models/{slug(model)}/method.md"


def placed(brain: Brain, edit: Edit, target_file: str) -> Edit:
    """The edit with text whose place does not exist at the end of the target file.

    Small models know what to write better than where: they name a file that is none, an anchor
    that is no line, or insert into an overlay that is not there yet. Only an addition is moved. A
    line that should be replaced or deleted and is not found stays what it is, an error of the edit.
    """
    ops = (_placed(brain, op, target_file) for op in edit.ops)
    return replace(edit, ops=tuple(op for op in ops if op is not None))


def _placed(brain: Brain, op: Op, target_file: str) -> Op | None:
    files = brain.all_files()
    end = Op(target_file, "append", "", op.text)
    if op.file not in files:
        if op.file != target_file:
            elsewhere = op.file.startswith(("overlays/", "/")) or ".." in op.file.split("/")
            return op if elsewhere or op.action not in {"append", "insert_after"} else end
        # Nothing stands there that could be replaced or taken away.
        return end if op.text.strip() and op.action != "delete" else None
    lines = [line.strip() for line in files[op.file].splitlines()]
    anchored = bool(op.anchor.strip()) and op.anchor.strip() in lines
    return end if op.action == "insert_after" and not anchored else op


def apply_draft(brain: Brain, edit: Edit, *, model: str, target: str, max_lines: int) -> Brain:
    """The brain after a draft; a draft that may not even be tried is an :class:`EditError`.

    An overlay job writes only below its own model's overlay.
    """
    own = f"overlays/models/{slug(model)}/"
    for op in edit.ops:
        if target == "overlay" and not op.file.startswith(own):
            raise EditError(
                f"'{op.file}' is outside the model's overlay", mend=f"Write to {own}method.md"
            )
        if target == "base" and op.file.startswith("overlays/"):
            raise EditError(f"'{op.file}' is an overlay", mend="Write to a base file")
        if _PLACEHOLDER.search(op.text):
            raise EditError("a placeholder stands in its text", mend="Name a kind of component")
    added = len(edit.added_lines())
    if added > max_lines:
        raise EditError(f"it adds {added} lines", mend=f"At most {max_lines}")
    after = apply_edit(brain, edit)
    if after.hash == brain.hash:
        raise EditError("it changes nothing", mend="Add or change a line")
    return after
