"""The pages as HTML. All text is hostile: escaped, and its control characters spelled out."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from heldout.markup import templates
from heldout.terminal import visible

_TEMPLATES = Path(__file__).parent / "templates"
LONGEST, SHORTER = 400, 140
"""Characters of one text on a page, and of one in the narrow panel of the trace."""


def render(template: str, **values: Any) -> str:
    """One page."""
    return _environment().get_template(f"{template}.html.j2").render(**values)


@cache
def stylesheet() -> str:
    """The one stylesheet of all pages."""
    return (_TEMPLATES / "review.css").read_text(encoding="utf-8")


def brief(sentence: str) -> str:
    """A sentence of a probe without the figures that it has in brackets."""
    return sentence.split(" (", 1)[0]


@cache
def _environment() -> jinja2.Environment:
    return templates(
        _TEMPLATES,
        visible=lambda text: visible(text, LONGEST),
        short=lambda text: visible(text, SHORTER),
        brief=brief,
    )
