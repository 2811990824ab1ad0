"""Real material: read it, report what could not be read, and make worlds of it."""
