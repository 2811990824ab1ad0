"""What is played over a wire, and the words that no wire may carry before the end."""

from __future__ import annotations

from typing import Any

from heldout.repair.defect import MECHANISMS
from heldout.repair.tasks import tasks

TRAIN = sorted(one.id for one in tasks().values() if one.half == "train")
HELD = sorted(one.id for one in tasks().values() if one.half == "test")
REPORT = {"service": "shared", "file": "f.py", "symbol": "s", "mechanism": MECHANISMS[0]}
Calls = list[tuple[str, dict[str, Any]]]


def every_call(task: str) -> Calls:
    """Each tool once as it is meant, with refusals of each kind between, and no report."""
    path = tasks()[task].template.truth.file
    return [
        ("list_alerts", {}), ("list_files", {}), ("view_file", {"path": path}),
        ("view_file", {"path": "../../etc/passwd"}), ("search_code", {"text": "def "}),
        ("git_log", {"limit": 30}), ("git_blame", {"path": path}), ("git_show", {"commit": "abcdef"}),
        ("query_metrics", {"service": "ad_ranking"}), ("read_logs", {"service": "capi_pipeline"}),
        ("query_rows", {"sql": "select name from sqlite_master"}), ("list_migrations", {}),
        ("query_rows", {"sql": "drop table ads"}), ("edit_lines", {"path": path, "first": 0}),
        ("nothing", {"a": 1}), ("run_tests", {"suite": "unit"}), ("show_diff", {}),
        ("show_dependencies", {}), ("ask_senior", {}),
    ]  # fmt: skip


def edited(task: str) -> Calls:
    """Looks, an edit after which the code is run again, a suite, the edit taken back, a report."""
    path = tasks()[task].template.truth.file
    return [
        ("list_alerts", {}), ("git_log", {"limit": 3}), ("view_file", {"path": "x"}),
        ("edit_lines", {"path": path, "action": "insert", "first": 1, "text": "# looked at"}),
        ("query_metrics", {"service": "ad_ranking"}), ("run_tests", {"suite": "unit"}),
        ("revert_edit", {}), ("list_alerts", {}), ("submit_report", REPORT),
    ]  # fmt: skip


def told(text: str, task: str) -> list[str]:
    """The words of a task's truth, and of this machine, that a text holds."""
    one = tasks()[task].template
    repairs = [repair.name for repair in (one.fix, *one.wrong) if repair.name.count(" ") > 1]
    return sorted(word for word in (one.name, *repairs, *WORDS) if word in text)


WORDS = ("held-out", "/src/heldout", "site-packages", "Traceback", *HELD)
