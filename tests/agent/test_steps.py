"""Steps out of a model's text: which shapes count, and what is never taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.agent.sheet import tool_sheet
from heldout.agent.steps import StepText, read_steps, step_schema
from heldout.graph import tool_specs
from heldout.interface import ToolSpec

LOOK = StepText("look", '{"q": "a"}')


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "look", "arguments": {"q": "a"}}',
        '```json\n{"tool": "look", "arguments": {"q": "a"}}\n```',
        '```\n{"tool": "look", "arguments": {"q": "a"}}\n```',
        '<tool_call>\n{"name": "look", "arguments": {"q": "a"}}\n</tool_call>',
        'First I look. {"tool": "look", "arguments": {"q": "a"}} That will tell.',
        'With {braces} before: {"name": "look", "parameters": {"q": "a"}}',
        '{"tool": "look", "args": {"q": "a"}}',
        '{"action": "look", "action_input": {"q": "a"}}',
        '{"function": {"name": "look", "arguments": "{\\"q\\": \\"a\\"}"}}',
        '{"type": "function", "function": {"name": "look", "arguments": {"q": "a"}}}',
        '{"tool_calls": [{"name": "look", "arguments": {"q": "a"}}]}',
        '[{"name": "look", "arguments": {"q": "a"}}]',
        '{"tool": "look", "q": "a"}',
        '{"tool": "look", "arguments": {"q": "a",},}',
        "{'tool': 'look', 'arguments': {'q': 'a'}}",
        '<think>{"tool": "no", "arguments": {}}</think>{"tool": "look", "arguments": {"q": "a"}}',
        '{"tool": " look ", "arguments": {"q": "a"}}',
    ],
)
def test_shapes_that_models_write(text: str):
    """Bare, fenced, tagged, between sentences, with other keys, or slightly broken: one step."""
    (found,) = read_steps(text)
    assert found.tool == "look"
    assert json.loads(found.arguments) == {"q": "a"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would look at the logs next.",
        '{"rows": [{"id": "e-1", "name": "mirlo"}], "tool_version": 2}',
        '{"name": "mirlo", "kind": "Service"}',
        '{"tool": 3, "arguments": {}}',
        '{"tool": "", "arguments": {}}',
        "[1, 2, 3]",
        "{" * 5_000,
        "[" * 5_000 + "}",
        '{"a":' * 3_000 + "}",
    ],
)
def test_what_is_no_step(text: str):
    """Words, rows of an answer, other JSON and hostile nesting hold no step."""
    assert read_steps(text) == []


def test_a_broken_step_is_not_read_out_of_its_own_arguments():
    """An argument called 'name' inside a broken step is not taken for the tool."""
    (found,) = read_steps('{"tool": "read_skill", "arguments": {"name": "fleet"},}')
    assert found.tool == "read_skill"


def test_a_reply_that_was_cut_off_is_not_completed():
    """Half a step is repaired neither into a call nor into other arguments."""
    half = '{"tool": "look", "arguments": {"q": "a", "r": {"s": 1}'
    assert read_steps(half, whole=False) == []
    assert read_steps(half + "}", whole=False) == []
    assert [
        one.tool for one in read_steps('{"tool":"look","arguments":{}} {"tool":"lo', whole=False)
    ] == ["look"]


def test_several_steps_are_all_found_in_order():
    """A reply with more than one call says so."""
    text = "".join(f'```json\n{{"tool": "t{i}", "arguments": {{}}}}\n```\n' for i in range(3))
    assert [one.tool for one in read_steps(text)] == ["t0", "t1", "t2"]


def test_arguments_that_are_no_object_are_handed_on():
    """What stands in place of the arguments is for the toolbox to refuse."""
    assert read_steps('{"tool": "look", "arguments": [1]}')[0].arguments == "[1]"
    assert read_steps('{"tool": "look", "arguments": null}')[0].arguments == "{}"


def test_a_thought_is_kept():
    """The sentence beside the call is found under its usual names."""
    for key in ("thought", "reasoning", "why"):
        text = json.dumps({key: "because", "tool": "look", "arguments": {}})
        assert read_steps(text)[0].thought == "because"


def test_long_broken_json_is_not_repaired(monkeypatch: pytest.MonkeyPatch):
    """The repair's time grows with the square of the text, so only short texts are given to it."""
    given: list[str] = []
    monkeypatch.setattr("json_repair.loads", lambda text, **_: given.append(text))
    read_steps('{"' + 'a"' * 9_000 + "}")
    assert not given
    read_steps("{'tool': 'look'}")
    assert given == ["{'tool': 'look'}"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tool", "name", "args", "function", "q"]), inner, max_size=3
        )
    ),
    max_leaves=10,
)


@given(st.text(max_size=300) | st.tuples(st.text(max_size=20), JSON, st.text(max_size=20)))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read(given_text: Any):
    """Whatever a model writes is read without an error, and what is found has a name."""
    text = given_text
    if not isinstance(text, str):
        before, value, after = given_text
        text = f"{before}{json.dumps(value)}{after}"
    for found in (*read_steps(text), *read_steps(text, whole=False)):
        assert found.tool
        assert isinstance(found.arguments, str)
        assert json.loads(found.canonical())["tool"] == found.tool


def test_the_schema_is_plain():
    """Three required keys, the tools as an enumeration, no patterns and no alternatives."""
    schema = step_schema(("look", "submit_diagnosis"))
    assert schema["required"] == ["thought", "tool", "arguments"]
    assert schema["properties"]["tool"]["enum"] == ["look", "submit_diagnosis"]
    text = json.dumps(schema)
    assert not any(word in text for word in ("pattern", "oneOf", "anyOf", "maxLength"))


def test_the_sheet_names_every_tool_argument_and_value():
    """What the native schemas say stands on paper: tools, arguments, values, descriptions."""
    sheet = tool_sheet(tool_specs())
    for spec in tool_specs():
        assert f"\n{spec.name}(" in sheet
        assert spec.description in sheet
        for name, schema in spec.parameters["properties"].items():
            required = name in spec.parameters["required"]
            assert f"{name}{'' if required else '?'}: " in sheet
            assert schema.get("description", "") in sheet
            for value in schema.get("enum") or schema.get("items", {}).get("enum") or ():
                assert str(value) in sheet
    assert len(sheet) < 9_000


def test_the_sheet_bears_any_schema():
    """An environment of others may describe its arguments as it likes."""
    schema = {
        "type": "object",
        "properties": {"a": {}, "b": {"type": ["string", "null"]}, "c": {"type": "array"}},
    }
    assert 'odd(a?: any, b?: ["string", "null"], c?: list of any)' in tool_sheet(
        (ToolSpec("odd", "Odd.", schema),)
    )
    assert "none()" in tool_sheet((ToolSpec("none", "None.", {}),))
