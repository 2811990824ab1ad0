"""What ranking knows of a user: from the cache, else from the database."""

from dataclasses import asdict, dataclass

from shared import cache
from shared.db import pool

LIFETIME_SECONDS = 120


@dataclass(frozen=True)
class FeatureRecord:
    """One user's features: click rate from 0 to 1, hours since the last visit, segments."""

    user_id: int
    click_rate: float
    recency_hours: float
    segments: tuple

    @classmethod
    def from_plain(cls, plain: dict) -> "FeatureRecord":
        return cls(
            int(plain["user_id"]),
            float(plain["click_rate"]),
            float(plain["recency_hours"]),
            tuple(plain["segments"]),
        )

    def plain(self) -> dict:
        return {**asdict(self), "segments": list(self.segments)}


DEFAULT = FeatureRecord(0, 0.01, 720.0, ())


async def load(user_id: int) -> FeatureRecord:
    """A user's features; one without any has the default."""
    key = f"features:{user_id}"
    kept = await cache.get(key)
    if kept is not None:
        return FeatureRecord.from_plain(kept)
    record = await _read(user_id)
    await cache.put(key, record.plain(), LIFETIME_SECONDS)
    return record


async def _read(user_id: int) -> FeatureRecord:
    async with pool("ad_ranking").connection() as connection:
        rows = await connection.query(
            "select user_id, click_rate, recency_hours, segments from features where user_id = ?",
            user_id,
        )
    if not rows:
        return DEFAULT
    row = rows[0]
    segments = [one for one in row["segments"].split(",") if one]
    return FeatureRecord.from_plain({**row, "segments": segments})
