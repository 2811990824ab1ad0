"""Endpoints: a handler's answer or failure as a response."""

import asyncio
import functools

from shared import settings
from shared.errors import ApiError
from shared.log import Logger


def endpoint(service: str):
    """Make a handler answer ``{"status": ..., "body": ...}``; unexpected errors are logged."""
    log = Logger(service)

    def decorate(handler):
        @functools.wraps(handler)
        async def answer(request: dict) -> dict:
            try:
                async with asyncio.timeout(settings.HANDLER_SECONDS):
                    body = await handler(request)
            except ApiError as error:
                return {"status": error.status, "body": error_body(error)}
            except Exception as error:
                log.error("unhandled error", handler=handler.__name__, kind=type(error).__name__)
                raise
            return {"status": 200, "body": body}

        return answer

    return decorate


def error_body(error: ApiError) -> dict:
    """What a caller may know of a failure."""
    return {"error": error.code, "message": error.message}


def required(request: dict, name: str, kind: type):
    """A field of a request, or Invalid."""
    value = request.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        from shared.errors import Invalid

        raise Invalid(f"{name} must be {kind.__name__}")
    return value
