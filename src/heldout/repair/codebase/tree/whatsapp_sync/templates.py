"""Message templates and their blanks."""

from dataclasses import dataclass

from shared import cache
from shared.db import pool
from shared.errors import NotFound

LIFETIME_SECONDS = 60


@dataclass(frozen=True)
class Template:
    """A text with blanks like {title}; whether it needs that a person agreed to offers."""

    id: int
    body: str
    needs_consent: bool

    @classmethod
    def from_plain(cls, plain: dict) -> "Template":
        return cls(int(plain["id"]), str(plain["body"]), bool(plain["needs_consent"]))

    def filled(self, **values: str) -> str:
        text = self.body
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text


async def load(template_id: int) -> Template:
    """A template, or NotFound."""
    key = f"template:{template_id}"
    kept = await cache.get(key)
    if kept is None:
        async with pool("whatsapp_sync").connection() as connection:
            rows = await connection.query(
                "select id, body, needs_consent from templates where id = ?", template_id
            )
        if not rows:
            raise NotFound(f"template {template_id}")
        kept = rows[0]
        await cache.put(key, kept, LIFETIME_SECONDS)
    return Template.from_plain(kept)
