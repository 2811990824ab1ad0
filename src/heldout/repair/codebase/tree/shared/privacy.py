"""What may leave the house of a person: hashes and the region, never an address or a number."""

import hashlib

PRIVATE = ("email", "phone", "name", "address")


def hashed(value: str) -> str:
    """The sha256 of an address or number, spaces and case set aside."""
    return hashlib.sha256("".join(value.split()).lower().encode()).hexdigest()


def public(user: dict) -> dict:
    """A user as others may see one."""
    return {"id": user["id"], "region": user.get("region", "")}


def masked(value: str) -> str:
    """A number or address for a log: its last two characters."""
    return f"***{value[-2:]}" if value else ""
