"""One document of Terraform: a state of version 3 or 4, what ``show -json`` prints, or a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from heldout.ingest.terraform.flatmap import unflatten
from heldout.ingest.terraform.sensitive import Hide, marked_paths, without

MAX_DEPTH = 40

What = Literal["state", "plan"]
Attributes = Mapping[str, Any]
Odd = dict[str, int]


class NoDocument(Exception):
    """Not a document of Terraform, or one of a version that is not read; the text says why."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One instance of a resource, as a document has it; sensitive values are taken out."""

    address: str
    type: str
    provider: str
    attributes: Attributes
    module: str = ""
    data: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan means to do to one instance; ``before`` and ``after`` as attributes."""

    resource: Resource
    actions: tuple[str, ...]
    before: Attributes
    after: Attributes


@dataclass(frozen=True, slots=True)
class Document:
    """A state or a plan. ``resources`` are those of the state, for a plan of its prior one."""

    what: What
    version: str
    serial: int = -1
    lineage: str = ""
    resources: tuple[Resource, ...] = ()
    planned: tuple[Planned, ...] = ()
    odd: Mapping[str, int] = field(default_factory=dict)


def read_document(raw: Any, hide: Hide) -> Document:
    """The document; :class:`NoDocument` says why there is none.

    ``hide`` makes the placeholder of each value that the document marks as sensitive.
    """
    if not isinstance(raw, Mapping):
        raise NoDocument("is no object")
    version = raw.get("version")
    if "resource_changes" in raw or "planned_values" in raw:
        return _plan(raw, hide)
    if "values" in raw and "format_version" in raw:
        found = tuple(_shown(mapping(raw["values"]).get("root_module"), hide))
        return Document("state", str(raw.get("terraform_version", "")), resources=found)
    if version == 4 or (version is None and isinstance(raw.get("resources"), list)):
        return _state(raw, _version_4, hide)
    if version == 3:
        return _state(raw, _version_3, hide)
    if "format_version" in raw and "values" not in raw and "terraform_version" in raw:
        return Document("state", str(raw.get("terraform_version", "")))
    if isinstance(version, int) and ("modules" in raw or "serial" in raw):
        raise NoDocument(f"state of version {version}: open it once with a newer Terraform")
    raise NoDocument("is neither a state nor a plan")


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


Reader = Callable[[Attributes, Odd, Hide], Iterator[Resource]]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _state(raw: Attributes, reader: Reader, hide: Hide) -> Document:
    odd: Odd = {}
    serial = raw.get("serial")
    return Document(
        "state",
        str(raw.get("terraform_version", "")),
        serial=serial if isinstance(serial, int) else -1,
        lineage=str(raw.get("lineage") or ""),
        resources=tuple(reader(raw, odd, hide)),
        odd=odd,
    )


def _note(odd: Odd, what: str) -> None:
    odd[what] = odd.get(what, 0) + 1


def _version_4(raw: Attributes, odd: Odd, hide: Hide) -> Iterator[Resource]:
    for one in _items(raw.get("resources")):
        type_, name = mapping(one).get("type"), mapping(one).get("name")
        if not isinstance(type_, str) or not isinstance(name, str) or not type_:
            _note(odd, "a resource without type or name")
            continue
        data = one.get("mode") == "data"
        module = str(one.get("module") or "")
        stem = ".".join(part for part in (module, "data" if data else "", type_, name) if part)
        for instance in _items(one.get("instances")):
            held = mapping(instance)
            if held.get("deposed"):
                _note(odd, "a deposed instance")
                continue
            attributes = held.get("attributes")
            if not isinstance(attributes, Mapping):
                attributes = unflatten(mapping(held.get("attributes_flat")))
            kept = without(attributes, _paths(held.get("sensitive_attributes")), hide)
            address = f"{stem}{_index(held.get('index_key'))}"
            provider = _provider(one.get("provider"), type_)
            yield Resource(address, type_, provider, kept, module, data)


def _paths(value: Any) -> list[tuple[str | int, ...]]:
    """The paths that a state of version 4 marks as sensitive."""
    found: list[tuple[str | int, ...]] = []
    for one in _items(value):
        steps = [mapping(step).get("value") for step in _items(one)]
        keys = [mapping(step).get("value") if isinstance(step, Mapping) else step
                for step in steps]  # fmt: skip
        if keys and all(isinstance(key, str | int) for key in keys):
            found.append(tuple(key for key in keys if isinstance(key, str | int)))
    return found


def _index(key: Any) -> str:
    if isinstance(key, bool) or key is None:
        return ""
    return f"[{key}]" if isinstance(key, int) else f'["{key}"]'


def _provider(value: Any, type_: str) -> str:
    """The provider's short name: of ``provider["registry/hashicorp/aws"].west`` it is ``aws``."""
    found = str(value or "").removeprefix("provider").strip(".[")
    found = found.split("]")[0].strip('"').split("/")[-1].split(".")[0]
    return found or type_.split("_", 1)[0]


def _version_3(raw: Attributes, odd: Odd, hide: Hide) -> Iterator[Resource]:
    for module in _items(raw.get("modules")):
        path = [str(step) for step in _items(mapping(module).get("path"))][1:]
        prefix = ".".join(f"module.{step}" for step in path)
        for key, one in mapping(mapping(module).get("resources")).items():
            primary = mapping(mapping(one).get("primary"))
            data = str(key).startswith("data.")
            type_ = str(mapping(one).get("type") or str(key).removeprefix("data.").split(".")[0])
            if not primary or not type_:
                _note(odd, "a resource without an instance")
                continue
            flat = {"id": primary.get("id"), **mapping(primary.get("attributes"))}
            address = ".".join(part for part in (prefix, _indexed(str(key))) if part)
            provider = _provider(mapping(one).get("provider"), type_)
            yield Resource(address, type_, provider, unflatten(flat), prefix, data)


def _indexed(key: str) -> str:
    """``aws_instance.web.1`` of version 3 as later ones write it."""
    stem, _, tail = key.rpartition(".")
    return f"{stem}[{tail}]" if tail.isascii() and tail.isdigit() and "." in stem else key


def _shown(module: Any, hide: Hide, depth: int = 0) -> Iterator[Resource]:
    """The resources of ``values`` as ``show -json`` prints them, modules inside modules."""
    if depth > MAX_DEPTH:
        return
    held = mapping(module)
    place = str(held.get("address") or "")
    for one in _items(held.get("resources")):
        item = mapping(one)
        if isinstance(item.get("type"), str) and item.get("type"):
            kept = without(mapping(item.get("values")), marked_paths(item.get("sensitive_values")),
                           hide)  # fmt: skip
            yield _one_shown(item, place, kept)
    for inner in _items(held.get("child_modules")):
        yield from _shown(inner, hide, depth + 1)


def _one_shown(item: Attributes, module: str, attributes: Attributes) -> Resource:
    return Resource(
        address=str(item.get("address") or f"{item['type']}.{item.get('name')}"),
        type=str(item["type"]),
        provider=_provider(item.get("provider_name"), str(item["type"])),
        attributes=attributes,
        module=module or str(item.get("module_address") or ""),
        data=item.get("mode") == "data",
    )


def _plan(raw: Attributes, hide: Hide) -> Document:
    prior = mapping(mapping(raw.get("prior_state")).get("values"))
    odd: Odd = {}
    return Document(
        "plan",
        str(raw.get("terraform_version", "")),
        resources=tuple(_shown(prior.get("root_module"), hide)),
        planned=tuple(_planned(raw, odd, hide)),
        odd=odd,
    )


def _planned(raw: Attributes, odd: Odd, hide: Hide) -> Iterator[Planned]:
    for one in _items(raw.get("resource_changes")):
        item, change = mapping(one), mapping(mapping(one).get("change"))
        if not isinstance(item.get("type"), str) or not item.get("type"):
            _note(odd, "a planned change without a type")
            continue
        if item.get("deposed"):
            _note(odd, "a deposed instance")
            continue
        before, after = (
            without(mapping(change.get(side)), marked_paths(change.get(f"{side}_sensitive")), hide)
            for side in ("before", "after")
        )
        actions = tuple(str(action) for action in _items(change.get("actions")))
        # Of a deletion there is nothing to say but what was before.
        yield Planned(_one_shown(item, "", after or before), actions, before, after)
