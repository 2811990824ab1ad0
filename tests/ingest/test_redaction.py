"""Secrets do not survive an import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ingest.manifests import SHOP, write, written

from heldout.graph.files import read_table
from heldout.ingest.kubernetes import read
from heldout.ingest.redaction import Redactor, is_secret_name

NOW = 1_772_625_600_000_000


def test_no_secret_value_reaches_a_world(tmp_path: Path):
    """Secret data, secret-looking variables and kept copies of them are all replaced."""
    write(tmp_path / "in", "a.yaml", SHOP)
    imported = read(tmp_path / "in")
    written(imported, tmp_path / "w", NOW)
    everything = json.dumps(read_table(tmp_path / "w", "fact"))
    for value in ("aHVudGVyMjI=", "hunter22", "last-applied"):
        assert value not in everything
        assert value not in repr([item.body for item in imported.objects])
    secret = next(item for item in imported.objects if item.kind == "Secret")
    assert secret.body["data"] == {"key": "redacted-0002", "again": "redacted-0002"}
    assert imported.report.redacted == 3


def test_placeholders_are_stable_and_tell_nothing():
    """The same value gets the same placeholder, numbered by order of reading."""
    redactor = Redactor()
    assert [redactor.placeholder(one) for one in ("b", "a", "b")] == [
        "redacted-0001",
        "redacted-0002",
        "redacted-0001",
    ]
    assert redactor.placeholder("redacted-0001") == "redacted-0001"


@pytest.mark.parametrize(
    "text",
    [
        "postgres://app:s3cr3tpw@db:5432/x",
        "--password=s3cr3tpw",
        'api_key: "s3cr3tpw"',
        "AKIAABCDEFGHIJKLMNOP s3cr3tpw".replace(" s3cr3tpw", ""),
        "ghp_abcdefghijklmnopqrstuvwxyz0123",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
        "client-key-data: LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1JSWFiYwo=",
        "client-key-data: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSWFiYwo=",
    ],
)
def test_known_forms_of_secrets_in_texts_are_replaced(text: str):
    """Keys, tokens and passwords are taken out of any text."""
    cleaned = Redactor().text(text)
    assert "redacted-0001" in cleaned
    for value in ("s3cr3tpw", "ABCDEFGHIJ", "abcdefghij", "eyJzdWIi", "MIIabc", "JSWFiYw"):
        assert value not in cleaned


@pytest.mark.parametrize(
    "text",
    [
        "max_connections = 20",
        "token_ttl: 3600s",
        "http://crane:7000",
        "secretName",
        "password: $(DB_PASSWORD)",
        "sha256:0af7",
        "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSWFiYwo=",
        "pem: LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0KTUlJYWJjCg==",
    ],
)
def test_ordinary_texts_stay(text: str):
    """Settings, addresses and references are no secrets."""
    assert Redactor().text(text) == text


def test_names_of_secrets_and_of_references_to_them():
    """A reference to a secret is no secret."""
    assert all(
        is_secret_name(name) for name in ("DB_PASSWORD", "apiKey", "AUTH_TOKEN", "client-secret")
    )
    assert not any(
        is_secret_name(name)
        for name in ("secretName", "TOKEN_TTL", "PASSWORD_FILE", "secretKeyRef", "POOL_SIZE")
    )


@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text: str):
    """A cleaned text stays as it is."""
    redactor = Redactor()
    once = redactor.text(text)
    assert redactor.text(once) == once
