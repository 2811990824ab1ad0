"""Names of models: what is read, what is refused, and which way out a refusal shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import UsageError
from heldout.llm import ModelName
from heldout.llm.names import EFFORTS


@pytest.mark.parametrize(
    ("text", "provider", "name", "effort"),
    [
        ("openai/gpt-5@low", "openai", "gpt-5", "low"),
        ("sim/anchored", "sim", "anchored", ""),
        ("openrouter/meta/llama-3:8b@high", "openrouter", "meta/llama-3:8b", "high"),
        ("  openai/gpt-5  ", "openai", "gpt-5", ""),
    ],
)
def test_names_are_read(text: str, provider: str, name: str, effort: str):
    """Provider up to the first slash, effort after the last at sign."""
    assert ModelName.parse(text) == ModelName(provider, name, effort)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("anchored", "sim/anchored"),
        ("sim/anchord@low", "sim/anchored"),
        ("openai gpt-5", "provider/name@effort"),
        ("gpt-5", "openai/gpt-5"),
        ("openai/gpt-5@lwo", "@low"),
        ("openai/gpt-5@", "Efforts"),
        ("", "provider/name@effort"),
        ("/x", "provider/name@effort"),
        ("openai/", "provider/name@effort"),
        ("openai/\x1b[31mred", "provider/name@effort"),
    ],
)
def test_wrong_names_show_a_way_out(text: str, hint: str):
    """What is no name of a model is a usage error with a near one or the form."""
    with pytest.raises(UsageError) as caught:
        ModelName.parse(text)
    assert hint in str(caught.value)
    assert "\x1b" not in str(caught.value)


@given(
    st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True).filter(lambda p: p != "sim"),
    st.from_regex(r"[a-z0-9][a-z0-9./:-]{0,12}", fullmatch=True),
    st.sampled_from(["", *EFFORTS]),
)
def test_str_gives_back_what_was_parsed(provider: str, name: str, effort: str):
    """Parsing and printing are inverse."""
    text = f"{provider}/{name}" + (f"@{effort}" if effort else "")
    assert str(ModelName.parse(text)) == text


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str):
    """No text makes anything but a name that prints as it was written, or a usage error."""
    try:
        name = ModelName.parse(text)
    except UsageError:
        return
    assert str(name) == text.strip()
