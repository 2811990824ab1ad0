"""Packs of tools: read-only ones shaped like what agents already use, beside the thirteen."""
