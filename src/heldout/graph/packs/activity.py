"""What happened to objects of Kubernetes: log lines, events, rollouts, present usage.

Lines and usage are kept per workload, not per pod: a pod's are those of the service that it runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from heldout.graph.packs.command import MOST_FILTERED, Command, moment
from heldout.graph.packs.objects import BY_KIND, Scope, objects, resources_of
from heldout.graph.packs.pack import Block, TextPage, one_line
from heldout.graph.schema import LEVELS
from heldout.graph.snapshot import Entity
from heldout.graph.tools.arguments import read_time
from heldout.graph.tools.logs import lines_of
from heldout.graph.tools.metrics import points_of, rounded
from heldout.graph.tools.page import MAX_ROWS, Window, iso
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

_EVENTS = ("pod", "node", "runtime", "scale")
_USAGE = ("cpu", "memory", "resident", "heap", "disk")


def kept_for(reader: Reader, one: Entity, table: str, owner: str) -> list[Entity]:
    """The entities whose rows in ``table`` are this object's: itself, or what it runs or serves."""
    graph = reader.graph
    chain = [one]
    for link in chain:
        chain += [e for e in graph.out(link.id, "controlled_by") if e not in chain]
    around = [
        *chain,
        *(e for link in chain for e in graph.into(link.id, "runs_on")),
        *graph.out(one.id, "routes_to"),
    ]
    ids = list(dict.fromkeys(e.id for e in around))
    rows = reader.rows(
        f"select distinct {owner} from {table} where {owner} in (select unnest($ids))", {"ids": ids}
    )
    having = {row[0] for row in rows}
    return [graph.entities[one] for one in ids if one in having]


def logs(reader: Reader, command: Command, found: Sequence[Entity], offset: int) -> TextPage:
    """Log lines of some objects, newest first."""
    owners: dict[str, Entity] = {}
    for one in found:
        owners |= {e.id: e for e in kept_for(reader, one, "log_template", "entity_id")}
    if found and not owners:
        raise Refusal("unavailable", f"no log lines are kept of {found[0].name}")
    window = _window(reader, command)
    if command.get("previous"):
        window = _before_restart(reader, found, window)
    gaps = reader.gaps("log", window, tuple(owners)) if owners else []
    level = command.get("level").upper()
    if level and level not in LEVELS:
        raise Refusal("bad_argument", f"no level '{level[:20]}'", LEVELS)
    ids = reader.columns(
        "select id from log where ts between $since and $until and template_id in (select id from "
        "log_template where entity_id in (select unnest($owners)) and ($level = '' or "
        "level = $level)) order by id desc",
        {"since": window.since, "until": window.until, "owners": list(owners), "level": level},
    )["id"].tolist()
    if command.get("tail") not in ("", "-1"):
        ids = ids[: command.number("tail", len(ids))]
    start, most = (0, MOST_FILTERED) if command.filters else (offset, MAX_ROWS)
    if command.filters and len(ids) > most:
        ids = ids[:most]
    blocks = [
        Block(
            f"[{row['id']}] {row['ts']} {row['level']} {one_line(row['msg'])}",
            (str(row["id"]), str(row["entity"])),
        )
        for row in lines_of(reader, [int(one) for one in ids[start : start + most]])
    ]
    of = ", ".join(f"{e.kind} {e.name} ({e.id})" for e in owners.values())
    extra = {"lines_of": of[:600], "note": "kept per workload, not per pod"}
    return TextPage(blocks, len(ids), start, window=window, gaps=gaps, extra=extra)


def _window(reader: Reader, command: Command) -> Window:
    since, until = command.get("since"), command.get("until")
    first = reader.world.log_range[0] if reader.world.log_range else reader.world.start
    return reader.window(
        moment("since", since, reader.now) if since else None,
        moment("until", until, reader.now, until=True) if until else None,
        first=min(first, reader.now),
    )


def _before_restart(reader: Reader, found: Sequence[Entity], window: Window) -> Window:
    """The part of a window before the container that runs now was started."""
    starts = [
        read_time("started_at", str(reader.graph.fact(one.id, "started_at")))
        for one in found
        if reader.graph.fact(one.id, "restarts") and reader.graph.fact(one.id, "started_at")
    ]
    if not starts:
        name = found[0].name if found else ""
        raise Refusal("unavailable", f"previous terminated container in '{name}' not found")
    if max(starts) <= window.since:
        raise Refusal("unavailable", f"no log lines are kept from before {iso(max(starts))}")
    return Window(window.since, min(window.until, max(starts) - 1))


def events(
    reader: Reader, command: Command, words: Sequence[str], scope: Scope, offset: int
) -> TextPage:
    """Lifecycle of pods and nodes, and scaling, newest first."""
    whose = [*words, *([command.get("for")] if command.get("for") else [])]
    ids: list[str] | None = None
    if whose:
        ids = [one.id for word in whose for one in _named(reader, word, scope)]
    elif scope != Scope():
        everything = [one for one in BY_KIND.values() if one.kind not in ("Namespace",)]
        ids = [one.id for one in objects(reader, everything, scope)]
    since, until = command.get("since"), command.get("until")
    window = reader.window(
        moment("since", since, reader.now) if since else None,
        moment("until", until, reader.now, until=True) if until else None,
    )
    gaps = reader.gaps("change", window)
    rows = reader.rows(
        "select e.ts, e.id, e.type, e.actor, e.summary, min(t.entity_id) from change_event e "
        "join change_target t on t.event_id = e.id where e.type in (select unnest($types)) "
        "and e.ts between $since and $until and ($all or t.entity_id in (select unnest($ids))) "
        "group by all order by e.ts desc, e.id desc",
        {"types": list(_EVENTS), "since": window.since, "until": window.until, "all": ids is None,
         "ids": ids or []},
    )  # fmt: skip
    start, most = (0, MOST_FILTERED) if command.filters else (offset, MAX_ROWS)
    blocks = [
        Block(
            f"{iso(ts)}  {type_}  {reader.name(of)} ({of})  {change}  {actor}: "
            f"{one_line(summary, 200)}",
            (change, of),
        )
        for ts, change, type_, actor, summary, of in rows[start : start + most]
    ]
    return TextPage(blocks, len(rows), start, window=window, gaps=gaps)


def _named(reader: Reader, word: str, scope: Scope) -> list[Entity]:
    kind, _, name = word.partition("/")
    if kind == "uid":
        return [reader.entity(name)]
    if not name:
        raise Refusal("bad_argument", f"'{word[:60]}' is no TYPE/NAME")
    return objects(reader, resources_of(kind), scope, [name])


def history(reader: Reader, command: Command, found: Sequence[Entity], offset: int) -> TextPage:
    """Changes to the fields of some objects, newest first, as revisions."""
    rows = reader.rows(
        "select e.ts, e.id, e.type, e.actor, e.summary, list(distinct d.field order by d.field) "
        "from change_diff d join change_event e on e.id = d.event_id "
        "where d.entity_id in (select unnest($ids)) group by all order by e.ts desc, e.id desc",
        {"ids": [one.id for one in found]},
    )
    start = 0 if command.filters else offset
    blocks = [
        Block(
            f"revision {len(rows) - at}  {iso(ts)}  {change}  {type_} by {actor}: "
            f"{one_line(summary, 160)}  fields: {', '.join(fields[:12])}",
            (change,),
        )
        for at, (ts, change, type_, actor, summary, fields) in enumerate(rows)
    ]
    return TextPage(blocks[start:], len(blocks), start)


def top(reader: Reader, found: Sequence[Entity]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The newest value of each series of use, of the workloads behind some objects."""
    rows: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    last_hour = Window(reader.now - 3_600_000_000, reader.now)
    for one in found:
        for owner in kept_for(reader, one, "metric_series", "entity_id"):
            series = reader.rows(
                "select id, name, unit from metric_series where entity_id = $id order by name",
                {"id": owner.id},
            )
            for key, name, unit in series:
                if not any(word in name for word in _USAGE):
                    continue
                values = points_of(reader, [key], last_hour)[key][1]
                if len(values):
                    shown = (one.name, name, str(rounded(values[-1])), unit, owner.id)
                    rows.setdefault(key, (shown, (owner.id, key)))
    if not rows:
        raise Refusal("unavailable", "Metrics API not available: no usage is recorded of these")
    return list(rows.values())
