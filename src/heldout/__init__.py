"""Tune the brain of an AI SRE agent on half of a set of incidents; score it on the other half."""

__version__ = "0.1.0"
