"""The repair environment over HTTP: sessions by key, for trainers and people on this machine."""
