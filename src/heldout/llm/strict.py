"""JSON schemas in the strict form that some providers demand of a schema-bound answer.

Strict means: every object is closed and requires all its properties, one that may be missing may be
null instead, and only the keywords below stand in it. What a strict schema accepts is, once
:func:`without_nulls` took the nulls of missing properties away, what the schema it was made from
accepts of closed objects: nothing is loosened, so a schema that says more than strict can is
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from heldout.errors import ConfigError

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_NOTES = frozenset({"title", "description"})
_DROPPED = frozenset(
    {"default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$comment"}
)
_LIMITS = frozenset(
    {"pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum"}
    | {"exclusiveMaximum", "minItems", "maxItems"}
)
_SHAPES = frozenset(
    {"type", "enum", "const", "anyOf", "$ref", "properties", "required", "additionalProperties"}
    | {"items", "$defs", "definitions"}
)
_DEFINITIONS = ("$defs", "definitions")
_MOST_PROPERTIES = 5000
_DEEPEST = 10


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in strict form; one that has none is a :class:`ConfigError` that names the place.

    Already strict schemas come back equal.
    """
    if "anyOf" in schema or _types(schema, "#") != ["object"]:
        raise _refused("#", "the outermost schema is not an object")
    return _Maker(schema).made()


def is_strict(schema: Mapping[str, Any]) -> bool:
    """True when providers that demand it take the schema as it is."""
    return _is_strict(orjson.dumps(schema, default=dict))


@lru_cache(maxsize=64)
def _is_strict(dumped: bytes) -> bool:
    schema = orjson.loads(dumped)
    try:
        return bool(strict_schema(schema) == schema)
    except ConfigError:
        return False


def without_nulls(schema: Mapping[str, Any], value: Any) -> Any:
    """``value``, an answer to ``strict_schema(schema)``, as an answer to ``schema`` itself.

    A null that stands for a property which may be missing is taken away. Among several schemas
    (``anyOf``) the first whose types and names fit counts.
    """
    return _stripped(schema, schema, value)


class _Maker:
    """Walks one schema; ``at`` is where it stands, as a JSON pointer."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._properties = 0

    def made(self) -> dict[str, Any]:
        return self._schema(self._root, "#", 0)

    def _schema(self, schema: Any, at: str, depth: int) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            raise _refused(at, "anything at all is allowed here")
        if depth > _DEEPEST:
            raise _refused(at, f"it is nested deeper than {_DEEPEST} levels")
        unknown = schema.keys() - _NOTES - _DROPPED - _LIMITS - _SHAPES
        if unknown:
            raise _refused(at, f"'{min(unknown)}' has no strict form")
        made: dict[str, Any] = {
            key: schema[key] for key in schema if key in _NOTES or key in _LIMITS
        }
        for group in _DEFINITIONS:
            if group in schema:
                made[group] = self._each(schema[group], f"{at}/{group}", 0)
        if "$ref" in schema:
            _alone(schema, at, "$ref")
            _resolved(self._root, str(schema["$ref"]), at)
            return {**made, "$ref": schema["$ref"]}
        if "anyOf" in schema:
            _alone(schema, at, "anyOf")
            some = [
                self._schema(one, f"{at}/anyOf/{i}", depth)
                for i, one in enumerate(_listed(schema["anyOf"], at))
            ]
            return {**made, "anyOf": some}
        return {**made, **self._plain(schema, at, depth)}

    def _plain(self, schema: Mapping[str, Any], at: str, depth: int) -> dict[str, Any]:
        types = _types(schema, at)
        made: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
        if "const" in schema or "enum" in schema:
            made["enum"] = _values(schema)
        if "object" in types:
            made |= self._object(schema, at, depth)
        elif schema.keys() & {"properties", "required"}:
            raise _refused(at, "it has properties and is no object")
        if "array" in types:
            if not schema.get("items"):
                raise _refused(at, "it does not say what the list holds")
            made["items"] = self._schema(schema["items"], f"{at}/items", depth + 1)
        return made

    def _object(self, schema: Mapping[str, Any], at: str, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        beyond = schema.get("additionalProperties")
        if beyond is not False and not (beyond is None and properties):
            raise _refused(at, "its properties are not all named")
        required = set(schema.get("required", ()))
        if missing := required - properties.keys():
            raise _refused(at, f"it requires '{min(missing)}', which it does not describe")
        self._properties += len(properties)
        if self._properties > _MOST_PROPERTIES:
            raise _refused(at, f"it has more than {_MOST_PROPERTIES} properties")
        made = self._each(properties, f"{at}/properties", depth + 1)
        return {
            "properties": {
                name: one if name in required else _nullable(one) for name, one in made.items()
            },
            "required": list(made),
            "additionalProperties": False,
        }

    def _each(self, schemas: Any, at: str, depth: int) -> dict[str, dict[str, Any]]:
        if not isinstance(schemas, Mapping):
            raise _refused(at, "it is no object of schemas")
        return {
            str(name): self._schema(one, f"{at}/{name}", depth) for name, one in schemas.items()
        }


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "type" not in schema:
        null: dict[str, Any] = {"type": "null"}
        notes = {key: schema[key] for key in schema if key in _NOTES}
        if "anyOf" in schema:
            some = schema["anyOf"]
            return schema if null in some else {**schema, "anyOf": [*some, null]}
        rest = {key: value for key, value in schema.items() if key not in _NOTES}
        return {**notes, "anyOf": [rest, null]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "null" not in types:
        schema = {**schema, "type": [*types, "null"]}
    if "enum" in schema and None not in schema["enum"]:
        schema = {**schema, "enum": [*schema["enum"], None]}
    return schema


def _types(schema: Mapping[str, Any], at: str) -> list[str]:
    given = schema.get("type")
    if given is None and ("enum" in schema or "const" in schema):
        return sorted({_type_of(value, at) for value in _values(schema)})
    types = [given] if isinstance(given, str) else given
    if not isinstance(types, list) or not types or not set(map(str, types)) <= _TYPES:
        raise _refused(at, "it does not say of which type it is")
    return [str(one) for one in types]


def _values(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema["enum"])


def _type_of(value: Any, at: str) -> str:
    for kind, name in ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number")):
        if isinstance(value, kind):
            return name
    if value is None:
        return "null"
    raise _refused(at, "a constant is an object or a list")


def _alone(schema: Mapping[str, Any], at: str, key: str) -> None:
    beside = schema.keys() & ((_SHAPES | _LIMITS) - {key, *_DEFINITIONS})
    if beside:
        raise _refused(at, f"'{min(beside)}' stands beside '{key}'")


def _listed(some: Any, at: str) -> list[Any]:
    if not isinstance(some, list) or not some:
        raise _refused(at, "it offers nothing to choose from")
    return some


def _resolved(root: Mapping[str, Any], reference: str, at: str) -> Mapping[str, Any]:
    head, _, name = reference.rpartition("/")
    found: Any = root if reference == "#" else None
    if head in ("#/$defs", "#/definitions"):
        found = root.get(head[2:], {}).get(name)
    if not isinstance(found, Mapping) or "$ref" in found:
        raise _refused(at, "it refers to something that is not defined in this schema")
    return found


def _stripped(root: Mapping[str, Any], schema: Mapping[str, Any], value: Any) -> Any:
    if "$ref" in schema:
        schema = _resolved(root, str(schema["$ref"]), "#")
    if "anyOf" in schema:
        fitting = [one for one in schema["anyOf"] if _fits(root, one, value)]
        return _stripped(root, fitting[0], value) if fitting else value
    if isinstance(value, Mapping):
        required, properties = schema.get("required", ()), schema.get("properties", {})
        return {
            name: _stripped(root, properties.get(name, {}), one)
            for name, one in value.items()
            if one is not None or name in required or name not in properties
        }
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [_stripped(root, schema["items"], one) for one in value]
    return value


def _fits(root: Mapping[str, Any], schema: Mapping[str, Any], value: Any) -> bool:
    """True when ``value`` can be an answer to this one of several schemas, by types and names."""
    if "$ref" in schema:
        schema = _resolved(root, str(schema["$ref"]), "#")
    if "anyOf" in schema:
        return any(_fits(root, one, value) for one in schema["anyOf"])
    if ("enum" in schema or "const" in schema) and value not in _values(schema):
        return False
    types = _types(schema, "#")
    if isinstance(value, Mapping):
        properties, required = schema.get("properties", {}), schema.get("required", ())
        return (
            "object" in types
            and value.keys() == properties.keys()
            and all(
                (one is None and name not in required) or _fits(root, properties[name], one)
                for name, one in value.items()
            )
        )
    if isinstance(value, list):
        return "array" in types and all(_fits(root, schema["items"], one) for one in value)
    kind = _type_of(value, "#")
    return kind in types or (kind == "integer" and "number" in types)


def _refused(at: str, why: str) -> ConfigError:
    return ConfigError(
        f"the schema cannot be made strict: {why}",
        where=at,
        mend="Name every property and its type, or ask without a schema",
    )
