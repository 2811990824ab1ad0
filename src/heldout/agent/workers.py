"""Threads for calls into an environment.

A query may take seconds (a slow expression over a large log), and the event loop drives every other
investigation meanwhile; DuckDB also frees the interpreter lock while it works. The threads are as
many as the cores, since more would only fight over that lock.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

_T = TypeVar("_T")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(os.cpu_count() or 1, 2), thread_name_prefix="heldout-tool")


async def in_worker(function: Callable[[], _T]) -> _T:
    """Run ``function`` in a thread. A cancelled caller goes on only when it has ended.

    So nobody closes a session under a query that still runs.
    """
    running = asyncio.get_running_loop().run_in_executor(_pool(), function)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
