"""``kubectl``, reading only: get, describe, logs, events, top, rollout history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
import yaml

from heldout.graph.ontology import near
from heldout.graph.packs.activity import events, history, logs, top
from heldout.graph.packs.command import Command, age, filtered, read_command
from heldout.graph.packs.objects import (
    BY_KIND,
    RESOURCES,
    Resource,
    Scope,
    clusters,
    known_ids,
    labels_of,
    last_changes,
    managers,
    manifest,
    named,
    objects,
    resources_of,
    scope_of,
)
from heldout.graph.packs.pack import Block, Pack, TextPage, one_line
from heldout.graph.snapshot import Entity
from heldout.graph.tools.arguments import text
from heldout.graph.tools.backend import Args
from heldout.graph.tools.catalogue import Tool
from heldout.graph.tools.page import iso
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

_OPTIONS: Mapping[str, str] = {
    "-n": "namespace=", "--namespace": "namespace=", "-A": "all", "--all-namespaces": "all",
    "-l": "selector=", "--selector": "selector=", "--field-selector": "fields=",
    "-o": "output=", "--output": "output=",
    "--context": "context=", "-p": "previous", "--previous": "previous", "--tail": "tail=",
    "--since": "since=", "--since-time": "since=", "--until": "until=", "--for": "for=",
    "--level": "level=", "--show-managed-fields": "managed", "--no-headers": "bare",
    "--show-labels": "labels", "-c": "container=", "--container": "container=",
    "--timestamps": "timestamps", "--all-containers": "timestamps", "--sort-by": "sort=",
    "--containers": "timestamps", "--ignore-not-found": "timestamps",
}  # fmt: skip
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "Pod": ("restarts",), "K8sService": ("type",), "Node": ("kubelet", "zone"),
    "Hpa": ("min_replicas", "max_replicas", "desired_replicas"), "CronJob": ("schedule",),
    "Pvc": ("size_gib",), "Deployment": ("replicas",), "Secret": ("type",),
}  # fmt: skip
_WRITES = frozenset(
    {"apply", "create", "delete", "edit", "exec", "patch", "scale", "replace", "label", "annotate",
     "cordon", "uncordon", "drain", "taint", "run", "expose", "set", "cp", "port-forward", "attach",
     "debug", "autoscale", "proxy"}
)  # fmt: skip


def kubectl(reader: Reader, args: Args) -> TextPage:
    """Answer one command line."""
    command = read_command("kubectl", args["command"], _OPTIONS)
    verb, *words = command.words or ("",)
    if verb in _WRITES or (verb == "rollout" and words[:1] != ["history"]):
        raise Refusal("unavailable", f"this kubectl only reads: '{verb}' is not offered", _VERBS)
    run = _VERBS.get(verb)
    if run is None:
        raise Refusal("bad_argument", f"no command '{verb[:40]}'", near(verb, _VERBS) or _VERBS)
    namespace = "" if command.get("all") else command.get("namespace")
    if command.get("sort") and "event" not in command.words[:2][-1]:
        raise Refusal("unavailable", "--sort-by is for events only, which come newest first")
    scope = scope_of(
        reader,
        Scope(command.get("context"), namespace, command.get("selector"), command.get("fields")),
    )
    page = run(reader, command, words, scope, args["offset"])
    if not command.filters:
        return page
    kept = filtered(reader, list(page.blocks), command)
    offset = args["offset"]
    return TextPage(kept[offset:], len(kept), offset, window=page.window, gaps=page.gaps)


def _whole(command: Command, blocks: Sequence[Block], offset: int, head: str = "") -> TextPage:
    """All blocks at hand: the page that begins at ``offset``, or everything for the filters."""
    start = 0 if command.filters else offset
    return TextPage(blocks[start:], len(blocks), start, head="" if command.filters else head)


def targets(
    reader: Reader, words: Sequence[str], scope: Scope
) -> tuple[list[Resource], list[Entity]]:
    """What ``pods web-1 web-2``, ``deploy/web`` or ``po,svc`` names."""
    if not words:
        raise Refusal("missing_argument", "name a resource type, such as 'pods'")
    if any("/" in word for word in words):
        found: list[Entity] = []
        kinds: list[Resource] = []
        for word in words:
            kind, _, name = word.partition("/")
            if not name:
                raise Refusal("bad_argument", f"'{word[:60]}' is no TYPE/NAME")
            wanted = resources_of(kind)
            kinds += wanted
            found += objects(reader, wanted, scope, [name])
        return list(dict.fromkeys(kinds)), found
    wanted = resources_of(words[0])
    return wanted, objects(reader, wanted, scope, words[1:])


def _get(reader: Reader, command: Command, words: list[str], scope: Scope, offset: int) -> TextPage:
    if words and words[0].lower() in ("events", "event", "ev"):
        return events(reader, command, words[1:], scope, offset)
    wanted, found = targets(reader, words, scope)
    output = command.get("output")
    if output in ("yaml", "json"):
        return _whole(command, _documents(reader, found, command, output), offset)
    if output == "name":
        blocks = [Block(f"{BY_KIND[e.kind].shown.lower()}/{e.name} {e.id}", (e.id,)) for e in found]
        return _whole(command, blocks, offset)
    if output not in ("", "wide"):
        raise Refusal(
            "bad_argument", f"no output format '{output[:40]}'", ("yaml", "json", "wide", "name")
        )
    return _table(reader, command, wanted, found, offset)


def _documents(
    reader: Reader, found: Sequence[Entity], command: Command, output: str
) -> list[Block]:
    """One block per line of YAML or JSON; the ids go with the line that shows them first."""
    if len(found) > 20:
        raise Refusal(
            "bad_argument", f"{len(found)} objects in full are too many: name some, or use a table"
        )
    changes = last_changes(reader, [one.id for one in found])
    bodies = []
    for one in found:
        body = manifest(reader, one, changes.get(one.id, ""))
        if command.get("managed"):
            body["metadata"]["managedFields"] = managers(reader, one)
        bodies.append(body)
    whole: Any = bodies[0] if len(bodies) == 1 else {"apiVersion": "v1", "kind": "List",
                                                     "items": bodies}  # fmt: skip
    if output == "json":
        shown = orjson.dumps(whole, option=orjson.OPT_INDENT_2).decode()
    else:
        shown = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=1_000)
    return lines_with_ids(reader, shown.splitlines())


def lines_with_ids(reader: Reader, lines: Sequence[str]) -> list[Block]:
    """Lines that we wrote, each with the ids of entities and changes that it names."""
    return [Block(line, known_ids(reader, line)) for line in lines]


def _table(
    reader: Reader,
    command: Command,
    wanted: Sequence[Resource],
    found: Sequence[Entity],
    offset: int,
) -> TextPage:
    if not found:
        return TextPage([], 0, head="No resources found")
    wide = command.get("output") == "wide"
    many = len(wanted) > 1
    columns = _COLUMNS.get(wanted[0].kind, ()) if not many else ()
    several = len(clusters(reader)) > 1
    head = ["CONTEXT"] if several else []
    head += ["NAMESPACE", "NAME", "STATUS", *(one.upper() for one in columns), "AGE", "UID"]
    head += ["RUNS-ON", "LAST-CHANGE"] if wide else []
    head += ["LABELS"] if command.get("labels") else []
    start = 0 if command.filters else offset
    shown = found[start:]
    changes = last_changes(reader, [one.id for one in shown]) if wide else {}
    rows = []
    for one in shown:
        cluster, namespace = reader.graph.namespace(one)
        name = f"{wanted_name(one)}/{one.name}" if many else one.name
        row = [cluster] if several else []
        row += [namespace, name, reader.status(one)]
        row += [str(reader.graph.fact(one.id, field)) for field in columns]
        row += [age(reader.now - one.first_seen), one.id]
        if wide:
            row += [",".join(e.name for e in reader.graph.out(one.id, "runs_on")[:2])]
            row += [changes.get(one.id, "")]
        if command.get("labels"):
            row += [",".join(f"{k}={v}" for k, v in sorted(labels_of(reader, one).items()))]
        rows.append((row, (one.id, *((changes[one.id],) if one.id in changes else ()))))
    blocks, header = aligned(head, rows)
    header = "" if command.get("bare") or command.filters else header
    return TextPage(blocks, len(found), start, head=header)


def wanted_name(one: Entity) -> str:
    """A kind as kubectl writes it before a name: ``deployment``."""
    return BY_KIND[one.kind].shown.lower()


def aligned(
    head: Sequence[str], rows: Sequence[tuple[Sequence[str], tuple[str, ...]]]
) -> tuple[list[Block], str]:
    """Rows and column names in columns; an empty cell reads ``<none>``."""
    cells = [[one_line(cell, 120) or "<none>" for cell in row] for row, _ in rows]
    widths = [max(len(line[at]) for line in (head, *cells)) for at in range(len(head))]

    def line(row: Sequence[str]) -> str:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        return "  ".join(padded).rstrip()

    blocks = [Block(line(row), ids) for row, (_, ids) in zip(cells, rows, strict=True)]
    return blocks, line(head)


def _describe(
    reader: Reader, command: Command, words: list[str], scope: Scope, offset: int
) -> TextPage:
    _, found = targets(reader, words, scope)
    if len(found) > 10:
        raise Refusal("bad_argument", f"{len(found)} objects are too many to describe: name one")
    changes = last_changes(reader, [one.id for one in found])
    lines: list[str] = []
    for one in found:
        body = manifest(reader, one, changes.get(one.id, ""))
        body["status"] = {"summary": reader.status(one), **body.get("status", {})}
        body["referencedBy"] = [
            {"relation": edge.pred, **named(reader, reader.graph.entities[edge.src])}
            for edge in reader.graph.all_into(one.id)
            if edge.holds(reader.now, reader.now) and edge.pred not in ("part_of", "owned_by")
        ][:20]
        body["lastChanges"] = managers(reader, one)
        lines += yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=1_000).splitlines()
        page = events(reader, command, [f"uid/{one.id}"], Scope(), 0)
        happened = [f"  {block.text}" for block in list(page.blocks)[:10]]
        lines += ["Events:", *(happened or ["  <none>"])]
    return _whole(command, lines_with_ids(reader, lines), offset)


def _contexts(
    reader: Reader, command: Command, words: list[str], scope: Scope, offset: int
) -> TextPage:
    return _whole(command, [Block(name) for name in clusters(reader)], offset, "NAME")


def _resources(
    reader: Reader, command: Command, words: list[str], scope: Scope, offset: int
) -> TextPage:
    head = ("NAME", "KIND", "NAMESPACED", "OBJECTS")
    rows = [
        ((one.names[0], one.shown, str(one.namespaced).lower(), str(count)), ())
        for one in RESOURCES
        if (count := len(reader.graph.of_kind(one.kind)))
    ]
    blocks, header = aligned(head, rows)
    return _whole(command, blocks, offset, header)


def _logs(
    reader: Reader, command: Command, words: list[str], scope: Scope, offset: int
) -> TextPage:
    if len(words) > 2 or not (words or scope.selector):
        raise Refusal("missing_argument", "logs needs a pod, a TYPE/NAME or a selector (-l)")
    named_ = words[:1] if words and "/" in words[0] else ["pods", *words[:1]]
    _, found = targets(reader, named_, scope)
    return logs(reader, command, found, offset)


def _top(reader: Reader, command: Command, words: list[str], scope: Scope, offset: int) -> TextPage:
    _, found = targets(reader, words or ["pods"], scope)
    rows = top(reader, found)
    head = ("NAME", "METRIC", "VALUE", "UNIT", "UID")
    blocks, header = aligned(head, rows)
    return _whole(command, blocks, offset, header)


def _rollout(
    reader: Reader, command: Command, words: list[str], scope: Scope, offset: int
) -> TextPage:
    _, found = targets(reader, words[1:], scope)
    return history(reader, command, found, offset)


def _explain_time(
    reader: Reader, command: Command, words: list[str], scope: Scope, offset: int
) -> TextPage:
    return _whole(command, [Block(f"server time: {iso(reader.now)}")], offset)


_Run = Callable[[Reader, Command, list[str], Scope, int], TextPage]
_VERBS: Mapping[str, _Run] = {
    "get": _get, "describe": _describe, "logs": _logs, "events": events, "top": _top,
    "rollout": _rollout, "config": _contexts, "api-resources": _resources,
    "version": _explain_time,
}  # fmt: skip

TOOL = Tool(
    "kubectl",
    "Run kubectl, reading only: get, describe, logs, events, top, rollout history, api-resources, "
    "config get-contexts, version (tells the present time). Options: -n, -A, --context, -l, "
    "--field-selector, -o yaml|json|wide|name, --show-labels, --show-managed-fields; logs also "
    "--since, --until, --tail, --level, --previous; events also --for TYPE/NAME, --since, "
    "--until. Without -n every namespace is shown, without --context every cluster. Lines of logs "
    "and events come newest first. The uid of an object is its entity id; change ids begin with "
    "c-, ids of log lines with l-. '| grep', '| head', '| tail' and '| wc -l' work; there is no "
    "other shell.",
    (
        text("command", "The command line, such as 'kubectl get pods -n web -o wide'.",
             required=True),
        text("cursor", "Continues an earlier answer of the same command from where it was cut."),
    ),
    paged=False,
)  # fmt: skip

PACK = Pack("kubectl", {"kubectl": (TOOL, kubectl)})
