"""META-SRE: a repair environment whose telemetry comes from running the code that the agent edits."""
