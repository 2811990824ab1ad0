"""Recorded incidents: somebody else's cases, read into worlds with an alert and a truth each."""
