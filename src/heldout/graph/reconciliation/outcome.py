"""The comparison of both sides, counted by account and kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from heldout.graph.reconciliation.sides import Resource, Sides, read_sides
from heldout.graph.world import World

MOVING = frozenset({"desired_size", "replicas", "latest_version"})
"""Fields that an autoscaler or a release moves: a difference is expected, and named apart."""

_OWN = frozenset(
    {"account", "region", "arn", "cloud_type", "cloud_id", "cloud_within", "custom_kind", "made_by",
     "planned", "address", "module", "provider", "status"}
)  # fmt: skip
"""Fields about the record rather than the resource; state is what only the running side has."""


@dataclass(frozen=True, slots=True)
class Group:
    """Running resources of one kind in one account.

    ``serviced`` were made by a service and are in no other count; ``declared`` have a counterpart
    and ``undeclared`` have none. ``comparable`` is false where no stack anywhere declares the kind.
    """

    account: str
    kind: str
    running: int
    serviced: int
    declared: int
    undeclared: int
    comparable: bool

    @property
    def share(self) -> float | None:
        """The share without a counterpart, of those that no service made; ``None`` of none."""
        told = self.declared + self.undeclared
        return self.undeclared / told if told else None


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that both sides tell, and tell differently."""

    entity: str
    name: str
    kind: str
    account: str
    stack: str
    field: str
    declared: Any
    running: Any
    expected: bool


@dataclass(frozen=True, slots=True)
class Absent:
    """A declared resource that does not run. ``looked`` says whether its type was asked for."""

    entity: str
    name: str
    kind: str
    account: str
    region: str
    stack: str
    looked: bool


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What a world's two sides say of each other."""

    groups: tuple[Group, ...]
    differences: tuple[Difference, ...]
    absent: tuple[Absent, ...]
    undeclared: tuple[tuple[str, str, str, str], ...]
    """(id, name, kind, account) of what runs without a counterpart, made by no service."""
    planned: Mapping[str, int]
    services: Mapping[str, int]
    blind_accounts: tuple[str, ...]
    """Accounts where something runs and no stack that was read declares anything."""
    stacks: int
    compared: int
    one_sided: int
    """Fields of resources with both sides that only one of them tells."""

    @property
    def declared(self) -> int:
        """Running resources with a counterpart."""
        return sum(one.declared for one in self.groups)

    @property
    def share(self) -> float | None:
        """Share without a counterpart, of all running resources that no service made."""
        told = self.declared + len(self.undeclared)
        return len(self.undeclared) / told if told else None

    @property
    def comparable_share(self) -> float | None:
        """The same among the kinds that some stack declares, in accounts that some stack covers."""
        kept = [one for one in self.groups if self.covers(one)]
        told = sum(one.declared + one.undeclared for one in kept)
        return sum(one.undeclared for one in kept) / told if told else None

    def covers(self, one: Group) -> bool:
        """Whether IaC could have declared the resources of a group, as far as it was read."""
        return one.comparable and one.account not in self.blind_accounts

    @property
    def drifted(self) -> bool:
        """Whether a field differs that should not, or something that was looked for is gone."""
        return any(not one.expected for one in self.differences) or any(
            one.looked for one in self.absent
        )

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "share_without_counterpart": self.share,
            "share_of_comparable": self.comparable_share,
            "running": sum(one.running for one in self.groups),
            "made_by_services": sum(one.serviced for one in self.groups),
            "declared_and_running": self.declared,
            "without_counterpart": len(self.undeclared),
            "stacks": self.stacks,
            "groups": [{**asdict(one), "share": one.share, "covered": self.covers(one)}
                       for one in self.groups],
            "undeclared": [dict(zip(("entity", "name", "kind", "account"), one, strict=True))
                           for one in self.undeclared],
            "services": dict(self.services),
            "kinds_nobody_declares": sorted({g.kind for g in self.groups if not g.comparable}),
            "accounts_without_a_stack": list(self.blind_accounts),
            "fields": {"compared": self.compared, "different": len(self.differences),
                       "told_by_one_side": self.one_sided},
            "differences": [asdict(one) for one in self.differences],
            "declared_not_running": [asdict(one) for one in self.absent],
            "planned": dict(self.planned),
        }  # fmt: skip


def reconcile(world: World) -> Reconciliation:
    """Compare what is declared in a world with what runs in it, at its now."""
    sides = read_sides(world)
    running = [one for one in sides.resources if one.runs]
    own = [one for one in running if not (one.made_by and not one.stacks)]
    differences: list[Difference] = []
    compared = one_sided = 0
    for one in running:
        if one.stacks:
            fields = one.declared.keys() | one.running.keys()
            shared = (one.declared.keys() & one.running.keys()) - _OWN
            compared += len(shared)
            one_sided += len(fields - shared - _OWN)
            differences += _differences(one, shared)
    covered = {one.account for one in sides.resources if one.stacks}
    return Reconciliation(
        groups=tuple(_groups(running, {one.kind for one in sides.resources if one.stacks})),
        differences=tuple(differences),
        absent=tuple(_absent(sides)),
        undeclared=tuple(
            (one.id, one.name, one.kind, one.account) for one in own if not one.stacks
        ),
        planned=dict(
            sorted(Counter(one.planned for one in sides.resources if one.planned).items())
        ),
        services=_services(running),
        blind_accounts=tuple(sorted({one.account for one in own} - covered)),
        stacks=sides.stacks,
        compared=compared,
        one_sided=one_sided,
    )


def _services(running: list[Resource]) -> dict[str, int]:
    made = Counter(one.made_by for one in running if one.made_by and not one.stacks)
    return dict(sorted(made.items(), key=lambda one: (-one[1], one[0])))


def _groups(running: list[Resource], declarable: set[str]) -> Iterator[Group]:
    by: defaultdict[tuple[str, str], list[Resource]] = defaultdict(list)
    for one in running:
        by[one.account, one.kind].append(one)
    for (account, kind), members in sorted(by.items()):
        declared = sum(bool(one.stacks) for one in members)
        serviced = sum(bool(one.made_by) and not one.stacks for one in members)
        yield Group(
            account, kind, len(members), serviced, declared,
            len(members) - declared - serviced, kind in declarable,
        )  # fmt: skip


def _differences(one: Resource, fields: set[str]) -> Iterator[Difference]:
    for field in sorted(fields):
        for name, old, new in _apart(field, one.declared[field], one.running[field]):
            yield Difference(
                one.id, one.name, one.kind, one.account, one.stacks[0], name, old, new,
                field in MOVING,
            )  # fmt: skip


def _apart(field: str, declared: Any, running: Any) -> Iterator[tuple[str, Any, Any]]:
    """How two values differ: of maps each key, of lists what only one of them has."""
    if declared == running or (field.endswith("version") and _covers(declared, running)):
        return
    if isinstance(declared, dict) and isinstance(running, dict):
        for key in sorted(declared.keys() | running.keys()):
            if declared.get(key) != running.get(key):
                yield f"{field}.{key}", declared.get(key), running.get(key)
    elif isinstance(declared, list) and isinstance(running, list):
        yield (field, [one for one in declared if one not in running],
               [one for one in running if one not in declared])  # fmt: skip
    else:
        yield field, declared, running


def _covers(declared: Any, running: Any) -> bool:
    """Whether a declared version leaves open what runs: 16 is any 16.x."""
    return str(running).startswith(f"{declared}.")


def _absent(sides: Sides) -> Iterator[Absent]:
    """Declared resources without a running side; those that only a plan knows are not declared."""
    asked = set(sides.inventoried)
    asked.update((one.account, one.region, one.type) for one in sides.resources if one.runs)
    for one in sides.resources:
        if one.stacks and not one.runs and one.planned != "create":
            looked = any(
                (one.account, region, one.type) in asked for region in {one.region, ""}
            )  # fmt: skip
            yield Absent(one.id, one.name, one.kind, one.account, one.region, one.stacks[0], looked)
