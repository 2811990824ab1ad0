"""Usage as plain data, for tools."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from heldout.usage.measure import Finding
from heldout.usage.reading import Usage


def usage_plain(usage: Usage) -> dict[str, Any]:
    """Everything; a share is null where there was nothing to count."""
    return {
        "run": usage.run,
        "model": usage.model,
        "set": usage.set,
        "purpose": usage.purpose,
        "side": usage.side,
        "invalid": usage.invalid,
        "groups": [
            {
                "name": group.name,
                "arm": group.arm or None,
                "verdict": group.verdict or None,
                "investigations": group.investigations,
                "measures": {one.key: _finding(one) for one in group.findings},
            }
            for group in usage.groups
        ],
        "suggestions": [asdict(one) for one in usage.suggestions],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "title": finding.title,
        "unit": finding.unit,
        "count": finding.count,
        "of": finding.of,
        "share": finding.share,
        "investigations": finding.investigations,
        "rows": [{**asdict(row), "share": row.share} for row in finding.rows],
    }
