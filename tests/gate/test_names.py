"""Tiers: which names name a system."""

from __future__ import annotations

import pytest

from heldout.gate.names import base_name, judge_name, unknown_parts
from heldout.gate.vocabulary import load_vocabulary, tokens

VOCABULARY = load_vocabulary()


@pytest.mark.parametrize(
    ("surface", "kind", "tier"),
    [
        ("kestrovan-ledger", "resource", "T1"),
        ("mara.veldhuizen", "person", "T1"),
        ("statement-walnut-harbor", "resource", "T1"),
        ("walrus-accordion", "resource", "T2"),
        ("control-plane", "resource", "T3"),
        ("queue-worker", "resource", "T4"),
        ("walnut", "resource", "T5"),
        ("walnut-service", "resource", "T5"),
        ("coredns", "resource", "T4"),
        ("eu-west-1", "resource", "T4"),
        ("m5.2xlarge", "value", "T4"),
        ("replicas", "key", "T4"),
        ("timeout", "key", "T4"),
        ("memory", "key", "T4"),
        ("terminationGracePeriodSeconds", "key", "T4"),
        ("db-pool-max", "key", "T2"),
        ("pool_max", "key", "T3"),
        ("http-client-timeout-ms", "key", "T2"),
        ("spindle_pool_ceiling", "key", "T1"),
    ],
)
def test_a_name_is_worth_what_its_words_say(surface: str, kind: str, tier: str):
    """Unknown words, unusual pairs and public schema words each have their tier."""
    assert judge_name(surface, kind, VOCABULARY).tier == tier  # type: ignore[arg-type]


def test_only_unknown_words_stand_alone():
    """The brand in a name is an identifier by itself, its plain words are not."""
    assert unknown_parts(judge_name("kestrovan-ledger", "resource", VOCABULARY), VOCABULARY) == [
        "kestrovan"
    ]


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("kestrovan-ledger-6b9f7c8d54-x2k9p", "kestrovan-ledger"),
        ("kestrovan-ledger-0", "kestrovan-ledger"),
        ("kestrovan-ledger", "kestrovan-ledger"),
    ],
)
def test_pods_are_called_by_their_workload(name: str, base: str):
    """What a controller appends is no part of the name."""
    assert base_name(name) == base


@pytest.mark.parametrize(
    "word",
    ["frontend", "limiter", "descheduler", "misconfigured", "throttling", "retries", "rerouted",
     "kubelet", "idempotency", "reconciler", "autoscaled", "nodepool", "unschedulable"],
)  # fmt: skip
def test_words_of_the_trade_are_known(word: str):
    """Daily operations words that dictionaries lack are no identifiers."""
    assert VOCABULARY.known(word)


@pytest.mark.parametrize("word", ["kestrovan", "veldhuizen", "dromblivet", "zwiebelkraft"])
def test_coined_words_are_unknown(word: str):
    """Brands and surnames are not in the vocabulary."""
    assert not VOCABULARY.known(word)


def test_tokens_split_at_separators_case_and_digits():
    """A name's words are found however it joins them."""
    assert tokens("HTTPServerName_v2.max-idle") == [
        "http",
        "server",
        "name",
        "v",
        "2",
        "max",
        "idle",
    ]
