"""Strict schemas: always conformant, never looser than what they were made from, or refused."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import ConfigError
from heldout.graph.tools.catalogue import tool_specs
from heldout.llm.messages import ModelRequest
from heldout.llm.names import ModelName
from heldout.llm.strict import is_strict, strict_schema, without_nulls
from heldout.llm.wires import WIRES, wire_named

Schema = dict[str, Any]
NAMES = st.sampled_from(["a", "b", "c", "d"])

LEAVES = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "string", "title": "S", "default": "x"}),
    st.just({"type": "integer", "minimum": 0, "maximum": 3}),
    st.just({"type": "number", "description": "how much"}),
    st.just({"type": ["boolean", "null"]}),
    st.just({"enum": ["x", "y", 3, None]}),
    st.just({"type": "string", "enum": ["x", "y"]}),
    st.just({"const": "only"}),
    st.just({"$ref": "#/$defs/named"}),
)


def objects(inner: st.SearchStrategy[Schema], fewest: int = 1) -> st.SearchStrategy[Schema]:
    """Objects with some required properties."""

    @st.composite
    def made(draw: st.DrawFn) -> Schema:
        properties = draw(st.dictionaries(NAMES, inner, min_size=fewest, max_size=3))
        required = [name for name in properties if draw(st.booleans())]
        schema: Schema = {"type": "object", "properties": properties}
        if required or draw(st.booleans()):
            schema["required"] = required
        if draw(st.booleans()):
            schema["additionalProperties"] = False
        return schema

    return made()


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        objects(inner),
        inner.map(lambda one: {"type": "array", "items": one, "maxItems": 3}),
        inner.map(lambda one: {"anyOf": [{"type": "boolean"}, one]}),
    ),
    max_leaves=6,
)
ROOTS = objects(SCHEMAS).map(
    lambda schema: {
        **schema,
        "$defs": {"named": {"type": "object", "properties": {"z": {"type": "string"}}}},
    }
)


def values(root: Schema, schema: Schema) -> st.SearchStrategy[Any]:
    """Values that a schema of the forms above accepts, its objects taken as closed."""
    if "$ref" in schema:
        return values(root, root["$defs"]["named"])
    if "anyOf" in schema:
        return st.one_of(*(values(root, one) for one in schema["anyOf"]))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of(*(of_type(root, schema, kind) for kind in types))


def of_type(root: Schema, schema: Schema, kind: str) -> st.SearchStrategy[Any]:
    """Values of one of a schema's types."""
    if kind == "object":
        properties = {name: values(root, one) for name, one in schema["properties"].items()}
        required = schema.get("required", ())
        return st.fixed_dictionaries(
            {name: one for name, one in properties.items() if name in required},
            optional={name: one for name, one in properties.items() if name not in required},
        )
    if kind == "array":
        return st.lists(values(root, schema["items"]), max_size=3)
    return {
        "string": st.text(max_size=3),
        "integer": st.integers(0, 3),
        "number": st.floats(-5, 5),
        "boolean": st.booleans(),
        "null": st.none(),
    }[kind]


def filled(root: Schema, schema: Schema, value: Any) -> Any:
    """``value`` with a null for every property that is missing, as a strict answer has it."""
    if "$ref" in schema:
        schema = root["$defs"]["named"]
    if "anyOf" in schema:
        schema = next(one for one in schema["anyOf"] if fits(root, one, value))
        return filled(root, schema, value)
    if isinstance(value, dict):
        return {
            name: filled(root, one, value[name]) if name in value else None
            for name, one in schema["properties"].items()
        }
    if isinstance(value, list):
        return [filled(root, schema["items"], one) for one in value]
    return value


def fits(root: Schema, schema: Schema, value: Any) -> bool:
    """True when the original accepts the value."""
    return jsonschema.Draft202012Validator({**schema, "$defs": root["$defs"]}).is_valid(value)


def walk(schema: Any) -> list[Schema]:
    """Every schema inside a strict one."""
    found = [schema]
    for group in ("properties", "$defs"):
        for one in schema.get(group, {}).values():
            found += walk(one)
    for one in [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]:
        found += walk(one)
    return found


@given(ROOTS)
def test_what_comes_out_is_strict_and_stays_as_it_is(schema: Schema):
    """Objects are closed and require everything, no annotation is left that strict refuses."""
    made = strict_schema(schema)
    jsonschema.Draft202012Validator.check_schema(made)
    for one in walk(made):
        types = one.get("type", ())
        if "object" in ([types] if isinstance(types, str) else types):
            assert one["additionalProperties"] is False
            assert set(one["required"]) == one["properties"].keys()
        assert "default" not in one
        assert len({"type", "anyOf", "$ref"} & one.keys()) == 1
    assert strict_schema(made) == made


@given(ROOTS, st.data())
def test_every_answer_to_the_original_has_a_strict_form(schema: Schema, data: st.DataObject):
    """Filled with nulls it is accepted, and comes back without the nulls."""
    value = data.draw(values(schema, schema))
    strict = filled(schema, schema, value)
    jsonschema.validate(strict, strict_schema(schema))
    jsonschema.validate(without_nulls(schema, strict), schema)


@given(ROOTS, st.data())
def test_nothing_is_loosened(schema: Schema, data: st.DataObject):
    """Whatever the strict form accepts is, without its nulls, an answer to the original."""
    made = strict_schema(schema)
    strict = data.draw(values(made, made))
    jsonschema.validate(without_nulls(schema, strict), schema)


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "string"}, "#"),
        ({"anyOf": [{"type": "object", "properties": {"a": {"type": "null"}}}]}, "#"),
        ({}, "#"),
        ({"type": "object"}, "#"),
        ({"type": "object", "properties": {}, "additionalProperties": True}, "#"),
        ({"a": {"type": "object", "additionalProperties": {"type": "string"}}}, "#/properties/a"),
        ({"a": {}}, "#/properties/a"),
        ({"a": True}, "#/properties/a"),
        ({"a": {"type": "text"}}, "#/properties/a"),
        ({"a": {"type": "array"}}, "#/properties/a"),
        ({"a": {"type": "array", "items": {}}}, "#/properties/a"),
        ({"a": {"type": "string", "minLength": 2}}, "#/properties/a"),
        ({"a": {"oneOf": [{"type": "string"}]}}, "#/properties/a"),
        ({"a": {"allOf": [{"type": "string"}]}}, "#/properties/a"),
        ({"a": {"anyOf": []}}, "#/properties/a"),
        ({"a": {"anyOf": [{"type": "string"}], "type": "string"}}, "#/properties/a"),
        ({"a": {"$ref": "other.json"}}, "#/properties/a"),
        ({"a": {"$ref": "#/$defs/none"}}, "#/properties/a"),
        ({"a": {"const": {"b": 1}}}, "#/properties/a"),
        ({"a": {"type": "string", "properties": {"b": {"type": "null"}}}}, "#/properties/a"),
    ],
)
def test_what_cannot_be_strict_is_refused_at_its_place(schema: Schema, place: str):
    """Open objects, unknown keywords and missing types have no strict form."""
    if "a" in schema:
        schema = {"type": "object", "properties": schema}
    with pytest.raises(ConfigError) as caught:
        strict_schema(schema)
    assert caught.value.where == place


def test_a_required_name_must_be_described():
    """What is required and nowhere described could never be answered."""
    with pytest.raises(ConfigError, match="requires 'b'"):
        strict_schema(
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}
        )


def test_depth_and_size_are_bounded():
    """Providers refuse what is too deep or too large, so it is refused here."""
    deep: Schema = {"type": "string"}
    for _ in range(12):
        deep = {"type": "object", "properties": {"a": deep}}
    with pytest.raises(ConfigError, match="deeper"):
        strict_schema(deep)
    wide = {str(number): {"type": "string"} for number in range(5001)}
    with pytest.raises(ConfigError, match="more than 5000"):
        strict_schema({"type": "object", "properties": wide})


def test_a_schema_may_refer_to_itself():
    """A tree of the root's own form is strict like any other."""
    tree: Schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#"}},
        "required": ["name"],
    }
    made = strict_schema(tree)
    assert made["properties"]["next"] == {"anyOf": [{"$ref": "#"}, {"type": "null"}]}
    answer = {"name": "a", "next": {"name": "b", "next": None}}
    jsonschema.validate(answer, made)
    assert without_nulls(tree, answer) == {"name": "a", "next": {"name": "b"}}


@pytest.mark.parametrize("spec", tool_specs(), ids=lambda spec: spec.name)
def test_every_tool_of_the_project_has_a_strict_form(spec: Any):
    """The thirteen tools and the submission can be offered to providers that demand it."""
    made = strict_schema(spec.parameters)
    assert set(made["required"]) == spec.parameters["properties"].keys()


@pytest.mark.parametrize("name", WIRES)
def test_a_schema_is_sent_as_strict_only_where_it_is(name: str):
    """Providers refuse a loose schema that is called strict; as guidance they take it."""
    loose: Schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    for schema, expected in ((loose, False), (strict_schema(loose), True)):
        assert is_strict(schema) is expected
        request = ModelRequest(({"role": "user", "content": "x"},), response_schema=schema)
        body = json.loads(wire_named(name).encode(ModelName("openai", "m"), request))
        sent = body["text"]["format"] if name == "responses" else body["response_format"]
        assert sent.get("json_schema", sent)["strict"] is expected
