"""The three applications as ``apps.toml`` says them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Service:
    """One service: where it listens, what it runs, whom it calls.

    ``alias`` is its name in the renamed variant. ``scheme`` is how it is told where others are: by
    ``host`` and port, or by one ``address``.
    """

    name: str
    alias: str
    port: int
    image: str
    scheme: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class App:
    """One application; its name is its namespace. ``door`` is what users reach."""

    name: str
    alias: str
    description: str
    label: str
    door: str
    services: Mapping[str, Service]

    def callers(self, name: str) -> list[str]:
        """Who calls a service, in order."""
        return [one.name for one in self.services.values() if name in one.calls]

    def above(self, name: str) -> list[str]:
        """Everything that fails where a service does: its callers and theirs, nearest first."""
        found: list[str] = []
        row = self.callers(name)
        while row:
            found += [one for one in row if one not in found]
            row = [far for one in row for far in self.callers(one) if far not in found]
        return found


@cache
def apps() -> dict[str, App]:
    """Every application by its name."""
    text = (files(__package__) / "apps.toml").read_text(encoding="utf-8")
    found = {}
    for name, said in tomllib.loads(text).items():
        services = {
            one: Service(
                one, row["as"], row["port"], row.get("image", f"{said['image']}-{one}"),
                row.get("scheme", said["scheme"]), tuple(row.get("calls", ())),
            )
            for one, row in said["services"].items()
        }  # fmt: skip
        found[name] = App(
            name, said["as"], said["description"], said["label"], said["door"], services,
        )  # fmt: skip
    return found
