"""What a draft must be before it costs a gate run: in bounds, applicable, without placeholders."""

from __future__ import annotations

import re

from heldout.brain import Brain, slug
from heldout.edit import Edit, apply_edit
from heldout.errors import EditError

_PLACEHOLDER = re.compile(r"<[a-z]+-\d+>")


def target_file(model: str, target: str) -> str:
    """Where a job for one model writes: its overlay of ``method.md``, or the base file."""
    return "method.md" if target == "base" else f"overlays/models/{slug(model)}/method.md"


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
