"""The Dockerfile of the server: read, not run, for nothing here can build an image."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "deploy" / "openenv" / "Dockerfile").read_text(encoding="utf-8")


def instructions(text: str) -> list[tuple[str, str]]:
    """Instructions with their words, continued lines joined and comments left out."""
    lines = re.sub(r"\\\n", " ", text).splitlines()
    kept = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in kept]


def problems(text: str) -> list[str]:
    """What a reader would object to."""
    found = []
    rows = instructions(text)
    names = [name for name, _ in rows]
    if any(name != name.upper() for name in names):
        found.append("an instruction is not in capitals")
    if any(
        name == "FROM" and (":" not in words or words.endswith(":latest")) for name, words in rows
    ):
        found.append("a base image is not pinned")
    if "USER" not in names or dict(rows)["USER"] == "root":
        found.append("it runs as root")
    if any(name == "ADD" for name in names):
        found.append("ADD fetches and unpacks; COPY does not")
    if any("pip install" in words and "--no-cache-dir" not in words for _, words in rows):
        found.append("pip keeps a cache in the image")
    if names and names[-1] not in ("CMD", "ENTRYPOINT"):
        found.append("nothing is run at the end")
    return found


def test_the_dockerfile_has_nothing_to_object_to():
    """Pinned, not as root, and every file that it copies is there."""
    assert problems(TEXT) == []
    for name, words in instructions(TEXT):
        if name == "COPY":
            for source in words.split()[:-1]:
                assert (ROOT / source).exists(), source


def test_the_reader_objects_where_it_should():
    """The control: a careless one has every problem."""
    careless = "from python:latest\nADD . /app\nRUN pip install x\n"
    assert len(problems(careless)) >= 5
    assert problems("FROM python:latest\nUSER a\nCMD x\n") == ["a base image is not pinned"]
