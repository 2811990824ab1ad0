"""Who may talk to the review page, and with what every answer is sent.

Three walls. The address holds a key that only the person at the terminal was told, so that another
user of the machine, or a page that guesses ports, gets nothing. The ``Host`` must be this server's
own, so that a foreign name that was rebound to 127.0.0.1 gets nothing either. A request that
changes something must come from a page of this server (``Origin``) and carry a token that was made
for the proposal and the diff that the page showed.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Without a referrer a browser would send the origin of a form as "null".
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
LARGEST = 2_000_000
"""Bytes of a form: a whole brain fits."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The key of the address and the secret behind the tokens; neither is in a ``repr``."""

    key: str = field(repr=False)
    secret: bytes = field(repr=False)

    def token(self, proposal: str, diff_hash: str) -> str:
        """What a form on this proposal and this diff must send back."""
        said = f"{proposal}\0{diff_hash}".encode()
        return hmac.new(self.secret, said, hashlib.sha256).hexdigest()

    def fits(self, token: str, proposal: str, diff_hash: str) -> bool:
        """Whether a token was made for exactly this."""
        made = self.token(proposal, diff_hash)
        return hmac.compare_digest(made.encode(), token.encode())


class Guard:
    """Refuses what does not come from the person at this machine, and sets every header."""

    def __init__(self, app: ASGIApp, keys: Keys, hosts: Iterable[str]) -> None:
        self._app = app
        self._key = keys.key.encode()
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on one request."""
        if scope["type"] != "http":
            return

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refused = self._refusal(scope)
        if refused:
            answer = PlainTextResponse(refused + "\n", status_code=403)
            await answer(scope, receive, headed)
        else:
            await self._app(scope, receive, headed)

    def _refusal(self, scope: Scope) -> str:
        """Why a request is not answered, empty where it is."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return "This is not the address of the review page."
        given = str(scope["path"]).removeprefix("/").split("/")[0].encode()
        if not hmac.compare_digest(given, self._key):
            return "Open the address that 'heldout review --serve' printed."
        if scope["method"] in {"GET", "HEAD"}:
            return ""
        if headers.getlist("origin") != [f"http://{hosts[0]}"]:
            return "A decision is taken on the review page and nowhere else."
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "A decision is taken on the review page and nowhere else."
        return ""
