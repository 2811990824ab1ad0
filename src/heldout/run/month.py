"""The calendar month's caps: what all jobs, scores, runs and canaries may spend together.

What was spent is read from the ledger, where everything that was ever paid for stands; what is
spent from then on is added as it happens. One process writes a ledger at a time, so nothing is
missed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from heldout.errors import CapReached
from heldout.run.caps import UNPRICED, Caps, left_of
from heldout.settings import MonthSettings, Settings
from heldout.store import Ledger, now_us
from heldout.store.spending import month_of, spending

Clock = Callable[[], int]
"""Gives now, in microseconds since the epoch, UTC."""


class Month:
    """Spending in the calendar month (UTC) against its caps; a new month begins at nothing.

    ``usd`` is ``None`` once anything of unknown price was bought; then a cap in USD counts as
    reached.
    """

    def __init__(
        self,
        caps: MonthSettings,
        *,
        usd: float | None = 0.0,
        tokens: int = 0,
        now: Clock = now_us,
    ) -> None:
        self.caps = caps
        self.usd = usd
        self.tokens = tokens
        self._now = now
        self._since = month_of(now())
        self._kept = 0.0, 0

    @property
    def max_usd(self) -> float | None:
        """The month's cap in USD."""
        return self.caps.max_usd

    def add(self, usd: float | None, tokens: int) -> None:
        """Count one reply of a model."""
        self._turn()
        self.usd = None if usd is None or self.usd is None else self.usd + usd
        self.tokens += tokens

    def left(self) -> Caps:
        """What it still allows in USD and tokens."""
        self._turn()
        return left_of(self.caps.max_usd, self.caps.max_tokens, self.usd, self.tokens)

    def keep(self, share: float) -> None:
        """Hold back this share of what is left, for the end of a job; 0 gives it free again."""
        left = self.left()
        self._kept = share * (left.max_usd or 0.0), int(share * (left.max_tokens or 0))

    def reached(self) -> str:
        """Which cap is reached, as a sentence; empty while none is."""
        self._turn()
        caps, (usd, tokens) = self.caps, self._kept
        if caps.max_usd is not None:
            if self.usd is None:
                return f"in this month {UNPRICED}"
            if self.usd >= caps.max_usd - usd:
                return f"the month's cap of {caps.max_usd:g} USD is reached ({self._spent()})"
        if caps.max_tokens is not None and self.tokens >= caps.max_tokens - tokens:
            return f"the month's cap of {caps.max_tokens} tokens is reached ({self._spent()})"
        return ""

    def words(self) -> str:
        """What all models together spent of it, in one line."""
        usd = "unknown" if self.usd is None else f"{self.usd:.2f}"
        most = "" if self.caps.max_usd is None else f" of {self.caps.max_usd:.2f}"
        limit = "" if self.caps.max_tokens is None else f" of {self.caps.max_tokens:,}"
        return f"this month, all models: {usd}{most} USD, {self.tokens:,}{limit} tokens"

    def require(self) -> None:
        """Raise :class:`CapReached` where nothing more may be spent in this month."""
        if why := self.reached():
            raise CapReached(
                why, mend="Wait for the next month, or raise the cap in heldout.toml's [month]"
            )

    def _spent(self) -> str:
        first = datetime.fromtimestamp(self._since / 1e6, UTC)
        usd = "unknown" if self.usd is None else f"{self.usd:.2f}"
        return f"{usd} USD and {self.tokens} tokens since {first:%Y-%m-%d}"

    def _turn(self) -> None:
        """Begin anew when a month has ended meanwhile."""
        since = month_of(self._now())
        if since != self._since:
            self._since, self.usd, self.tokens, self._kept = since, 0.0, 0, (0.0, 0)


def open_month(settings: Settings, ledger: Ledger, *, now: Clock = now_us) -> Month | None:
    """The month's budget with what the ledger says was spent; ``None`` without a cap."""
    caps = settings.month
    if caps.max_usd is None and caps.max_tokens is None:
        return None
    spent = spending(ledger, since=month_of(now()))
    return Month(caps, usd=spent.total_usd, tokens=spent.total_tokens, now=now)
