"""Train incidents rendered again under other names, kept and made once.

A world takes seconds of CPU, so a child process makes what is missing
(``python -m heldout.behaviour``) while the caller's event loop goes on with other probes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heldout.build.freezing import freeze_incident
from heldout.build.variants import variants
from heldout.build.worlds import place_of, read_alert
from heldout.errors import HeldoutError, SpecError
from heldout.incident import Incident
from heldout.settings import Settings, load_settings
from heldout.simulate import GENERATOR
from heldout.split import Case, declare_process, read_specs
from heldout.truth import Spec, read_spec


class Renamed(NamedTuple):
    """Incidents rendered again, by the original's id, and why others could not be."""

    cases: dict[str, Case]
    refused: dict[str, str]


def renamed_cases(settings: Settings, originals: Sequence[Case]) -> Renamed:
    """One renamed incident for each train case, its world in the cache.

    They are kept under ``.heldout/variants``. An incident that was not generated, or finds no valid
    place under other names, is refused with the reason, and so is each if the child fails.
    """
    if not originals:
        return Renamed({}, {})
    name = originals[0].incident.set
    specs = {spec.id: spec for spec in read_specs(settings.set_dir(name), "train")}
    missing = [c.incident.id for c in originals if _kept(settings, specs[c.incident.id]) is None]
    refused = _render_apart(settings, name, missing) if missing else {}
    made: dict[str, Case] = {}
    for case in originals:
        kept = _kept(settings, specs[case.incident.id])
        if kept is not None:
            made[case.incident.id] = _case(case, *kept, settings)
    return Renamed(made, refused)


def _render_apart(settings: Settings, name: str, incidents: Sequence[str]) -> dict[str, str]:
    """Make variants in a child process; returns the refused with the reason."""
    command = [sys.executable, "-P", "-m", "heldout.behaviour", *incidents]
    command += ["--project", str(settings.root), "--set", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        refused = json.loads(done.stdout) if done.returncode == 0 else None
    except ValueError:
        refused = None
    if isinstance(refused, dict):
        return {str(incident): str(why) for incident, why in refused.items()}
    why = done.stderr.strip()[-200:] or f"the process ended with code {done.returncode}"
    return dict.fromkeys(incidents, why)


def render(settings: Settings, name: str, incidents: Sequence[str]) -> dict[str, str]:
    """Make and keep a variant of each train incident; returns the refused with the reason."""
    refused: dict[str, str] = {}
    for spec in read_specs(settings.set_dir(name), "train"):
        if spec.id not in incidents:
            continue
        try:
            (one,) = variants(spec, 1, settings)
        except SpecError as error:
            refused[spec.id] = error.what
        else:
            freeze_incident(_folder(settings, spec), one.spec, one.alert)
    return refused


def _folder(settings: Settings, spec: Spec) -> Path:
    """Where a spec's variant is kept: another world or generator is another variant."""
    text = "\0".join((spec.id, spec.world_digest, spec.truth_digest, GENERATOR))
    return settings.state / "variants" / hashlib.sha256(text.encode()).hexdigest()[:16]


def _kept(settings: Settings, spec: Spec) -> tuple[Spec, str] | None:
    folder = _folder(settings, spec)
    for path in sorted((folder / "specs").glob("*.toml")):
        try:
            variant = read_spec(path)
            place = place_of(settings, variant)
            if place.world.is_dir() and place.truth.is_file():
                return variant, read_alert(folder, variant.id)
        except (HeldoutError, tomllib.TOMLDecodeError):
            continue  # Half-written or from another time: it is made again.
    return None


def _case(original: Case, spec: Spec, alert: str, settings: Settings) -> Case:
    place = place_of(settings, spec)
    return Case(
        incident=Incident(
            id=spec.id,
            set=original.incident.set,
            alert=alert,
            world=place.world,
            digest=spec.world_digest,
        ),
        side="train",
        kind=spec.kind,
        domain=spec.domain,
        family=spec.family,
        traps=spec.traps,
        group=original.group,
        origin=spec.origin,
        truth_file=place.truth,
        truth_digest=spec.truth_digest,
    )


def main() -> int:
    """The child: make what is named, and print what was refused as JSON."""
    parser = argparse.ArgumentParser(prog="python -m heldout.behaviour")
    parser.add_argument("incidents", nargs="+")
    parser.add_argument("--project", type=Path, default=None)
    parser.add_argument("--set", required=True)
    args = parser.parse_args()
    declare_process("tune")
    try:
        refused = render(load_settings(args.project), args.set, args.incidents)
    except HeldoutError as error:
        print(error.sentence(), file=sys.stderr)
        return error.exit_code
    print(json.dumps(refused))
    return 0
