"""What a type of resource looks like on each side: names, identity, fields and references."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from heldout.ingest.cloud.forms import Form, dig, text

Attributes = Mapping[str, Any]


class Trait(NamedTuple):
    """One field: where a state has it and where an inventory, and the form that both are put in.

    An empty path: that side never tells it.
    """

    field: str
    declared: str
    running: str
    form: Form = text


def both(field: str, path: str, form: Form = text) -> Trait:
    """A field that stands at the same path on both sides."""
    return Trait(field, path, path, form)


class Ref(NamedTuple):
    """A reference: values at the path name resources of the shape ``to`` by id, name or ARN.

    ``inverse``: the edge goes from what is named to what names it.
    """

    predicate: str
    to: str
    declared: str
    running: str
    inverse: bool = False
    told: bool = True
    """Whether what is referred to is a field too, so that it is compared."""


def refers(predicate: str, to: str, path: str, *, inverse: bool = False) -> Ref:
    """A reference that stands at the same path on both sides."""
    return Ref(predicate, to, path, path, inverse)


@dataclass(frozen=True, slots=True)
class Shape:
    """A type of resource.

    ``name`` is its key among shapes, ``kind`` the ontology's; a ``CustomResource`` shows its
    ``name`` as its custom kind. ``declared`` are resource types of a state, ``recorded`` the type
    of a configuration recorder, ``listed`` the keys under which describe and list calls return it.
    ``id`` and ``arn`` are paths as a :class:`Trait` has them, ``within`` leads to the zone or
    cluster that an id is unique in. ``service`` and ``path`` are the parts of its ARN, ``{id}``
    stands for the id; ``path`` may be empty where an ARN cannot be made.
    """

    name: str
    kind: str
    declared: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    id: tuple[str, str] = ("id", "id")
    arn: tuple[str, str] = ("arn", "arn")
    title: tuple[str, str] = ("name", "name")
    within: tuple[str, str] = ("", "")
    service: str = ""
    path: str = ""
    regional: bool = True
    traits: tuple[Trait, ...] = ()
    refs: tuple[Ref, ...] = ()
    local: Callable[[str], str] | None = None

    def fields(self, attributes: Attributes, *, declared: bool) -> dict[str, Any]:
        """The fields that one side tells, in the common form; silence is left out."""
        found: dict[str, Any] = {}
        for trait in self.traits:
            path = trait.declared if declared else trait.running
            value = trait.form(dig(attributes, path)) if path else None
            if value is not None:
                found[trait.field] = value
        return found

    def local_id(self, value: Any) -> str:
        """The id without account and region: of an ARN the part after the resource's path."""
        found = text(value) or ""
        parts = found.split(":", 5)
        if found.startswith("arn:") and len(parts) == 6:
            found = parts[5]
        fixed = self.path.split("{id}")[0]
        if len(fixed) > 1 and found.startswith(fixed):
            found = found[len(fixed) :]
        return self.local(found) if self.local else found


_ARN = re.compile(r"arn:(aws[a-z-]*):([a-z0-9-]*):([a-z0-9-]*):(\d{12})?:.+")


class Arn(NamedTuple):
    """The parts of an ARN that place it."""

    partition: str
    service: str
    region: str
    account: str


def arn_parts(value: Any) -> Arn | None:
    """The parts of an ARN, ``None`` where the value is none."""
    match = _ARN.fullmatch(value) if isinstance(value, str) and len(value) < 2_000 else None
    return Arn(match[1], match[2], match[3], match[4] or "") if match else None


def shape_of_arn(value: Any) -> Shape | None:
    """The shape of what an ARN names, ``None`` where no shape's path fits it."""
    parts = arn_parts(value)
    if parts is None:
        return None
    resource = str(value).split(":", 5)[5]
    fitting = [
        (len(fixed), shape)
        for shape in shapes().values()
        if shape.service == parts.service and shape.path
        if resource.startswith(fixed := shape.path.split("{id}")[0])
    ]
    return max(fitting, key=lambda one: one[0])[1] if fitting else None


@cache
def shapes() -> Mapping[str, Shape]:
    """Every shape by name; those of the modules of ``cloud.shapes``, so that a new one is found."""
    from heldout.ingest.cloud import shapes as package

    found: dict[str, Shape] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        module = import_module(f"{package.__name__}.{info.name}")
        found.update({one.name: one for one in getattr(module, "SHAPES", ())})
    return found


@cache
def by_declared() -> Mapping[str, Shape]:
    """Shapes by the resource type of a state."""
    return {name: shape for shape in shapes().values() for name in shape.declared}


@cache
def by_recorded() -> Mapping[str, Shape]:
    """Shapes by the type that a configuration recorder writes."""
    return {name: shape for shape in shapes().values() for name in shape.recorded}


@cache
def by_listed() -> Mapping[str, Shape]:
    """Shapes by the key of a describe or list answer."""
    return {name: shape for shape in shapes().values() for name in shape.listed}
