"""Base URLs and keys: from arguments and the environment, and never shown."""

from __future__ import annotations

import pytest

from heldout.errors import ConfigError
from heldout.llm import ModelName
from heldout.llm.endpoints import OPENAI_URL, Endpoint, endpoint_for, key_variable

GPT = ModelName("openai", "gpt-5", "low")
SECRET = "sk-test-0123456789abcdef"


def test_a_missing_key_names_its_variable():
    """Without a key nothing is called; the message says which variable to set."""
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        endpoint_for(GPT)
    with pytest.raises(ConfigError, match="MY_HOST_API_KEY"):
        endpoint_for(ModelName("my-host", "m"), "https://models.example/v1")


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:1", "[::1]:1"])
def test_loopback_needs_no_key(host: str):
    """A local server is called with the key 'none'."""
    endpoint = endpoint_for(GPT, f"http://{host}/v1/")
    assert endpoint.key == "none"
    assert endpoint.is_loopback
    assert endpoint.base_url == f"http://{host}/v1"


def test_the_environment_does_not_redirect(monkeypatch: pytest.MonkeyPatch):
    """OPENAI_BASE_URL is ignored: the URL comes from argument or settings."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert endpoint_for(GPT).base_url == OPENAI_URL


def test_each_provider_has_its_own_variable(monkeypatch: pytest.MonkeyPatch):
    """OpenAI's key is not sent to another provider."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert key_variable("my-host.v2") == "MY_HOST_V2_API_KEY"
    assert endpoint_for(ModelName("other", "m"), "http://127.0.0.1:1").key == "none"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x/v1",
        "api.openai.com",
        "http://",
        "http://u:p@h/v1",
        "https://h/v1?key=1",
        "http://h:99999",
        "http://[::1",
        "http://h/#x",
    ],
)
def test_urls_that_are_none_or_hold_secrets_are_refused(url: str):
    """What is not an address, or would put a secret into the manifest, is a configuration error."""
    with pytest.raises(ConfigError) as caught:
        endpoint_for(GPT, url)
    assert "u:p" not in str(caught.value)


def test_a_provider_without_base_url_is_refused():
    """Only OpenAI's own URL is known."""
    with pytest.raises(ConfigError, match="no base URL"):
        endpoint_for(ModelName("other", "m"))


def test_a_simulated_model_takes_no_base_url():
    """A base URL for a model in this process is a mistake worth telling."""
    assert endpoint_for(ModelName("sim", "anchored")).key == "none"
    with pytest.raises(ConfigError, match="runs in this process"):
        endpoint_for(ModelName("sim", "anchored"), "http://127.0.0.1:1")


def test_a_key_with_line_breaks_inside_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch,
):
    """A pasted key with garbage is told by its variable, not by its value."""
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}\nX-Evil: 1")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        endpoint_for(GPT)
    assert SECRET not in str(caught.value)


def test_repr_and_server_texts_hide_the_key():
    """Neither a printed endpoint nor a quoted server message carries the key or control characters."""
    endpoint = Endpoint("https://x/v1", "plainkey123")
    assert "plainkey123" not in repr(endpoint)
    shown = endpoint.redacted(f"bad plainkey123 {SECRET} Bearer abc.def \x1b[31mred\n" + "x" * 5000)
    for hidden in ("plainkey123", SECRET, "abc.def", "\x1b", "\n"):
        assert hidden not in shown
    assert len(shown) <= 301
