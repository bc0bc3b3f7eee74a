"""Choose what to examine: what some agents need, or the console, or all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.topics import Topic
from workers.agents.base import AgentDefinition
from workers.agents.intake import AGENT as INTAKE
from workers.agents.signals import SIGNALS
from workers.agents.streams import AGENT as STREAMS
from workers.delivery.topics.access_rights import Right, access_rights
from workers.settings import Settings

WORKER, CONSOLE = "worker", "console"
"""Principals of the rights that are compared."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Name what the examined processes need.

    Attributes:
        agents: agents of the examined worker; empty to examine the console alone.
        console: true to examine what the console needs.
    """

    agents: tuple[AgentDefinition, ...]
    console: bool

    @property
    def clickhouse(self) -> bool:
        """Return whether ClickHouse is needed at the start."""
        return self.console or any("clickhouse" in agent.stores for agent in self.agents)

    @property
    def memory(self) -> bool:
        """Return whether the memory is needed at the start."""
        return self.console or any("memory" in agent.stores for agent in self.agents)

    @property
    def redis(self) -> bool:
        """Return whether Redis is used: by agents that find retries, join traces or chunks, and by the console."""
        return self.console or any(agent.name in (SIGNALS.name, INTAKE, STREAMS) for agent in self.agents)

    @property
    def foreign_topics(self) -> Sequence[Topic]:
        """Return the topics of other systems that the agents read."""
        return [topic for agent in self.agents for topic in agent.reads if topic.foreign]

    def rights(self, settings: Settings) -> Iterable[Right]:
        """Return the rights at the broker that the examined processes need."""
        reads = [topic for agent in self.agents for topic in agent.reads]
        wanted = {*([WORKER] if self.agents else []), *([CONSOLE] if self.console else [])}
        every = access_rights(settings, reads, worker=WORKER, console=CONSOLE, gateway="gateway", operator="operator")
        return [right for right in every if right.principal in wanted]

    def groups(self, settings: Settings) -> list[str]:
        """Return the consumer groups of the agents."""
        return [settings.group_name(agent.name) for agent in self.agents]
