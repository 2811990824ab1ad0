"""A run whose agent is a program: what plays it, and the client that nobody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.environments import REPAIR
from heldout.errors import ConfigError
from heldout.llm import ModelName, ModelReply, ModelRequest
from heldout.run.plan import Plan, Terms
from heldout.settings import Settings

if TYPE_CHECKING:
    from heldout.agent.program import ProgramAgent, ProgramOptions


def program_of(plan: Plan, settings: Settings) -> ProgramAgent:
    """The program of a plan's terms; it sees neither datasets nor what heldout keeps.

    A plan that would book its results under a simulated model is a :class:`ConfigError`.
    """
    from heldout.agent.program import ProgramAgent

    if ModelName.parse(plan.model).is_simulated:
        raise ConfigError(
            f"'{plan.model}' is a simulated model, and a program plays the agent",
            where="agent.command",
            mend="Name what it is with --model or [models] agent, such as program/NAME",
        )
    return ProgramAgent(_options(plan.terms, settings))


def program_pin(terms: Terms, settings: Settings) -> dict[str, str]:
    """The pin of the program's files, so that an edited program is another run; else empty."""
    if not terms.agent_command:
        return {}
    return {"program": _options(terms, settings).digest()}


def _options(terms: Terms, settings: Settings) -> ProgramOptions:
    from heldout.agent.program import ProgramOptions

    agent = settings.agent
    return ProgramOptions(
        command=terms.agent_command,
        env=agent.env,
        hidden=(settings.state, settings.datasets),
        root=settings.root,
        sregym=agent.sregym,
    )


def require_known_tools(plan: Plan) -> None:
    """Refuse (:class:`ConfigError`) a simulated model that is offered no tool that it knows.

    And a program where code is mended: what it is served are worlds.
    """
    if plan.terms.tools == REPAIR:
        if plan.terms.agent_command:
            raise ConfigError(
                "a program cannot play the repair environment yet",
                where="agent.command",
                mend="Leave --agent-command out, or play worlds",
            )
        return
    packs = plan.terms.tools.replace("+", ",").split(",")
    if ModelName.parse(plan.model).is_simulated and "native" not in [one.strip() for one in packs]:
        raise ConfigError(
            f"'{plan.model}' is a simulated model and knows the native tools only",
            where="agent.tools",
            mend="Add native, or name a real model or a program",
        )


class NoClient:
    """Stands where a model's client would: a program asks its models itself."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Never called; a :class:`ConfigError` says so."""
        raise ConfigError("a program plays the agent: there is no model to ask")

    async def aclose(self) -> None:
        """Nothing is open."""
