"""Events as advertisers send them, in one shape: seconds, cents, hashed people."""

from shared.errors import Invalid
from shared.privacy import hashed

MILLISECONDS_FROM = 100_000_000_000
MICROSECONDS_FROM = 100_000_000_000_000
KINDS = ("view", "click", "add_to_cart", "purchase")


def seconds(stamp: int | float) -> int:
    """A time stamp in seconds, whatever unit the sender uses.

    Senders write seconds, milliseconds or microseconds; the size of the number tells which.
    """
    if stamp >= MICROSECONDS_FROM:
        return int(stamp // 1_000_000)
    if stamp >= MILLISECONDS_FROM:
        return int(stamp // 1_000)
    return int(stamp)


def cents(value: int | float | str | None) -> int:
    """An amount in cents; senders write units with a fraction."""
    if value in (None, ""):
        return 0
    return round(float(value) * 100)


def event(raw: dict) -> dict:
    """One event in our shape, or Invalid."""
    kind = raw.get("kind")
    if kind not in KINDS:
        raise Invalid(f"unknown kind {kind!r}")
    if not isinstance(raw.get("at"), int | float):
        raise Invalid("at must be a number")
    person = raw.get("email") or raw.get("phone")
    if not person:
        raise Invalid("an event needs an email or a phone")
    return {
        "id": str(raw["id"]),
        "user_hash": hashed(person),
        "campaign_id": int(raw["campaign_id"]),
        "kind": kind,
        "at": seconds(raw["at"]),
        "value_cents": cents(raw.get("value")),
    }
