"""Files of every sad kind become records, never the end of an import."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.ingest.manifests import write

from heldout.errors import IngestError
from heldout.ingest import reading
from heldout.ingest.kubernetes import read
from heldout.ingest.objects import kind_from_path

GOOD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"


def outcome(folder: Path, name: str) -> str:
    """What became of one file."""
    records = {record.path: record for record in read(folder).report.files}
    return records[name].outcome


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("empty.yaml", "", "empty, skipped"),
        ("blank.json", "  \n", "empty, skipped"),
        ("comments.yaml", "# nothing\n---\n# here\n", "empty, skipped"),
        ("chart.yaml", "metadata:\n  name: {{ .Values.name }}\n", "templated, skipped"),
        ("loop.yaml", "{% for a in b %}\nkind: {{ a }}\n{% endfor %}\n", "templated, skipped"),
        ("quoted.yaml", "kind: ConfigMap\nmetadata: {name: '{{ .name }}'}\n", "templated, skipped"),
        ("broken.yaml", "a: [1, 2", "unreadable, skipped"),
        ("truncated.json", '{"kind": "Pod", "metadata": {"na', "unreadable, skipped"),
        ("tab.yaml", "a:\n\t- b\n", "unreadable, skipped"),
        ("tag.yaml", "a: !!python/object/apply:os.system ['true']\n", "unreadable, skipped"),
        ("deep.json", "[" * 5_000 + "]" * 5_000, "unreadable, skipped"),
        ("words.yaml", "just some words", "no object"),
        ("number.json", "7", "no object"),
        ("nameless.yaml", "kind: Pod\nmetadata: {}\n", "no object"),
        ("strange.json", '{"metadata": {"name": "a"}}', "no kind"),
        ("fine.yaml", GOOD, "read"),
        ("bom.yaml", "\ufeff" + GOOD, "read"),
        (
            "rules.yaml",
            "kind: PrometheusRule\nmetadata: {name: r}\nspec: {text: 'on {{ $labels.pod }}'}\n",
            "read",
        ),
    ],
)
def test_a_file_comes_to_its_outcome(tmp_path: Path, name: str, text: str, expected: str):
    """Each kind of file has a record with its outcome; a good file beside it is still read."""
    write(tmp_path, name, text)
    write(tmp_path, "beside.yaml", GOOD.replace("a}", "beside}"))
    assert outcome(tmp_path, name) == expected
    assert outcome(tmp_path, "beside.yaml") == "read"


def test_bytes_links_and_folders_with_file_names(tmp_path: Path):
    """Binary files, links out, dangling links, loops and folders named like files are tolerated."""
    root = tmp_path / "in"
    write(tmp_path, "outside.yaml", GOOD)
    write(root, "real.yaml", GOOD)
    write(root, "folder.yaml/inner.json", json.dumps({"kind": "Secret", "metadata": {"name": "s"}}))
    (root / "binary.json").write_bytes(b"\xff\xfe\x00\x01")
    os.symlink(tmp_path / "outside.yaml", root / "out.yaml")
    os.symlink(root / "real.yaml", root / "same.yaml")
    os.symlink(root / "nowhere", root / "dangling.yaml")
    os.symlink(root, root / "loop")
    os.mkfifo(root / "pipe.yaml")
    found = {record.path: record.outcome for record in read(root).report.files}
    assert found == {
        "binary.json": "unreadable, skipped",
        "dangling.yaml": "unreadable, skipped",
        "folder.yaml/inner.json": "read",
        "out.yaml": "link, skipped",
        "pipe.yaml": "unreadable, skipped",
        "real.yaml": "read",
        "same.yaml": "read",
    }


def test_a_huge_file_is_not_opened(tmp_path: Path):
    """Over 20 MB a file of YAML is a record; JSON is read as far as it is JSON."""
    for name in ("huge.yaml", "huge.json"):
        with (tmp_path / name).open("wb") as stream:
            stream.truncate(reading.MAX_FILE_BYTES + 1)
    assert outcome(tmp_path, "huge.yaml") == "huge, skipped"
    assert outcome(tmp_path, "huge.json") == "unreadable, skipped"


def test_a_large_list_is_read_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """However a list is read, the objects are the same, and so is what is said of a broken end."""
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p-{n}", "namespace": "n",
             "managedFields": [{"manager": "x"}]}, "status": {"phase": "Running"}}
            for n in range(50)]  # fmt: skip
    write(tmp_path, "pods.json", json.dumps({"items": pods, "kind": "List", "apiVersion": "v1"}))
    whole = read(tmp_path)
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 1_000)
    monkeypatch.setattr("heldout.ingest.batches._BATCH_CHARS", 900)
    parts = read(tmp_path)
    assert [one.name for one in parts.objects] == [one.name for one in whole.objects]
    assert [one.status for one in parts.objects] == [one.status for one in whole.objects]
    assert "managedFields" not in parts.objects[0].body["metadata"]
    text = (tmp_path / "pods.json").read_text(encoding="utf-8")
    write(tmp_path, "pods.json", text[: len(text) // 2])
    record = read(tmp_path).report.files[0]
    assert (record.outcome, record.objects) == ("unreadable, skipped", 0)


def test_aliases_that_unfold_without_end_are_refused(tmp_path: Path):
    """A small file of nested aliases is a record, not a machine without memory."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    write(tmp_path, "bomb.yaml", "\n".join(lines))
    assert outcome(tmp_path, "bomb.yaml") == "unreadable, skipped"


def test_a_path_that_is_not_there_is_a_named_error(tmp_path: Path):
    """Nothing to import is an error, an empty folder an empty import."""
    with pytest.raises(IngestError, match="nothing to import"):
        read(tmp_path / "none")
    assert read(tmp_path).objects == ()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.text(alphabet="{}[]:-, \nabkind&*!|>'\"#%", max_size=200).map(str.encode),
    )
)
def test_no_text_ends_an_import(tmp_path: Path, raw: bytes):
    """Whatever stands in a file, the import ends with a record of it."""
    (tmp_path / "any.yaml").write_bytes(raw)
    (tmp_path / "any.json").write_bytes(raw)
    assert len(read(tmp_path).report.files) == 2


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("cluster-resources/deployments/default.json", "Deployment"),
        ("config/pod/some-namespace/some-pod.json", "Pod"),
        ("nodes.json", "Node"),
        ("resources/network-policies/a.yaml", "NetworkPolicy"),
        ("pvcs/default.json", "PersistentVolumeClaim"),
        ("manifests/a.yaml", ""),
    ],
)
def test_a_path_tells_a_kind(path: str, kind: str):
    """The nearest folder with a kind's name counts."""
    assert kind_from_path(path) == kind
