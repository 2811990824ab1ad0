"""Traps, one composable function ``compose`` per file; they are found by listing this package."""
