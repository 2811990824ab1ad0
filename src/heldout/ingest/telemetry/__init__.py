"""Recorded logs and metrics as they come: lines, times, levels, places, patterns and grids."""
