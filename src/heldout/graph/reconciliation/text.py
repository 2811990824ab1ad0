"""A comparison as text for a terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from heldout.graph.reconciliation.outcome import Group, Reconciliation

_LONGEST_VALUE = 60


def rendered(found: Reconciliation, *, rows: int = 20) -> str:
    """The figures, then up to ``rows`` lines of each list; text of a world is not yet cleaned."""
    parts = [_head(found), _table(found), _apart(found), _fields(found, rows), _gone(found, rows),
             _undeclared(found, rows), _limits(found)]  # fmt: skip
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part)))


def percent(share: float | None) -> str:
    """A share in per cent, ``-`` where there is none."""
    return "-" if share is None else f"{100 * share:.0f} %"


def _head(found: Reconciliation) -> Iterator[str]:
    running = sum(one.running for one in found.groups)
    serviced = sum(one.serviced for one in found.groups)
    if not running and not found.absent:
        yield "nothing to compare: the world has no cloud resource, declared or running"
        return
    yield (
        f"{running} running resources, {serviced} of them made by services and left out; "
        f"{found.stacks} stacks"
    )
    without = len(found.undeclared)
    all_told = found.declared + without
    yield f"without a counterpart in IaC: {without} of {all_told} ({percent(found.share)})"
    covered = [one for one in found.groups if found.covers(one)]
    told = sum(one.declared + one.undeclared for one in covered)
    missing = sum(one.undeclared for one in covered)
    yield (
        "of kinds that some stack declares, in accounts that some stack covers: "
        f"{missing} of {told} ({percent(found.comparable_share)})"
    )


def _table(found: Reconciliation) -> Iterator[str]:
    if not found.groups:
        return
    yield from _columns(
        ("account", "kind", "running", "by services", "declared", "no counterpart", "share"),
        [_cells(found, one) for one in found.groups],
    )


def _cells(found: Reconciliation, one: Group) -> tuple[str, ...]:
    share = percent(one.share) + ("" if found.covers(one) else " *")
    counts = (one.running, one.serviced, one.declared, one.undeclared)
    return (one.account, one.kind, *map(str, counts), share)


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _apart(found: Reconciliation) -> Iterator[str]:
    odd = sorted({one.kind for one in found.groups if not one.comparable and one.undeclared})
    if odd:
        yield f"* no stack declares any: {', '.join(odd)}"
    if found.blind_accounts:
        yield f"* no stack that was read covers: {', '.join(found.blind_accounts)}"
    if found.services:
        yield "made by services:"
        yield from (f"  {count:>5}  {name}" for name, count in list(found.services.items())[:10])
        if len(found.services) > 10:
            yield f"  and {len(found.services) - 10} more makers"


def _fields(found: Reconciliation, rows: int) -> Iterator[str]:
    real = [one for one in found.differences if not one.expected]
    moved = len(found.differences) - len(real)
    apart = f" (and {moved} that autoscalers or releases move)" if moved else ""
    yield f"fields that both sides tell: {found.compared}, different: {len(real)}{apart}"
    for one in real[:rows]:
        yield (
            f"  {one.account}  {one.kind} {one.name} ({one.entity})  {one.field}: "
            f"declared {_value(one.declared)}, running {_value(one.running)}  [{one.stack}]"
        )
    yield from _more(len(real), rows)


def _gone(found: Reconciliation, rows: int) -> Iterator[str]:
    looked = [one for one in found.absent if one.looked]
    if not found.absent:
        return
    yield f"declared and not running: {len(looked)}"
    for one in looked[:rows]:
        yield f"  {one.account}  {one.kind} {one.name} ({one.entity})  [{one.stack}]"
    yield from _more(len(looked), rows)
    blind = Counter(one.kind for one in found.absent if not one.looked)
    if blind:
        listed = ", ".join(f"{kind} {count}" for kind, count in sorted(blind.items())[:12])
        yield f"declared, and nobody looked whether it runs: {sum(blind.values())} ({listed})"


def _undeclared(found: Reconciliation, rows: int) -> Iterator[str]:
    if not found.undeclared:
        return
    yield f"running without a counterpart: {len(found.undeclared)}"
    for entity, name, kind, account in found.undeclared[:rows]:
        yield f"  {account}  {kind} {name} ({entity})"
    yield from _more(len(found.undeclared), rows)


def _limits(found: Reconciliation) -> Iterator[str]:
    if found.planned:
        listed = ", ".join(f"{verb} {count}" for verb, count in found.planned.items())
        yield f"planned and not applied, as far as is known: {listed}"
    if found.one_sided:
        yield f"not compared: {found.one_sided} fields that only one side tells"


def _more(count: int, rows: int) -> Iterator[str]:
    if count > rows:
        yield f"  and {count - rows} more (--rows, or --json for all)"


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
