"""One file for each source of recorded incidents; ``CASES`` is what reads it."""
