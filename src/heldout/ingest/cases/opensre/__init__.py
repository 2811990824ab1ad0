"""The synthetic suites of Tracer-Cloud/opensre (Apache-2.0): small hand-written cases."""
