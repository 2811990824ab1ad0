"""Time: seconds since the epoch, UTC, everywhere inside; other units only at the edge."""

import host

HOUR = 3600
DAY = 24 * HOUR


def now() -> int:
    """Whole seconds since the epoch."""
    return int(host.now())


def hours_ago(hours: float) -> int:
    """The moment so many hours before now."""
    return now() - int(hours * HOUR)
