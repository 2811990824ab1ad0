"""Where a model is reached and with which key. Both come from arguments and the environment only.

``OPENAI_BASE_URL`` in the environment is ignored: a base URL that nobody wrote into the call or
the settings must not redirect a run.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from heldout.errors import ConfigError
from heldout.llm.names import KNOWN_PROVIDERS, ModelName, near

OPENAI_URL = "https://api.openai.com/v1"
IN_PROCESS_URL = "http://simulated.invalid/v1"
"""Stands in the requests of simulated models; no socket is opened for it."""

NO_KEY = "none"
_SECRETS = re.compile(r"\bsk-[A-Za-z0-9_*-]{6,}|\b(?:Bearer|Basic)\s+[^\s'\",]+", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class MissingKey(ConfigError):
    """The environment holds no key for a provider that is not on this machine."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A base URL and the key sent there; the key is in no ``repr`` and no message."""

    base_url: str
    key: str = field(repr=False)

    @property
    def has_key(self) -> bool:
        """False where a server on this machine is asked without one."""
        return self.key != NO_KEY

    @property
    def is_loopback(self) -> bool:
        """True when requests stay on this machine."""
        return _is_loopback(urlsplit(self.base_url).hostname or "")

    def redacted(self, text: str, length: int = 300) -> str:
        """A server's text fit for a message: no key, no control characters, bounded."""
        text = text[: 8 * length]
        if len(self.key) >= 4 and self.has_key:
            text = text.replace(self.key, "[key]")
        text = _CONTROL.sub(" ", _SECRETS.sub("[key]", text)).strip()
        return text if len(text) <= length else text[:length] + "…"


def key_variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return re.sub(r"[^A-Z0-9]", "_", provider.upper()) + "_API_KEY"


def endpoint_for(model: ModelName, base_url: str = "") -> Endpoint:
    """The model's endpoint; a missing key or a wrong URL is a :class:`ConfigError`."""
    if model.is_simulated:
        if base_url:
            raise ConfigError(
                f"'{model}' runs in this process and takes no base URL",
                mend="Leave --base-url and models.base_url empty for sim/ models",
            )
        return Endpoint(IN_PROCESS_URL, NO_KEY)
    if not base_url and model.provider != "openai":
        guess = near(model.provider, KNOWN_PROVIDERS)
        meant = f"Did you mean '{guess}/{model.name}'? Otherwise pass" if guess else "Pass"
        raise ConfigError(
            f"no base URL is known for provider '{model.provider}'",
            mend=f"{meant} --base-url URL, or set models.base_url in heldout.toml",
        )
    url = _checked(base_url or OPENAI_URL)
    variable = key_variable(model.provider)
    key = os.environ.get(variable, "").strip()
    if not key:
        if not _is_loopback(urlsplit(url).hostname or ""):
            raise MissingKey(
                f"the environment variable {variable} is not set, so '{model}' cannot be called",
                mend=f"Set {variable}, or use a sim/ model",
            )
        key = NO_KEY
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"the environment variable {variable} holds characters that no key has",
            mend=f"Set {variable} again, without line breaks",
        )
    return Endpoint(url, key)


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ConfigError(
            "the base URL is not an http or https address",
            where="base_url",
            mend="Write it like http://127.0.0.1:8099/v1",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            "the base URL holds credentials, a query or a fragment, which would be recorded",
            where="base_url",
            mend="Put the key into the environment and leave only scheme, host, port and path",
        )
    return url.rstrip("/")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
