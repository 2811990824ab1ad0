"""The shared cache: keys, values that are plain data, seconds to live."""

import host


async def get(key: str):
    """The value, or None."""
    return await host.call("cache.get", key=key)


async def put(key: str, value, seconds: float) -> None:
    """Keep a value."""
    await host.call("cache.set", key=key, value=value, seconds=seconds)
