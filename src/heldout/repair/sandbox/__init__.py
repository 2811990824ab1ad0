"""Candidate code runs here: in a jailed process that answers frames, never in this one.

``jail`` and ``inside`` are sent to the child as source and use the standard library alone;
``runner`` is this side of the pipe. What the child says is a claim of code that an agent wrote: it
is parsed as plain JSON, measured with this side's clock, and never evaluated.
"""
