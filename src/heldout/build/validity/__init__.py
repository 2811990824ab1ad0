"""The validity gate: one file per point, each with a ``POINT``; found by listing this package.

A point looks at an incident and its twins, or at all incidents of a set side by side, and returns
what is wrong, in sentences. An incident with any finding is discarded.
"""

from heldout.build.validity.points import Point, findings, points, set_findings
from heldout.build.validity.report import ValidityReport, validate_set
from heldout.build.validity.subject import Subject, View

__all__ = [
    "Point",
    "Subject",
    "ValidityReport",
    "View",
    "findings",
    "points",
    "set_findings",
    "validate_set",
]
