"""Choose the agents of a worker from the existing ones."""

from collections.abc import Iterable

from workers.agents.analytics import ANALYTICS
from workers.agents.assembly import ASSEMBLY
from workers.agents.base import AgentDefinition
from workers.agents.citations import CITATIONS
from workers.agents.decisions import DECISIONS
from workers.agents.evaluation import plugin_agents
from workers.agents.export.registry import builtin_exporters, enabled_exporters
from workers.agents.feedback import FEEDBACK
from workers.agents.grounding import GROUNDING
from workers.agents.intake import AGENT as INTAKE
from workers.agents.intake import intake_agent
from workers.agents.memory import MEMORY
from workers.agents.quality import QUALITY
from workers.agents.release import RELEASE
from workers.agents.signals import SIGNALS
from workers.agents.streams import AGENT as STREAMS
from workers.agents.streams import streams_agent
from workers.errors import TouchstoneError
from workers.process.plugins import PluginError
from workers.settings import Settings

AGENTS: dict[str, AgentDefinition] = {
    agent.name: agent
    for agent in (
        CITATIONS, GROUNDING, QUALITY, ASSEMBLY, RELEASE, DECISIONS, SIGNALS, FEEDBACK, MEMORY, ANALYTICS,
    )
}  # fmt: skip
"""Agents that always run, by name."""

EXPORTERS: dict[str, AgentDefinition] = builtin_exporters()
"""Built-in agents that run if the settings name their export target."""


class UnknownAgent(TouchstoneError):
    """Report that the agent does not exist."""


class AgentSwitchedOff(UnknownAgent):
    """Report that an agent was requested that the settings do not enable."""


def optional_agents(settings: Settings) -> dict[str, AgentDefinition]:
    """Return the agents that the settings enable, by name.

    Raises:
        PluginError: a plug-in is unknown, ambiguous or broken, or has the name of another agent.
    """
    readers = [each for each in (intake_agent(settings.gateways), streams_agent(settings)) if each is not None]
    evaluators, exporters = plugin_agents(settings), enabled_exporters(settings)
    added = [agent.name for agent in (*evaluators, *exporters) if agent.name not in EXPORTERS]
    if taken := sorted({name for name in added if name in (*AGENTS, INTAKE, STREAMS) or added.count(name) > 1}):
        raise PluginError(
            f"several agents have the name {', '.join(taken)}; remove the plug-in from evaluators.enabled or "
            "exports.plugins"
        )
    return {agent.name: agent for agent in (*evaluators, *readers, *exporters)}


def chosen_agents(names: Iterable[str] | None, settings: Settings) -> list[AgentDefinition]:
    """Return the agents with these names; by default those that always run and those that the settings enable.

    Args:
        names: names of agents, or ``None``.
        settings: all settings.

    Raises:
        UnknownAgent: a name is unknown; the message lists the agents.
        AgentSwitchedOff: an agent is not enabled; the message names the missing settings.
    """
    known = AGENTS | optional_agents(settings)
    if names is None:
        return list(known.values())
    names = list(names)
    if not names:
        raise UnknownAgent(f"no agent is given; choose from {', '.join(known)}")
    missing = [name for name in names if name not in known]
    if INTAKE in missing:
        raise AgentSwitchedOff("the agent intake has no topics to read; set TOUCHSTONE_GATEWAYS__TOPICS")
    if STREAMS in missing:
        raise AgentSwitchedOff("the agent streams is not enabled; set TOUCHSTONE_STREAMS__ENABLED=true")
    if off := [name for name in missing if name in EXPORTERS]:
        groups = ", ".join(f"TOUCHSTONE_{name.replace('-', '_').upper()}__…" for name in off)
        raise AgentSwitchedOff(
            f"no export target is set for {', '.join(off)}; set {groups} (docs/reference/exporters.md)"
        )
    if missing:
        raise UnknownAgent(f"unknown agent {', '.join(missing)}; choose from {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def agents_without(left_out: Iterable[str], settings: Settings) -> list[str]:
    """Return the names of the default agents of a worker, without some that run in another process.

    Args:
        left_out: names of agents, enabled or not.
        settings: all settings.

    Raises:
        UnknownAgent: a name is unknown, or no agent is left; the message lists the agents.
    """
    left_out = set(left_out)
    known = [*(AGENTS | optional_agents(settings))]
    if unknown := sorted(left_out - {*known, *EXPORTERS, INTAKE, STREAMS}):
        raise UnknownAgent(f"unknown agent {', '.join(unknown)}; choose from {', '.join(known)}")
    kept = [name for name in known if name not in left_out]
    if not kept:
        raise UnknownAgent(f"no agent is left to run; choose from {', '.join(known)}")
    return kept
