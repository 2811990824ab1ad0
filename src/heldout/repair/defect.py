"""What can be wrong with the code, and what a repair of it must and must not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from heldout.errors import SpecError
from heldout.repair.platform.replay import Partner, Stall
from heldout.repair.traffic import Profile
from heldout.repair.tree import Tree

MECHANISMS = (
    "wrong_type_after_cache", "unit_threshold", "unit_mismatch", "clock_zone",
    "resource_not_released_on_error", "resource_not_released_on_cancel", "permit_not_returned",
    "retry_without_limit", "cascading_delete", "missing_index", "unique_index_drops_rows",
    "trigger_deletes_rows", "debug_setting_exposes_data", "error_body_exposes_data",
    "log_exposes_data", "missing_null_check", "race_between_writers", "stale_cache_entry",
    "time_limit_too_short", "pool_too_small", "wrong_default", "off_by_one", "encoding_lost",
    "configuration_typo", "dependency_version",
)  # fmt: skip
"""The closed list that a report chooses from; it is shared by all families and gives none away."""


@dataclass(frozen=True, slots=True)
class Change:
    """Text of a file that is replaced by other text; it must stand there exactly once."""

    path: str
    old: str
    new: str


def changed(tree: Tree, changes: Sequence[Change]) -> Tree:
    """A tree with changes made; text that is not there exactly once is a :class:`SpecError`."""
    for one in changes:
        text = tree.files.get(one.path, "")
        if one.old == "" and one.path not in tree.files:
            tree = tree.with_file(one.path, one.new)
            continue
        if text.count(one.old) != 1:
            raise SpecError(
                f"the text to change stands there {text.count(one.old)} times: {one.old[:60]!r}",
                where=one.path,
                mend="A template must fit the code base that it changes",
            )
        tree = tree.with_file(one.path, text.replace(one.old, one.new))
    return tree


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits over the defective tree, settings that are set, a migration that is taken back."""

    name: str
    changes: tuple[Change, ...] = ()
    roll_back: str = ""
    restore: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """What a report must say, as facts: where it is, what it is, whom it reaches."""

    service: str
    file: str
    symbol: str
    mechanism: str
    affected: tuple[str, ...]
    symptoms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """One structural shape of a defect: its site, its traffic, its right and its wrong repairs.

    ``damage`` is a statement that ran before the alert; under the defective schema it took rows
    with it that it should have left, and a repair has to bring them back.
    """

    name: str
    title: str
    defect: tuple[Change, ...]
    truth: Truth
    fix: Repair
    wrong: tuple[Repair, ...]
    suite: str
    profile: Profile = field(default_factory=Profile)
    environment: Mapping[str, str] = field(default_factory=dict)
    damage: str = ""
    partner: Partner = field(default_factory=Partner)
    stalls: tuple[Stall, ...] = ()


class Family(Protocol):
    """A kind of defect; its templates differ in site and shape."""

    @property
    def name(self) -> str:
        """Short name; never shown to an agent."""
        ...

    def templates(self) -> tuple[Template, ...]:
        """At least three, in stable order."""
        ...
