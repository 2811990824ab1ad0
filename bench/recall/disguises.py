"""Ways to write a fact so that a person still knows it, each with the recall that it must reach.

Nothing here comes from the gate: what it undoes and what is done to it are written apart.
"""

from __future__ import annotations

import base64
import codecs
import random
import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass

Draw = random.Random
Mutator = Callable[[str, Draw], str]

_HOMOGLYPHS = str.maketrans("aeopcxi", "аеорсхі")
_LEET = str.maketrans("oieas", "01345")
_ACCENTS = str.maketrans("aeou", "äéôú")
_VOWELS = re.compile("[aeiou]")


@dataclass(frozen=True)
class Disguise:
    """One class of the table.

    ``floor`` is the share that must be caught, ``None`` for one that is only shown; ``words`` is
    how many words a name must have for the class to mean something, ``length`` how many letters.
    """

    name: str
    group: str
    mutate: Mutator
    floor: float | None
    words: int = 1
    length: int = 6

    @property
    def trials(self) -> int:
        """A floor of 0.99 needs 300 trials to be told from 0.98."""
        return 300 if self.floor is not None and self.floor >= 0.99 else 120


def words(name: str) -> list[str]:
    """The words of a name as a person sees them."""
    return [word for word in re.split(r"[^A-Za-z0-9]+", name) if word]


def each(name: str, every: int, change: Callable[[str], str]) -> str:
    """``name`` with every n-th character changed, the second one first."""
    return "".join(change(c) if at % every == 1 else c for at, c in enumerate(name))


def typo(name: str, draw: Draw) -> str:
    """One letter inside dropped, doubled, replaced, or exchanged with the next."""
    places = [at for at in range(1, len(name) - 1) if name[at].isalpha()]
    at = draw.choice(places)
    kind = draw.randrange(4)
    if kind == 0:
        return name[:at] + name[at + 1 :]
    if kind == 1:
        return name[:at] + name[at] + name[at:]
    if kind == 2 and name[at + 1].isalpha() and name[at + 1] != name[at]:
        return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    return name[:at] + draw.choice([c for c in "bdfgkmprt" if c != name[at]]) + name[at + 1 :]


def mathematical(name: str) -> str:
    """Letters as mathematical bold, which look like letters and are none."""
    return "".join(chr(0x1D41A + ord(c) - ord("a")) if "a" <= c <= "z" else c for c in name)


def without_vowels(name: str) -> str:
    """Each word keeps its first letter."""
    return "-".join(word[0] + _VOWELS.sub("", word[1:]) for word in words(name))


def shuffled(name: str, draw: Draw) -> str:
    """The words in another order."""
    given = words(name)
    order = list(given)
    while order == given:
        draw.shuffle(order)
    return "-".join(order)


def affixed(name: str, draw: Draw) -> str:
    """Glued into something longer, in one of three ways."""
    bare = "".join(words(name))
    return draw.choice((f"my{bare}x", f"{bare}box", f"the{bare}thing"))


def halves(name: str, draw: Draw) -> str:
    """Told by how it begins and how it ends."""
    cut = len(name) // 2
    return f"'{name[:cut]}' up to '{name[cut:]}'"


def _disguise(group: str, floor: float | None, **classes: tuple[Mutator, int]) -> list[Disguise]:
    fuzzy = floor is None or floor < 0.99
    return [
        Disguise(name.replace("_", " "), group, mutate, floor, least, 8 if fuzzy else 6)
        for name, (mutate, least) in classes.items()
    ]


NORMALISED = _disguise(
    "normalisation", 0.99,
    as_it_is=(lambda n, d: n, 1),
    upper_case=(lambda n, d: n.upper(), 1),
    title_case=(lambda n, d: n.title(), 1),
    underscores=(lambda n, d: n.replace("-", "_"), 2),
    camel_case=(lambda n, d: "".join(w.title() for w in words(n)), 2),
    dots=(lambda n, d: ".".join(words(n)), 2),
    slashes=(lambda n, d: "/".join(words(n)), 2),
    blanks=(lambda n, d: " ".join(words(n)), 2),
    glued=(lambda n, d: "".join(words(n)), 2),
    letter_by_letter=(lambda n, d: " ".join("".join(words(n))), 1),
    dashes_between_letters=(lambda n, d: "-".join("".join(words(n))), 1),
    plural=(lambda n, d: n + "s", 1),
    possessive=(lambda n, d: n + "'s", 1),
    zero_width=(lambda n, d: n[:3] + "\u200b" + n[3:5] + "\u2060" + n[5:], 1),
    soft_hyphen=(lambda n, d: n[:4] + "\u00ad" + n[4:], 1),
    direction_marks=(lambda n, d: n[:2] + "\u200f" + n[2:4] + "\u202c" + n[4:], 1),
    homoglyphs=(lambda n, d: n.translate(_HOMOGLYPHS), 1),
    full_width=(lambda n, d: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in n), 1),
    mathematical_letters=(lambda n, d: mathematical(n), 1),
    accents=(lambda n, d: n.translate(_ACCENTS), 1),
    combining_marks=(lambda n, d: each(n, 3, lambda c: c + "\u0336"), 1),
    html_entities=(lambda n, d: each(n, 3, lambda c: f"&#{ord(c)};"), 1),
    hexadecimal_entities=(lambda n, d: each(n, 3, lambda c: f"&#x{ord(c):x};"), 1),
    per_cent=(lambda n, d: each(n, 3, lambda c: f"%{ord(c):02x}"), 1),
    unicode_escapes=(lambda n, d: each(n, 4, lambda c: f"\\u{ord(c):04x}"), 1),
    bold_inside=(lambda n, d: n[:3] + "**" + n[3:6] + "**" + n[6:], 1),
    backslashes=(lambda n, d: n.replace("-", "\\-"), 2),
    split_code_spans=(lambda n, d: f"`{n[:4]}``{n[4:]}`", 1),
    link_text=(lambda n, d: f"[{n[:4]}](x){n[4:]}", 1),
    comment_inside=(lambda n, d: n[:4] + "<!-- x y -->" + n[4:], 1),
    tag_inside=(lambda n, d: n[:4] + "<b></b>" + n[4:], 1),
    over_two_lines=(lambda n, d: n[:6] + "\n  " + n[6:], 1),
)  # fmt: skip
ENCODED = _disguise(
    "encoding", 0.99,
    base64=(lambda n, d: base64.b64encode(n.encode()).decode(), 1),
    base64_url=(lambda n, d: base64.urlsafe_b64encode(n.encode()).decode().rstrip("="), 1),
    base64_of_a_sentence=(lambda n, d: base64.b64encode(f"look at {n} now".encode()).decode(), 1),
    hexadecimal=(lambda n, d: n.encode().hex(), 1),
    hexadecimal_in_pairs=(lambda n, d: n.encode().hex(" "), 1),
    per_cent_throughout=(lambda n, d: "".join(f"%{ord(c):02X}" for c in n), 1),
    per_cent_by_library=(lambda n, d: urllib.parse.quote(f"{n}/?"), 1),
    rot13=(lambda n, d: codecs.encode(n, "rot13"), 1),
    backwards=(lambda n, d: n[::-1], 1),
    digits_for_letters=(lambda n, d: n.translate(_LEET), 1),
)  # fmt: skip
MISSPELT = [
    *_disguise("spelling", 0.95, one_typo=(typo, 1)),
    *_disguise("spelling", 0.80, two_typos=(lambda n, d: typo(typo(n, d), d), 1)),
    *_disguise(
        "spelling", 0.90,
        words_reordered=(shuffled, 2),
        vowels_dropped=(lambda n, d: without_vowels(n), 1),
        inside_a_longer_word=(affixed, 1),
    ),
    *_disguise(
        "spelling", 0.75, cut_to_70_per_cent=(lambda n, d: n[: max(5, round(len(n) * 0.7))], 1)
    ),
]  # fmt: skip
SHOWN = _disguise(
    "no floor", None,
    two_quoted_halves=(halves, 1),
    cut_to_50_per_cent=(lambda n, d: n[: max(4, len(n) // 2)], 1),
    initials=(lambda n, d: "".join(w[0].upper() for w in words(n)), 3),
    base64_twice=(lambda n, d: base64.b64encode(base64.b64encode(n.encode())).decode(), 1),
)  # fmt: skip
DISGUISES: tuple[Disguise, ...] = (*NORMALISED, *ENCODED, *MISSPELT, *SHOWN)
"""What is done to names."""

_BELOW = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_BELOW_TWENTY = tuple(_BELOW.split())
_ROUND = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = tuple(_ROUND.split())


def spelled(number: int) -> str:
    """A whole number below a million in English words."""
    if number < 20:
        return _BELOW_TWENTY[number]
    if number < 100:
        rest = f"-{_BELOW_TWENTY[number % 10]}" if number % 10 else ""
        return _TENS[number // 10] + rest
    if number < 1000:
        rest = f" and {spelled(number % 100)}" if number % 100 else ""
        return f"{_BELOW_TWENTY[number // 100]} hundred{rest}"
    rest = f" {spelled(number % 1000)}" if number % 1000 else ""
    return f"{spelled(number // 1000)} thousand{rest}"


UNITS: dict[str, tuple[tuple[str, float], ...]] = {
    "ms": (("ms", 1), ("milliseconds", 1), ("seconds", 0.001), ("s", 0.001), ("microseconds", 1e3)),
    "s": (("s", 1), ("seconds", 1), ("ms", 1000), ("milliseconds", 1000), ("minutes", 1 / 60)),
    "min": (("min", 1), ("minutes", 1), ("seconds", 60), ("hours", 1 / 60)),
    "h": (("hours", 1), ("minutes", 60), ("seconds", 3600)),
    "Mi": (("MiB", 1), ("Mi", 1), ("KiB", 1024), ("GiB", 1 / 1024), ("MB", 1.048576)),
    "Gi": (("GiB", 1), ("Gi", 1), ("MiB", 1024), ("GB", 1.073741824)),
    "%": (("%", 1), ("per cent", 1), ("percent", 1)),
    "m": (("millicores", 1), ("cores", 0.001), ("m", 1)),
}
"""By the unit of a value: other units for the same, and how many of them it is."""
SPOKEN = {"ms": "milliseconds", "s": "seconds", "min": "minutes", "h": "hours", "Mi": "mebibytes",
          "Gi": "gibibytes", "%": "percent", "m": "millicores"}  # fmt: skip


def figure(number: float) -> str:
    """A number as people write it: four significant digits where it is no whole one."""
    return f"{number:.0f}" if number == int(number) else f"{number:.4g}"


def _hex(draw: Draw, length: int) -> str:
    return f"{draw.getrandbits(4 * length):0{length}x}"


def _uuid(draw: Draw) -> str:
    return "-".join(_hex(draw, n) for n in (8, 4, 4, 4, 12))


def _number(draw: Draw, length: int) -> str:
    return "".join(draw.choice("123456789") for _ in range(length))


SHAPES: dict[str, Callable[[Draw], str]] = {
    "UUID": _uuid,
    "ARN": lambda d: f"arn:aws:iam::{_number(d, 12)}:role/r{_hex(d, 6)}",
    "account number": lambda d: _number(d, 12),
    "instance id": lambda d: f"i-0{_hex(d, 15)}1",
    "subnet id": lambda d: f"subnet-{_hex(d, 7)}2",
    "image digest": lambda d: f"sha256:{_hex(d, 64)}",
    "commit": lambda d: f"{d.choice('abcdef')}{_number(d, 2)}{_hex(d, 37)}",
    "short commit": lambda d: f"{d.choice('abcdef')}{_number(d, 2)}{_hex(d, 5)}",
    "IPv4 address": lambda d: ".".join(str(d.randrange(11, 126)) for _ in range(4)),
    "network": lambda d: f"10.{d.randrange(1, 250)}.{d.randrange(1, 250)}.0/24",
    "IPv6 address": lambda d: ":".join(_hex(d, 4) for _ in range(8)),
    "node name": lambda d: "ip-" + "-".join(str(d.randrange(11, 250)) for _ in range(4)),
    "host name": lambda d: f"n{_hex(d, 4)}.prod.internal",
    "address of a page": lambda d: f"https://wiki.corp{_hex(d, 3)}.com/x/{_number(d, 4)}",
    "e-mail": lambda d: f"a.{d.choice(('smith', 'jones'))}@corp{_hex(d, 3)}.com",
    "container image": lambda d: f"shop/cart-{_hex(d, 3)}:v1.{d.randrange(40)}.{d.randrange(9)}",
    "pull request": lambda d: f"#{d.randrange(100, 99999)}",
    "pull request in words": lambda d: f"PR {d.randrange(100, 99999)}",
    "ticket": lambda d: f"{d.choice(('OPS', 'SRE', 'PLAT'))}-{d.randrange(100, 9999)}",
    "pod": lambda d: f"cart-{_number(d, 1)}{_hex(d, 8)}f-x{_number(d, 1)}k9z",
    "date": lambda d: f"2026-{d.randrange(1, 13):02d}-{d.randrange(1, 29):02d}",
    "date in words": lambda d: f"{d.randrange(1, 29)} {d.choice(('March', 'October', 'June'))}",
    "American date": lambda d: f"{d.choice(('March', 'October'))} {d.randrange(1, 29)}, 2026",
    "time stamp": lambda d: f"2026-03-{d.randrange(10, 29)}T0{d.randrange(1, 9)}:14:33Z",
    "clock time": lambda d: f"{d.randrange(10, 24)}:{d.randrange(10, 60)}",
}  # fmt: skip
"""What no method needs, whoever's it is; drawn anew for every trial."""


def without_names(sentence: str) -> str:
    """A sentence with 'it' in place of what is written like a name: joined words, versions, ids."""
    return " ".join("it" if re.search(r"\w[-_./:@]\w", word) else word for word in sentence.split())
