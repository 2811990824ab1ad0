"""Failures that a caller is told about."""


class ApiError(Exception):
    """An answer that is no success: a status, a short code, and nothing about anybody."""

    def __init__(self, status: int, code: str, message: str = "") -> None:
        super().__init__(message or code)
        self.status = status
        self.code = code
        self.message = message or code


class NotFound(ApiError):
    """What was asked for is not there."""

    def __init__(self, what: str) -> None:
        super().__init__(404, "not_found", f"{what} not found")


class Invalid(ApiError):
    """The request does not say what it must."""

    def __init__(self, message: str) -> None:
        super().__init__(400, "invalid", message)


class PoolTimeout(Exception):
    """No connection became free in time."""
