"""Pages of HTML out of templates. All text in them is hostile: escaped unless it says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2


def templates(folder: Path, **filters: Callable[..., Any]) -> jinja2.Environment:
    """The templates of a folder: everything is escaped, and a name that is missing is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(filters)
    return environment
