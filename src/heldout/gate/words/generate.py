"""Makes the generated word lists of this folder again from their sources; NOTICE names versions.

    pip download --no-deps --dest WHEELS kubernetes==37.0.2 botocore==1.44.8
    python generate.py WHEELS /usr/share/dict/american-english

Sources are read from the wheels as they are, nothing is installed. What comes out is a pure
function of them, so a second run changes nothing.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SERVICES = (
    "acm", "apigateway", "application-autoscaling", "autoscaling", "cloudfront", "cloudtrail",
    "cloudwatch", "dynamodb", "ec2", "ecr", "ecs", "eks", "elasticache", "elbv2", "events",
    "firehose", "iam", "kafka", "kinesis", "kms", "lambda", "logs", "rds", "route53", "s3",
    "secretsmanager", "sns", "sqs", "ssm", "sts",
)  # fmt: skip
"""Services of AWS whose schemas are read."""
NAMES_EACH = 3
"""A word must stand in this many names of the schemas."""
PAIRS_EACH = 4
"""Two words must stand side by side this often in the schemas' prose."""
_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_FIELD = re.compile(r"^    ([a-z][a-z_]*): .*Field\(", re.MULTILINE)
_DESCRIPTION = re.compile(r"description=\"((?:[^\"\\]|\\.)*)\"")
_CLASS = re.compile(r"^class (?:V\d+(?:alpha\d+|beta\d+)?)?([A-Za-z]+)\(", re.MULTILINE)
_STOP_WORDS = """
a an the of to in on at by for from with without and or nor but if then than that this these those
it its is are was were be been being am do does did have has had as into onto over under up out so
not no can could may might must shall should will would which who whom whose what when where why how
there here their they them he she him her his we our you your i my me us all any each every both
either such same own just only very more most less least also after before while during until since
per via because between within about through another different specific one other using use used
"""
_STOP = frozenset(_STOP_WORDS.split())


def main(wheels: Path, english: Path) -> None:
    """Write ``english.txt.gz``, ``schema.txt.gz`` and ``pairs.txt.gz`` beside this file."""
    words = sorted(set(re.findall(r"^[a-z]{2,}$", english.read_text(encoding="utf-8"), re.M)))
    kubernetes, amazon = list(_kubernetes(wheels)), list(_botocore(wheels))
    fields = {name for name, _ in kubernetes if name}
    prose = [text for _, text in (*kubernetes, *amazon) if text]
    schema = _schema_words(fields | {name for name, _ in amazon if name})
    schema = sorted({*schema, *_glued(fields)})
    known = set(words) | set(schema)
    _write("english.txt.gz", words)
    _write("schema.txt.gz", schema)
    _write("pairs.txt.gz", _pairs(prose, known))


def _kubernetes(wheels: Path) -> Iterator[tuple[str, str]]:
    """Class and field names of the client's models, and what their descriptions say."""
    with zipfile.ZipFile(next(wheels.glob("kubernetes-*.whl"))) as wheel:
        for path in sorted(wheel.namelist()):
            if path.startswith("kubernetes/client/models/") and path.endswith(".py"):
                text = wheel.read(path).decode()
                yield from ((name, "") for name in _CLASS.findall(text))
                yield from ((name, "") for name in _FIELD.findall(text))
                yield from (("", said) for said in _DESCRIPTION.findall(text))


def _botocore(wheels: Path) -> Iterator[tuple[str, str]]:
    """Operation, shape and member names of the newest schema of each service, and its prose."""
    with zipfile.ZipFile(next(wheels.glob("botocore-*.whl"))) as wheel:
        for service in SERVICES:
            found = f"botocore/data/{service}/"
            paths = [
                path
                for path in wheel.namelist()
                if path.startswith(found) and re.search(r"/service-2\.json(?:\.gz)?$", path)
            ]
            newest = max(paths)
            raw = wheel.read(newest)
            model = json.loads(gzip.decompress(raw) if newest.endswith(".gz") else raw)
            yield from _walk(model["operations"])
            yield from _walk(model["shapes"])


def _walk(tree: Any) -> Iterator[tuple[str, str]]:
    if isinstance(tree, list):
        for item in tree:
            yield from _walk(item)
    if not isinstance(tree, dict):
        return
    for key, value in tree.items():
        if key == "documentation" and isinstance(value, str):
            yield "", re.sub(r"<[^>]+>|&\w+;", " . ", value)
        elif isinstance(value, dict):
            yield key, ""
            yield from _walk(value)
        elif isinstance(value, list):
            yield from _walk(value)


def _schema_words(names: Iterable[str]) -> list[str]:
    seen: Counter[str] = Counter()
    for name in names:
        seen.update({token.lower() for token in _TOKEN.findall(name)})
    return sorted(word for word, count in seen.items() if count >= NAMES_EACH and len(word) > 2)


def _glued(fields: Iterable[str]) -> Iterator[str]:
    """Kinds and fields of Kubernetes as people write them in one word (``configmap``)."""
    for name in fields:
        if 2 <= len(_TOKEN.findall(name)) <= 4 and len(name) <= 32:
            yield name.replace("_", "").lower()


def _pairs(prose: Iterable[str], known: set[str]) -> list[str]:
    """Neighbours in a sentence, neither a stop word, in alphabetical order."""
    seen: Counter[tuple[str, str]] = Counter()
    for text in dict.fromkeys(prose):
        for clause in re.split(r"[^A-Za-z' -]+", text):
            words = [word.lower() for word in clause.replace("-", " ").split()]
            for first, second in pairwise(words):
                if first != second and not _STOP & {first, second}:
                    seen[min(first, second), max(first, second)] += 1
    return sorted(
        f"{a} {b}"
        for (a, b), count in seen.items()
        if count >= PAIRS_EACH and len(a) > 2 and len(b) > 2 and a in known and b in known
    )


def _write(name: str, lines: list[str]) -> None:
    packed = gzip.compress(("\n".join(lines) + "\n").encode(), compresslevel=9, mtime=0)
    (HERE / name).write_bytes(packed)
    print(f"{name}: {len(lines)} lines, {len(packed)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
