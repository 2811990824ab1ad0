"""Faults, one declarative record ``FAULT`` per file; they are found by listing this package."""
