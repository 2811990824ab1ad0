"""Archives as the folders they hold; hostile ones reach nothing and fill nothing."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import IngestError
from heldout.graph import world_meta
from heldout.ingest import archives
from heldout.ingest.archives import is_archive, unpacked
from heldout.ingest.importer import ImportOptions
from heldout.pipeline.ingesting import Ingest, ingest

POD = json.dumps({
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "shop"},
    "spec": {"containers": [{"name": "web", "image": "web:1"}]}, "status": {"phase": "Running"},
})  # fmt: skip
MODES = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.bz2": "w:bz2", ".tar.xz": "w:xz"}


def packed(path: Path, files: dict[str, str]) -> Path:
    """An archive by its suffix."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return path
    mode: Any = next(mode for suffix, mode in MODES.items() if path.name.endswith(suffix))
    with tarfile.open(path, mode) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def held(path: Path) -> tuple[dict[str, str], int]:
    """What an archive unpacks to, and how many entries were left out."""
    with unpacked(path) as (folder, others):
        found = {
            one.relative_to(folder).as_posix(): one.read_text()
            for one in sorted(folder.rglob("*")) if one.is_file()
        }  # fmt: skip
        assert not any(one.is_symlink() for one in folder.rglob("*"))
    assert not folder.exists()
    return found, others


@pytest.mark.parametrize("suffix", [*MODES, ".zip"])
def test_an_archive_is_the_world_of_its_folder(suffix: str, tmp_path: Path):
    """Objects and lines are the same bytes as from the folder itself, and nothing is left behind."""
    files = {"objects/pods.json": POD,
             "logs/shop/web-1/web.log": "2026-03-04T10:00:00Z ERROR down\n"}  # fmt: skip
    folder = tmp_path / "bundle"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    archive = packed(tmp_path / f"bundle{suffix}", files)
    assert is_archive(archive)
    options = ImportOptions(cluster="c", now=1_772_600_000_000_000)
    for path, world in ((folder, "a"), (archive, "b")):
        for kind in ("kubernetes", "logs"):
            ingest(Ingest(kind, path, f"{tmp_path}/worlds/{world}/w"), options)
    digests = {world_meta(tmp_path / "worlds" / one / "w").digest for one in ("a", "b")}
    assert len(digests) == 1


def test_entries_that_lead_elsewhere_are_left_out(tmp_path: Path):
    """Links, devices, paths out of the folder; the file beside them is taken."""
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind, target in (("l", tarfile.SYMTYPE, "/etc/passwd"), ("d", tarfile.CHRTYPE, ""),
                                   ("h", tarfile.LNKTYPE, "pod.json")):  # fmt: skip
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, target
            archive.addfile(entry)
        for name in ("../out.json", "/abs.json", "a/../../out.json", "pod.json"):
            entry = tarfile.TarInfo(name)
            entry.size = len(POD)
            archive.addfile(entry, io.BytesIO(POD.encode()))
    found, others = held(path)
    assert (list(found), others) == (["pod.json"], 6)
    assert not (tmp_path.parent / "out.json").exists()
    bad = packed(tmp_path / "x.zip", {"../out.json": POD, "pod.json": POD})
    assert list(held(bad)[0]) == ["pod.json"]


def test_what_was_left_out_is_told_and_strict_refuses_it(tmp_path: Path):
    """In words and as JSON; with --strict nothing is written."""
    path = packed(tmp_path / "x.zip", {"../out.json": POD, "pod.json": POD})
    world = f"{tmp_path}/w"
    assert ingest(Ingest("kubernetes", path, world), ImportOptions()).startswith("1 entries")
    told = json.loads(ingest(Ingest("kubernetes", path, as_json=True), ImportOptions()))
    assert told["archive_left_out"] == 1
    with pytest.raises(IngestError):
        ingest(Ingest("kubernetes", path, f"{tmp_path}/v"), ImportOptions(strict=True))
    assert not (tmp_path / "v").exists()


def test_a_bomb_is_refused_and_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Too many bytes or files: nothing is imported, and no file stays on disk."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    bomb = packed(tmp_path / "bomb.zip", {"zeros.json": "0" * 3_000_000})
    many = packed(tmp_path / "many.tar.gz", {f"{n}.json": "{}" for n in range(30)})
    with unpacked(bomb), unpacked(many):
        pass
    monkeypatch.setattr(archives, "MAX_BYTES", 2_000_000)
    monkeypatch.setattr(archives, "MAX_FILES", 20)
    for path in (bomb, many):
        with pytest.raises(IngestError, match="unpacks to over"), unpacked(path):
            pass
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("suffix", [".tar", ".tgz", ".tar.xz", ".zip"])
def test_a_cut_archive_is_said_to_be_one(suffix: str, tmp_path: Path):
    """Half of one is no archive, and neither is a text that is called so."""
    whole = packed(
        tmp_path / f"x{suffix}", {"pod.json": POD * 400, "b.json": POD * 400}
    ).read_bytes()
    for data in (whole[: len(whole) // 3], b"no archive at all"):
        (tmp_path / f"y{suffix}").write_bytes(data)
        with (
            pytest.raises(IngestError, match="no whole archive"),
            unpacked(tmp_path / f"y{suffix}"),
        ):
            pass


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(max_size=12), st.text(max_size=20), max_size=4))
def test_any_names_stay_inside(files: dict[str, str]):
    """Whatever entries are called, they are below the folder or left out."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.tar"
        try:
            packed(path, files)
        except (ValueError, UnicodeEncodeError):
            return
        with unpacked(path) as (folder, _):
            inside = [one for one in folder.rglob("*") if one.is_file()]
            assert all(one.resolve().is_relative_to(folder.resolve()) for one in inside)
            assert len(inside) <= len(files)
