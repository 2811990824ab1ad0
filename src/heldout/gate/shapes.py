"""What no method needs, whatever the inventory holds: ids, addresses, dates, times, tickets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from heldout.gate.extract import opaque_hash
from heldout.gate.hits import Context, Hit, line_place

RULE = "shape"
HINT = "Leave the example out; a method holds for any system and any day"

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_ORDINAL = (
    r"(?:(?:twenty|thirty)[- ])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|"
    r"tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|"
    r"nineteenth|twentieth|thirtieth"
)
_IN_WORDS = rf"(?:{_ORDINAL}) of {_MONTH}\b|\b{_MONTH},? (?:the )?(?:{_ORDINAL})\b"
_DAY_IN_WORDS = re.compile(rf"\b(?:{_IN_WORDS})", re.IGNORECASE)
_SHAPES: tuple[tuple[str, str], ...] = (
    ("uuid", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    ("ARN", r"\barn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:\d*:[^\s`'\"]+"),
    ("world id", r"\b[ecam]-[0-9a-f]{8}\b|\bl-\d{3,}\b"),
    (
        "cloud id",
        r"\b(?:vpc|subnet|sg|sgr|i|vol|eni|ami|rtb|igw|nat|acl|eipalloc|lt|snap|tgw|pcx|vpce|"
        r"eks|fs|key|pl)-(?=[0-9a-f]*\d)[0-9a-f]{8,17}\b",
    ),
    ("account", r"(?<![\w.,-])\d{12}(?![\w,-]|\.\d)"),
    ("digest", r"\b(?:sha256|sha512|md5):[0-9a-f]{8,}"),
    ("commit", r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"),
    ("address", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?![\w.]*\d)"),
    (
        "address",
        r"\b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\b|\b(?:[0-9a-f]{1,4}:){2,6}:[0-9a-f]{0,4}",
    ),
    ("host", r"\bip-\d{1,3}(?:-\d{1,3}){3}\b"),
    (
        "host",
        r"(?<![\w.-])(?:[a-z0-9][a-z0-9-]*\.)+(?:svc|internal|local|corp|lan|intra|amazonaws|cluster|com|"
        r"net|org|io|dev|cloud|app)(?:\.[a-z]{2,})*\b(?:/[\w./%-]*)?",
    ),
    ("e-mail", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"),
    (
        "image",
        r"(?<![\w./-])[a-z0-9][a-z0-9._/-]*:v?\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?\b",
    ),
    (
        "pull request",
        r"(?<![\w&])[#!]\d{2,7}\b|\b(?:pr|mr|pull request|merge request)[ #!-]*\d{1,7}\b",
    ),
    (
        "ticket",
        r"\b(?!(?:utf|rfc|iso|sha|aes|rsa|http|ipv|tls|utc|gmt|cve|md|us|eu|ap|ieee|ecdsa|x|p)-)"
        r"(?-i:[A-Z][A-Z0-9]{1,9}-\d{2,7})\b",
    ),
    (
        "pod",
        r"(?<![\w-])[a-z0-9][a-z0-9-]*-(?=[a-f0-9]*\d)[a-f0-9]{8,10}-(?=[a-z0-9]*\d)[a-z0-9]{5}\b",
    ),
    (
        "date",
        r"\b(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?:T[\d:.]+Z?)?\b",
    ),
    (
        "date",
        rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|"
        rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b(?: \d{{4}})?",
    ),
    ("clock time", r"\b(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\.\d+)?(?: ?(?:utc|z|am|pm))?\b"),
    ("clock time", r"\b(?:1[0-2]|[1-9])(?::[0-5]\d)? ?(?:am|pm|utc)\b"),
)
_ALL = re.compile(
    "|".join(f"(?P<s{number}>{pattern})" for number, (_, pattern) in enumerate(_SHAPES)),
    re.IGNORECASE,
)
_ALLOWED = re.compile(
    r"127\.0\.0\.1|0\.0\.0\.0(?:/0)?|169\.254\.169\.254|255\.255\.255\.\d+|"
    r"10\.0\.0\.0/8|172\.16\.0\.0/12|192\.168\.0\.0/16|::1?|"
    r"(?:[a-z0-9-]+\.)*(?:example\.(?:com|org|net)|kubernetes\.io|k8s\.io|github\.com)(?:/[\w./-]*)?|"
    r"[\w.+-]+@example\.(?:com|org)|svc\.cluster\.local|cluster\.local|00:00|"
    r"(?:[a-z]+\.)*(?:spec|status|metadata|data|env)(?:\.[a-z]+)*",
    re.IGNORECASE,
)


class Shape(NamedTuple):
    """A shape in a folded line."""

    kind: str
    first: int
    last: int
    text: str


@lru_cache(maxsize=20_000)
def shapes(line: str) -> tuple[Shape, ...]:
    """Every shape of a folded line that is not on the short list of what anybody may write."""
    found = [
        Shape("date", *match.span(), match.group())
        for match in _DAY_IN_WORDS.finditer(line)
        if not match.group().startswith("may ")
    ]
    if not any(c.isdigit() for c in line) and "." not in line and "@" not in line:
        return tuple(found)
    for match in _ALL.finditer(line):
        text = match.group()
        if _ALLOWED.fullmatch(text) or not text:
            continue
        number = next(n for n in range(len(_SHAPES)) if match[f"s{n}"] is not None)
        kind = _SHAPES[number][0]
        if kind == "date" and text.lower().startswith("may ") and not text[0].isupper():
            continue
        found.append(Shape(kind, *match.span(), text))
    return tuple(found)


def check(context: Context) -> Iterator[Hit]:
    """Every shape; the inventory is asked only whose id it is."""
    for row in context.scan.folded:
        for shape in shapes(row[2].text):
            owners = context.inventory.opaque.owners(opaque_hash(shape.text))
            yield Hit(
                rule=RULE,
                severity="reject",
                place=line_place(row, shape.first, shape.last),
                matched=shape.text,
                identifier=shape.text if owners else "",
                identifier_type=shape.kind,
                owners=owners,
                hint=HINT,
                strong=bool(owners),
            )
