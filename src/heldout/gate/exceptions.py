"""Names that a team may say although an incident holds them: signed, with an owner and an end.

``checkers/exceptions.toml`` lists them and ``checkers/allowed_signers`` the public keys of who may
sign, as OpenSSH has it (one line: name, key type, key). What is signed is the whole entry, so that
neither term nor end can be changed later. Verifying needs no secret and no network, and a job that
runs models holds nothing that could sign. Exceptions only ever let through: whatever is wrong with
one (its end, its signature, the file, no ``ssh-keygen``) leaves the term refused, and says so.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout.errors import ConfigError, UsageError
from heldout.gate.hits import Hit

FILE = "exceptions.toml"
SIGNERS = "allowed_signers"
NAMESPACE = "heldout-exception"
EXCUSABLE = frozenset({"incident-identifier", "similar-identifier"})
"""Only names may be excused: never an id, address, date, value, sentence or canary."""
MOST = 100
SECONDS = 10.0
LONGEST = datetime.timedelta(days=366)
"""No exception reaches further than this from the day of a check."""
_TERM = re.compile(r"[^a-z0-9]+")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    term: str = Field(min_length=3, max_length=200)
    reason: str = Field(min_length=3, max_length=500, pattern=r"^[^\n]+$")
    owner: str = Field(min_length=1, max_length=200, pattern=r"^[^\s*?,!\"]+$")
    expires: datetime.date
    signature: str = Field(min_length=1, max_length=4000)


@dataclass(frozen=True, slots=True)
class Allowance:
    """One term that may stand in a brain until the end of ``expires`` (UTC)."""

    term: str
    reason: str
    owner: str
    expires: datetime.date

    @property
    def key(self) -> str:
        """The term as the inventory's keys are written."""
        return squashed(self.term)

    def message(self) -> bytes:
        """What is signed."""
        plain = {
            "expires": self.expires.isoformat(),
            "owner": self.owner,
            "reason": self.reason,
            "term": self.term,
        }
        return json.dumps(plain, sort_keys=True, ensure_ascii=True).encode()


@dataclass(frozen=True, slots=True)
class Exceptions:
    """The allowances with a good signature, by key, and why others are passed over."""

    signed: Mapping[str, Allowance] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def on(self, day: datetime.date) -> Exceptions:
        """What is in force on a day."""
        left: dict[str, Allowance] = {}
        said: list[str] = []
        for key, one in self.signed.items():
            if one.expires < day:
                said.append(f"'{one.term}' expired on {one.expires.isoformat()}")
            elif one.expires > day + LONGEST:
                said.append(f"'{one.term}' ends later than a year from now")
            else:
                left[key] = one
        return Exceptions(left, (*self.ignored, *said))

    def excuse(self, hits: Iterable[Hit]) -> tuple[list[Hit], int]:
        """The hits with allowed names turned into remarks, and how many those are."""
        found: list[Hit] = []
        excused = 0
        for hit in hits:
            known = self.signed.get(squashed(hit.identifier)) if _excusable(hit) else None
            if known is not None:
                excused += 1
                until = f"Allowed until {known.expires.isoformat()} by {known.owner}"
                hit = replace(hit, severity="info", hint=f"{until}: {known.reason}")
            found.append(hit)
        return found, excused


def _excusable(hit: Hit) -> bool:
    return (
        hit.severity == "reject"
        and hit.rule in EXCUSABLE
        and hit.identifier_type != "canary"
        and bool(hit.identifier)
    )


def utc_day() -> datetime.date:
    """Today in UTC."""
    return datetime.datetime.now(datetime.UTC).date()


def squashed(term: str) -> str:
    """A term as a key: letters and digits, lower case."""
    return _TERM.sub("", term.lower())


def read_exceptions(folder: Path) -> Exceptions:
    """The exceptions of a folder of checkers; what is wrong with one is said, never raised."""
    path = folder / FILE
    if not path.is_file():
        return Exceptions()
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("allow", [])
        if not isinstance(entries, list) or len(entries) > MOST:
            raise ValueError(f"'allow' is not a list of at most {MOST}")
    except (OSError, ValueError) as error:
        return Exceptions(ignored=(f"{FILE} cannot be read ({error})",))
    signed: dict[str, Allowance] = {}
    ignored: list[str] = []
    for number, plain in enumerate(entries, 1):
        try:
            entry = _Entry.model_validate(plain)
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            ignored.append(f"entry {number} of {FILE}: {place}: {error.errors()[0]['msg']}")
            continue
        one = Allowance(entry.term, entry.reason, entry.owner, entry.expires)
        why = _verify(one, entry.signature, folder / SIGNERS)
        if why:
            ignored.append(f"'{one.term}': {why}")
        elif one.key:
            signed[one.key] = one
    return Exceptions(signed, tuple(ignored))


def _verify(one: Allowance, signature: str, signers: Path) -> str:
    """Empty for a good signature, else what is wrong."""
    if not signers.is_file():
        return f"there is no {SIGNERS}"
    with tempfile.NamedTemporaryFile("w", suffix=".sig", encoding="utf-8") as stream:
        stream.write(signature.strip() + "\n")
        stream.flush()
        command = ["-Y", "verify", "-f", str(signers), "-I", one.owner, "-n", NAMESPACE]
        done = _ssh_keygen([*command, "-s", stream.name], one.message())
    if done is None:
        return "ssh-keygen is not there or does not answer"
    return "" if done.returncode == 0 else f"no good signature of '{one.owner}'"


def _ssh_keygen(
    words: Sequence[str], text: bytes = b""
) -> subprocess.CompletedProcess[bytes] | None:
    try:
        return subprocess.run(
            ["ssh-keygen", *words], input=text, capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def sign_into(folder: Path, one: Allowance, key: Path, today: datetime.date) -> Path:
    """Sign an allowance with a private key and append it to the list; return the list's path.

    An entry that would not count is refused: too short a term, an end in the past, a key that is
    not among the allowed signers (:class:`UsageError`, :class:`ConfigError`).
    """
    if not today <= one.expires <= today + LONGEST:
        raise UsageError(
            "an exception ends between today and a year from now",
            where=one.expires.isoformat(),
            mend="Give --until a nearer day",
        )
    signature = _sign(one, key)
    try:
        entry = _Entry(**_plain(one), signature=signature)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{first['loc'][0]}: {first['msg']}", mend="See --help") from error
    why = _verify(one, entry.signature, folder / SIGNERS)
    if why:
        raise ConfigError(
            why,
            where=str(folder / SIGNERS),
            mend="Add the line '<owner> <key type> <public key>' and have it reviewed",
        )
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        document = tomlkit.parse(text)
        table = tomlkit.table()
        for name, value in (*_plain(one).items(), ("signature", signature)):
            table.add(name, tomlkit.string(value, multiline=True) if "\n" in str(value) else value)
        if "allow" not in document:
            document.add("allow", tomlkit.aot())
        document["allow"].append(table)
        path.write_text(tomlkit.dumps(document), encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the exception cannot be written ({error})", where=str(path), mend="Correct the file"
        ) from error
    return path


def _plain(one: Allowance) -> dict[str, Any]:
    return {
        "term": one.term,
        "reason": one.reason,
        "owner": one.owner,
        "expires": one.expires,
    }


def _sign(one: Allowance, key: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "entry"
        path.write_bytes(one.message())
        done = _ssh_keygen(["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path)])
        made = path.with_name("entry.sig")
        if done is None or done.returncode != 0 or not made.is_file():
            said = done.stderr.decode(errors="replace").strip()[-200:] if done else "no ssh-keygen"
            raise ConfigError(
                f"the entry could not be signed ({said})",
                where=str(key),
                mend="Name the private key of an allowed signer, or an agent's public key",
            )
        return made.read_text(encoding="utf-8")
