"""Every case: one for each check."""

from tests.health import cases_pods, cases_references, cases_traffic
from tests.health.case import CASES, Case

__all__ = ["CASES", "Case", "cases_pods", "cases_references", "cases_traffic"]
