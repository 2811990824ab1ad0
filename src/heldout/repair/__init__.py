"""META-SRE: a repair environment whose telemetry comes from running the code under repair."""
