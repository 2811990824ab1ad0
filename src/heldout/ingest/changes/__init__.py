"""What was done, by whom and when: records of clouds, clusters and repositories as changes."""
