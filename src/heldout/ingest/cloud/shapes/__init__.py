"""Shapes of resource types, one file for each area; ``SHAPES`` of every file is found."""
