"""What ``heldout health`` looks at: a world, objects in files, or what comes through a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import BinaryIO

from heldout.errors import IngestError, UsageError
from heldout.graph.files import MANIFEST
from heldout.graph.health import check_health
from heldout.graph.scorecard import Scorecard
from heldout.graph.world import World
from heldout.pipeline.ingesting import kept_world

PIPE = "-"
_BLANK = b" \t\r\n\xef\xbb\xbf"


def scorecard(target: str, *, cluster: str = "", now: int | None = None) -> Scorecard:
    """Check a world, a file or folder of Kubernetes objects, or with ``-`` standard input.

    ``now`` (microseconds) is when objects were as they are; without it that is the present. A
    world stands at its own. What cannot be read at all is a WorldError or an IngestError.
    """
    if target == PIPE:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError(
                "nothing comes through a pipe",
                where="-",
                mend="kubectl get ... -o json | heldout health -",
            )
        return _of_stream(sys.stdin.buffer, cluster, now)
    path = kept_world(target)
    if (path / MANIFEST).is_file():
        world = World(path)
        return Scorecard(target, world.graph, world.findings())
    if not path.exists():
        raise IngestError(
            "nothing is there", where=target, mend="Name a world, a file or folder of objects, or -"
        )
    return _of_objects(path, target, cluster, now)


def _of_stream(stream: BinaryIO, cluster: str, now: int | None) -> Scorecard:
    """Objects from a stream. It may be large, so it lies on disk as long as it is being read."""
    with tempfile.TemporaryDirectory(prefix="heldout-health-") as folder:
        first = stream.read(65_536)
        is_json = first.lstrip(_BLANK)[:1] in (b"{", b"[")
        path = Path(folder) / ("cluster.json" if is_json else "cluster.yaml")
        with path.open("wb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file)
        return _of_objects(path, "standard input", cluster, now)


def _of_objects(path: Path, source: str, cluster: str, now: int | None) -> Scorecard:
    from heldout.ingest.kubernetes import read, topology

    imported = read(path)
    unread = [
        f"{source if path.is_file() else one.path}: {one.outcome} {one.detail}".rstrip()
        for one in imported.report.files
        if one.outcome != "read" or one.detail
    ]
    if not imported.by_identity:
        raise IngestError(
            "no object of a cluster is in it",
            where=unread[0] if unread else source,
            mend="Give it what 'kubectl get ... -o json' or '-o yaml' prints",
        )
    at = time.time_ns() // 1000 if now is None else now
    state = topology(imported, cluster=cluster).standing(at)
    observed = any(one.status for one in imported.by_identity.values())
    return Scorecard(source, state, check_health(state), unread, declared_only=not observed)
