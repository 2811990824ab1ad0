"""One investigation by a program: its process, its limits, and the trace that it leaves."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import shlex
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heldout.agent.journal import JournalEntry, OnStep
from heldout.agent.program.ending import Ended, trace_of
from heldout.agent.program.workplace import Workplace
from heldout.agent.prompt import READ_SKILL, system_prompt
from heldout.agent.sandbox import SandboxFailure
from heldout.agent.talk import Model
from heldout.agent.toolbox import offered, skill_answer
from heldout.agent.trace import Trace
from heldout.brain import Brain
from heldout.errors import ConfigError
from heldout.graph import open_interface
from heldout.incident import Incident
from heldout.interface import Interface
from heldout.serve.process import Served, Serving, bridged, require_mcp, supervised
from heldout.serve.sitting import Assignment, Prepared

NOT_STARTED = 127
"""What the supervisor ends with when the program could not be started."""

_AFTER_SUBMISSION = 15.0
"""Seconds that a program may go on for after it has submitted, to report what it used."""
_TO_END = 12.0
_HEAD, _TAIL = 4_000, 12_000


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """A program and what it may see.

    ``env`` names the variables of our environment that it gets, its own keys among them. ``hidden``
    are paths that it cannot open where the kernel can forbid it, ``root`` is the project, in which
    it cannot write.
    """

    command: str
    env: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()
    root: Path = Path()
    sregym: bool = False

    def words(self) -> list[str]:
        """The command line; the program and words that name a file of the project are absolute.

        A program that is not there is a :class:`ConfigError`.
        """
        try:
            first, *rest = shlex.split(self.command)
        except ValueError as error:
            raise ConfigError(
                f"the agent's command cannot be read ({error})",
                where="agent.command",
                mend="Quote it as in a shell",
            ) from error
        found = shutil.which(first if "/" not in first else str(self.root / first))
        if found is None:
            raise ConfigError(
                f"there is no program '{first[:100]}'",
                where="agent.command",
                mend="Name one on the PATH, or a file that can be executed",
            )
        program = str(Path(found).absolute())
        return [program, *(self._absolute(word) for word in rest)]

    def digest(self) -> str:
        """Hash over the command line and the project's files that its words name.

        A program that is installed elsewhere, and what a script imports, is not in it.
        """
        found = hashlib.sha256(self.command.encode())
        for word in self.words():
            path = Path(word)
            if path.is_absolute() and path.is_relative_to(self.root.absolute()) and path.is_file():
                found.update(path.read_bytes())
        return found.hexdigest()

    def _absolute(self, word: str) -> str:
        with suppress(OSError, ValueError):
            if word and not word.startswith("-") and (self.root / word).is_file():
                return str((self.root / word).absolute())
        return word


class ProgramAgent:
    """Plays investigations with a program; called as :func:`heldout.agent.investigate` is.

    Whatever the program does ends in a :class:`Trace`, to be judged: a crash and an exit without a
    submission are its own failures. A world or a serving process that breaks is raised
    (:class:`WorldError`, :class:`SandboxFailure`) and makes the investigation invalid. What a
    program costs is known only if it says so, and there is no journal to resume it from.
    """

    def __init__(self, options: ProgramOptions) -> None:
        require_mcp()
        self._options = options
        self._words = options.words()

    async def __call__(
        self,
        incident: Incident,
        brain: Brain,
        client: Model,
        interface: Interface,
        *,
        model: str,
        limits: Any,
        seed: int,
        on_step: OnStep | None = None,
        resume_steps: Sequence[JournalEntry] = (),
    ) -> Trace:
        """One investigation; ``client``, ``on_step`` and ``resume_steps`` have no use here."""
        if limits.max_usd is not None:
            raise ConfigError(
                "limits.max_usd cannot be held: a program's cost is known only at its end",
                mend="Take max_usd away; [run] max_usd caps what programs report",
            )
        place = await asyncio.to_thread(Workplace.make, incident, brain, model, interface.name)
        try:
            assignment = Assignment(
                world=str(incident.world),
                alert=incident.alert,
                tools=_served_tools(interface),
                task=_task(interface),
                seed=seed,
                max_steps=limits.max_steps,
                max_seconds=limits.max_seconds,
                transport="http",
                prefix=f"/{secrets.token_urlsafe(24)}",
                sregym=self._options.sregym,
                prepared=_skills(brain, model, interface),
            )
            ended = await self._played(assignment, place, model, limits)
            usage = await asyncio.to_thread(place.usage)
        finally:
            await asyncio.to_thread(place.remove)
        prompt = system_prompt(brain.prompt(model, interface.name))
        return trace_of(ended, usage, prompt, incident.alert)

    async def _played(
        self, assignment: Assignment, place: Workplace, model: str, limits: Any
    ) -> Ended:
        serving = await Serving.start(assignment)
        try:
            url = await serving.url()
            place.write_config(url)
            told = {
                "HELDOUT_MCP_URL": url,
                "HELDOUT_MCP_COMMAND": shlex.join(bridged(url)),
                "HELDOUT_MCP_CONFIG": place.config,
                "HELDOUT_MODEL": model,
                "HELDOUT_SEED": assignment.seed,
                "HELDOUT_MAX_STEPS": limits.max_steps,
                "HELDOUT_MAX_TOKENS": limits.max_tokens,
                "HELDOUT_MAX_SECONDS": limits.max_seconds,
            }
            if assignment.sregym:
                base = await serving.base()
                host, port = base.removeprefix("http://").split(":")
                told |= {"HELDOUT_SREGYM_URL": base, "API_HOSTNAME": host, "API_PORT": port}
            environment = place.environment(self._options.env, told)
            ended = await self._process(serving, place, environment, limits.max_seconds)
        finally:
            served = await serving.stop()
        if served.submission is None and (served.broken or not served.ended):
            raise SandboxFailure(
                f"the serving process failed: {served.broken or 'it was killed'}",
                mend="It counts as invalid; 'heldout resume' plays it anew",
            )
        return replace(ended, served=served)

    async def _process(
        self, serving: Serving, place: Workplace, environment: dict[str, str], seconds: float
    ) -> Ended:
        hidden = [str(path) for path in self._options.hidden]
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *supervised(self._words, hidden, str(self._options.root)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=place.work,
            env=environment,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        reading = [asyncio.create_task(_kept(process.stdout)),
                   asyncio.create_task(_kept(process.stderr))]  # fmt: skip
        try:
            late = await _outcome(process, serving, seconds)
        finally:
            elapsed = time.monotonic() - began
            process.stdin.close()
            await _end(process)
        output, errors = [await one for one in reading]
        code = process.returncode if not late else None
        if code == NOT_STARTED and not serving.served.steps:
            raise ConfigError(
                f"the agent's program cannot be started: {errors[:200]}",
                where="agent.command",
                mend="Try the command in a shell",
            )
        return Ended(Served(), code, late == "max_seconds", elapsed, output, errors)


async def _outcome(process: asyncio.subprocess.Process, serving: Serving, seconds: float) -> str:
    """Wait for the program's end; why it must be ended instead, empty when it ended by itself."""
    ending = asyncio.create_task(process.wait())
    submitted = asyncio.create_task(serving.submitted.wait())
    gone = asyncio.create_task(serving.gone.wait())
    try:
        await asyncio.wait(
            [ending, submitted, gone], timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        if submitted.done() and not ending.done():
            await asyncio.wait([ending], timeout=_AFTER_SUBMISSION)
            return "" if ending.done() else "submitted"
        if ending.done():
            return ""
        return "gone" if gone.done() else "max_seconds"
    finally:
        for task in (ending, submitted, gone):
            task.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    """The supervisor kills all that the program started once its input has closed."""
    try:
        await asyncio.wait_for(process.wait(), _TO_END)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _kept(stream: asyncio.StreamReader) -> str:
    """The beginning and the end of what a program printed; the rest is read and dropped."""
    head, tail, dropped = b"", b"", 0
    while chunk := await stream.read(65_536):
        if len(head) < _HEAD:
            taken = _HEAD - len(head)
            head, chunk = head + chunk[:taken], chunk[taken:]
        tail += chunk
        if len(tail) > _TAIL:
            dropped += len(tail) - _TAIL
            tail = tail[-_TAIL:]
    note = f"\n[{dropped} bytes left out]\n".encode() if dropped else b""
    return (head + note + tail).decode("utf-8", "replace")


def _served_tools(interface: Interface) -> str:
    """The packs that the serving process is to offer; empty is the submission alone."""
    names = [spec.name for spec in interface.tool_specs()]
    if len(names) == 1:
        return ""
    if [spec.name for spec in open_interface(interface.name).tool_specs()] != names:
        raise ConfigError(
            f"the environment '{interface.name}' cannot be served to a program",
            mend="Take agent.command away, or use the packs of tools",
        )
    return interface.name


def _skills(brain: Brain, model: str, interface: Interface) -> tuple[Prepared, ...]:
    """The tool that reads skills on demand, where our own loop would offer it."""
    specs = interface.tool_specs()
    if len(offered(specs, brain)) == len(specs):
        return ()
    names = [skill.name for skill in brain.skills()]
    answers = {one: skill_answer(brain, one, model, interface.name).text for one in names}
    otherwise = skill_answer(brain, "", model, interface.name).text
    spec = READ_SKILL
    return (
        Prepared(spec.name, spec.description, dict(spec.parameters), "name", answers, otherwise),
    )


def _task(interface: Interface) -> str:
    """What an environment of one tool says of it, which is not what the packs say."""
    specs = interface.tool_specs()
    return specs[0].description if len(specs) == 1 else ""
