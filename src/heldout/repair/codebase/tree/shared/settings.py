"""Settings of the deployment, read once for each use so that a change takes effect at once."""

import host

POOL_SIZE = 12
POOL_WAIT_SECONDS = 1.0
CALL_TIMEOUT_SECONDS = 2.0
CALL_ATTEMPTS = 2
HANDLER_SECONDS = 3.0


def flag(name: str, default: bool = False) -> bool:
    """A switch: 1, true, yes and on are on."""
    value = host.setting(name, "1" if default else "0")
    return value.strip().lower() in ("1", "true", "yes", "on")


def number(name: str, default: float) -> float:
    """A number, or the default where the setting is absent or no number."""
    try:
        return float(host.setting(name, str(default)))
    except ValueError:
        return default
