"""Creatives that may be shown: of active campaigns with budget left."""

from dataclasses import dataclass

from shared import cache
from shared.db import pool

LIFETIME_SECONDS = 20


@dataclass(frozen=True)
class Candidate:
    """A creative with its campaign: bid in cents, quality from 0 to 1, segment aimed at."""

    creative_id: int
    campaign_id: int
    bid_cents: int
    quality: float
    segment: str

    @classmethod
    def from_plain(cls, plain: dict) -> "Candidate":
        return cls(
            int(plain["creative_id"]),
            int(plain["campaign_id"]),
            int(plain["bid_cents"]),
            float(plain["quality"]),
            str(plain["segment"]),
        )


async def load(placement: str) -> list[Candidate]:
    """The candidates for a placement, best bid first."""
    key = f"candidates:{placement}"
    kept = await cache.get(key)
    if kept is None:
        kept = await _read(placement)
        await cache.put(key, kept, LIFETIME_SECONDS)
    return [Candidate.from_plain(one) for one in kept]


async def _read(placement: str) -> list[dict]:
    async with pool("ad_ranking").connection() as connection:
        return await connection.query(
            "select r.id as creative_id, c.id as campaign_id, r.bid_cents, r.quality, c.segment"
            " from creatives r join campaigns c on c.id = r.campaign_id"
            " where c.active = 1 and c.spent_cents < c.budget_cents and r.placement = ?"
            " order by r.bid_cents desc, r.id",
            placement,
        )
