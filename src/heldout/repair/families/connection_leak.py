"""A connection or permit that is not given back on one way out."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.repair.defect import Change, Repair, Template, Truth
from heldout.repair.platform.replay import Partner, Stall
from heldout.repair.traffic import Profile

_PEAK = Profile(rate=9.0, peak=2.5)
_BIGGER_POOL = Change("shared/settings.py", "POOL_SIZE = 12", "POOL_SIZE = 40")
_LONGER_WAIT = Change(
    "shared/settings.py", "POOL_WAIT_SECONDS = 1.0", "POOL_WAIT_SECONDS = 4.0"
)  # fmt: skip

_BUDGET = Change(
    "ad_ranking/budget.py",
    """    try:
        changed = await connection.execute(
            "update campaigns set spent_cents = min(budget_cents, spent_cents + ?) where id = ?",
            cents,
            campaign_id,
        )
        if not changed:
            raise NotFound(f"campaign {campaign_id}")
        rows = await connection.query(
            "select budget_cents - spent_cents as left_cents from campaigns where id = ?",
            campaign_id,
        )
    finally:
        connections.release(connection)
""",
    """    changed = await connection.execute(
        "update campaigns set spent_cents = min(budget_cents, spent_cents + ?) where id = ?",
        cents,
        campaign_id,
    )
    if not changed:
        raise NotFound(f"campaign {campaign_id}")
    rows = await connection.query(
        "select budget_cents - spent_cents as left_cents from campaigns where id = ?",
        campaign_id,
    )
    connections.release(connection)
""",
)
_PERMIT = Change(
    "whatsapp_sync/delivery.py",
    """    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            await calls.partner("carrier", {"to": phone, "text": text})
    except (TimeoutError, host.HostError):
        log.warn("carrier did not take a message", to=masked(phone))
        raise ApiError(502, "carrier", "the carrier did not answer") from None
    finally:
        permits.release()
    return "sent"
""",
    """    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            await calls.partner("carrier", {"to": phone, "text": text})
    except (TimeoutError, host.HostError):
        log.warn("carrier did not take a message", to=masked(phone))
        raise ApiError(502, "carrier", "the carrier did not answer") from None
    permits.release()
    return "sent"
""",
)
_CONTEXT = Change(
    "shared/db.py",
    """        held = await self.acquire()
        try:
            yield held
        finally:
            self.release(held)
""",
    """        held = await self.acquire()
        try:
            yield held
        except Exception:
            self.release(held)
            raise
        else:
            self.release(held)
""",
)


@dataclass(frozen=True, slots=True)
class ConnectionLeak:
    """Load makes it visible, and hours: each time that way is taken one fewer is left."""

    name: str = "connection_leak"

    def templates(self) -> tuple[Template, ...]:
        """On an unknown campaign, on a carrier that fails, on a caller that gave up."""
        return (_error_path(), _permit(), _cancelled())


def _error_path() -> Template:
    back = Change(_BUDGET.path, _BUDGET.new, _BUDGET.old)
    twice = Change(
        "ad_ranking/budget.py",
        '        raise NotFound(f"campaign {campaign_id}")\n',
        "        connections.release(connection)\n        connections.release(connection)\n"
        '        raise NotFound(f"campaign {campaign_id}")\n',
    )
    silent = Change(
        "ad_ranking/budget.py",
        '        raise NotFound(f"campaign {campaign_id}")\n',
        '        connections.release(connection)\n        return {"campaign_id": campaign_id,'
        ' "left_cents": 0}\n',
    )
    return Template(
        name="leak-on-error",
        title="ad_ranking answers slowly and then not at all when traffic is high",
        defect=(_BUDGET,),
        truth=Truth(
            "ad_ranking", "ad_ranking/budget.py", "spend", "resource_not_released_on_error",
            ("ad_ranking", "whatsapp_sync"), ("shared/settings.py", "ad_ranking/candidates.py"),
        ),
        fix=Repair("release in finally", (back,)),
        wrong=(
            Repair("a bigger pool", (_BIGGER_POOL,)),
            Repair("a longer wait", (_LONGER_WAIT,)),
            Repair("released twice", (twice,)),
            Repair("unknown campaigns answered as known", (silent,)),
        ),
        suite="load",
        profile=Profile(rate=9.0, peak=2.5, shares={**_PEAK.shares, "spend": 4.0}, unknown=0.1),
    )  # fmt: skip


def _permit() -> Template:
    back = Change(_PERMIT.path, _PERMIT.new, _PERMIT.old)
    more = Change(_PERMIT.path, "AT_ONCE = 20", "AT_ONCE = 60")
    swallow = Change(
        _PERMIT.path,
        '        raise ApiError(502, "carrier", "the carrier did not answer") from None\n',
        '        permits.release()\n        return "sent"\n',
    )
    return Template(
        name="permit-on-carrier-failure",
        title="whatsapp_sync stops sending after a while; callers wait until they give up",
        defect=(_PERMIT,),
        truth=Truth(
            "whatsapp_sync", "whatsapp_sync/delivery.py", "deliver", "permit_not_returned",
            ("whatsapp_sync",), ("shared/calls.py", "shared/settings.py"),
        ),
        fix=Repair("release in finally", (back,)),
        wrong=(
            Repair("more permits", (more,)),
            Repair("failures reported as sent", (swallow,)),
            Repair("a bigger pool", (_BIGGER_POOL,)),
        ),
        suite="load",
        profile=Profile(rate=9.0, peak=2.5, shares={**_PEAK.shares, "send": 6.0}),
        partner=Partner(0.25, slow_every=6),
    )  # fmt: skip


def _cancelled() -> Template:
    back = Change(_CONTEXT.path, _CONTEXT.new, _CONTEXT.old)
    return Template(
        name="leak-on-cancel",
        title="requests fail for want of a database connection some time after each deploy",
        defect=(_CONTEXT,),
        truth=Truth(
            "shared", "shared/db.py", "connection", "resource_not_released_on_cancel",
            ("ad_ranking", "capi_pipeline", "whatsapp_sync"), ("shared/calls.py",),
        ),
        fix=Repair("release in finally", (back,)),
        wrong=(
            Repair("a bigger pool", (_BIGGER_POOL,)),
            Repair("a longer wait", (_LONGER_WAIT,)),
        ),
        suite="load",
        profile=_PEAK,
        stalls=tuple(Stall(at, at + 1, 4) for at in range(8, 150, 10)),
    )  # fmt: skip


FAMILY = ConnectionLeak()
