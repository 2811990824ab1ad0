"""One logger for each service; a line holds key=value pairs after its message."""

import host


class Logger:
    """Writes lines for one service."""

    def __init__(self, service: str) -> None:
        self.service = service

    def info(self, message: str, **fields: object) -> None:
        self._write("INFO", message, fields)

    def warn(self, message: str, **fields: object) -> None:
        self._write("WARN", message, fields)

    def error(self, message: str, **fields: object) -> None:
        self._write("ERROR", message, fields)

    def _write(self, level: str, message: str, fields: dict) -> None:
        pairs = " ".join(f"{name}={value}" for name, value in sorted(fields.items()))
        host.log(self.service, level, f"{message} {pairs}".strip())
