"""Python's cycle collector, held off while a world is made or opened."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Hold off the cycle collector inside the block.

    A world is tens of thousands of tuples without a cycle among them; walking them again and again
    in search of one costs a third of the CPU time of making it.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
