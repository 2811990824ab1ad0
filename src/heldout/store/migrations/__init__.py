"""Numbered steps that bring a ledger's file to the present layout; each is applied once."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.store.migrations import (
    m001_initial,
    m002_clearance,
    m003_extended,
    m004_footprint,
    m005_judging,
    m006_reasoning,
    m007_transfers,
    m008_intake,
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: its number, its name, and the statements that it runs in one transaction."""

    number: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "initial", m001_initial.STATEMENTS),
    Migration(2, "clearance", m002_clearance.STATEMENTS),
    Migration(3, "extended", m003_extended.STATEMENTS),
    Migration(4, "footprint", m004_footprint.STATEMENTS),
    Migration(5, "judging", m005_judging.STATEMENTS),
    Migration(6, "reasoning", m006_reasoning.STATEMENTS),
    Migration(7, "transfers", m007_transfers.STATEMENTS),
    Migration(8, "intake", m008_intake.STATEMENTS),
)
"""In order and without a gap. A step that was ever released is never changed."""
