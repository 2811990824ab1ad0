"""What an exception of the SDK or of HTTP means, and whether trying again can help."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx2
import openai

from heldout.errors import (
    ProviderError,
    ProviderFiltered,
    ProviderProtocol,
    ProviderRefused,
    ProviderUnavailable,
)
from heldout.llm.endpoints import Endpoint
from heldout.llm.messages import ContextExceeded, RequestRefused, Unreachable
from heldout.llm.transports import ResponseTooLarge
from heldout.llm.wires import AnswerFailed

_TRANSIENT = frozenset({408, 409, 425, 429})
_FILTERED = frozenset({"content_filter", "invalid_prompt"})
_TOO_LONG = ("maximum context length", "context window", "exceeds the available context size")


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt: the error it would end with, and how to go on."""

    error: ProviderError
    retry: bool
    throttled: bool = False
    retry_after: float | None = None


def failure_of(error: BaseException, endpoint: Endpoint, where: str) -> Failure:
    """Classify what was raised while a request was made."""
    if isinstance(error, ProviderProtocol):
        return Failure(error, retry=True)
    if isinstance(error, ProviderError):
        return Failure(error, retry=False)
    if isinstance(error, openai.APIStatusError):
        wait = retry_after(error.response.headers)
        code, message = _code_and_message(error.body)
        what = _said(f"the provider answered {error.status_code}", endpoint.redacted(message))
        return _told(error.status_code, code, what, where, wait)
    if isinstance(error, AnswerFailed):
        what = _said("the provider answered with an error", endpoint.redacted(error.message))
        return _told(error.status, error.code, what, where, None)
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    if isinstance(cause, ResponseTooLarge):
        return Failure(
            ProviderProtocol(
                f"the provider sent {cause}",
                where=where,
                mend="Check the base URL and the wire",
            ),
            retry=False,
        )
    if isinstance(cause, httpx2.DecodingError):
        return Failure(
            ProviderProtocol(
                "the provider sent a body that cannot be decoded",
                where=where,
                mend="Check the base URL and what stands between",
            ),
            retry=True,
        )
    kind = ProviderUnavailable
    if isinstance(cause, httpx2.TimeoutException | openai.APITimeoutError | TimeoutError):
        what = "the provider did not answer in time"
    elif isinstance(cause, httpx2.ConnectError):
        what, kind = "the provider cannot be reached", Unreachable
    else:
        what = f"the connection to the provider broke ({type(cause).__name__})"
    return Failure(
        kind(what, where=where, mend="Check the base URL, then resume the run"),
        retry=True,
    )


def retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds that the server asks to wait: ``retry-after-ms``, ``Retry-After`` in seconds or date.

    ``None`` where it says nothing usable; never negative, possibly huge, never infinite.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(moment.timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _said(what: str, message: str) -> str:
    return f"{what}: {message}" if message else what


def _told(status: int, code: str, what: str, where: str, wait: float | None) -> Failure:
    """What a provider's own error means; ``what`` holds its redacted message."""
    if code in _FILTERED or code.endswith(("_policy", "_policy_violation")):
        mend = "It counts as invalid; look at the alert and the brain for what set it off"
        return Failure(ProviderFiltered(what, where=where, mend=mend), retry=False)
    if code == "context_length_exceeded" or any(words in what for words in _TOO_LONG):
        return Failure(
            ContextExceeded(what, where=where, mend="Lower limits.max_tokens"), retry=False
        )
    if code == "insufficient_quota":
        mend = "Check the account's plan and billing"
        return Failure(ProviderRefused(what, where=where, mend=mend), retry=False)
    if status in _TRANSIENT or status >= 500:
        return Failure(
            ProviderUnavailable(what, where=where, mend="Wait, then resume the run"),
            retry=True,
            throttled=status == 429,
            retry_after=wait,
        )
    mend = {
        401: "Check the key in the environment",
        403: "Check what the key may do",
        404: "Check the model's name, the base URL and the wire",
    }.get(status, "Check the base URL and the model's name")
    kind = RequestRefused if status in (400, 422) else ProviderRefused
    return Failure(kind(what, where=where, mend=mend), retry=False)


def _code_and_message(body: object) -> tuple[str, str]:
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            return str(inner.get("code") or ""), str(inner.get("message") or "")
        return "", str(inner)
    return "", body if isinstance(body, str) else ""
