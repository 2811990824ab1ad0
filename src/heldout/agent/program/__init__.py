"""Any program as the agent: one process per investigation, the world served to it over MCP."""

from heldout.agent.program.agent import ProgramAgent, ProgramOptions

__all__ = ["ProgramAgent", "ProgramOptions"]
