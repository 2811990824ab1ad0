"""Runs played by several processes: cut into shards, played to landing files, gathered by one."""

from heldout.run.shards.cutting import CutRun, Cutting, cut_run
from heldout.run.shards.folder import Folder, ShardState
from heldout.run.shards.gathering import Gathered, gather
from heldout.run.shards.sheet import Allowed, Shard, Sheet, plan_of_sheet
from heldout.run.shards.worker import Worker

__all__ = [
    "Allowed",
    "CutRun",
    "Cutting",
    "Folder",
    "Gathered",
    "Shard",
    "ShardState",
    "Sheet",
    "Worker",
    "cut_run",
    "gather",
    "plan_of_sheet",
]
