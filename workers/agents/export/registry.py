"""Open the exporters through entry points: built-in ones whose target is set, and plug-ins."""

from dataclasses import replace

from workers.agents.base import AgentDefinition
from workers.process.plugins import EXPORTERS, Plugin, PluginError, find_plugins
from workers.settings import Settings

BUILTIN = {
    "otel": "workers.agents.export.otel:OTEL",
    "langfuse": "workers.agents.export.langfuse:LANGFUSE",
    "alert-webhook": "workers.agents.export.webhooks:ALERT_WEBHOOK",
    "review-webhook": "workers.agents.export.webhooks:REVIEW_WEBHOOK",
}
"""Targets of the entry points of the built-in exporters by name."""


def builtin_exporters() -> dict[str, AgentDefinition]:
    """Return the agents of the built-in exporters by name.

    Raises:
        PluginError: another distribution declares an exporter of the same name.
    """
    return {plugin.name: open_exporter(plugin) for plugin in find_plugins(EXPORTERS, BUILTIN, BUILTIN)}


def enabled_exporters(settings: Settings) -> list[AgentDefinition]:
    """Return the agents of the exporters that the settings enable.

    Raises:
        PluginError: a plug-in is unknown, ambiguous, broken, or has the name of a built-in exporter.
    """
    if taken := [name for name in settings.exports.plugins if name in BUILTIN]:
        raise PluginError(
            f"exports.plugins contains {', '.join(taken)}, which is built in and runs once its export target is "
            "set; remove it"
        )
    plugins = find_plugins(EXPORTERS, (*BUILTIN, *settings.exports.plugins), BUILTIN)
    agents = [open_exporter(plugin) for plugin in plugins]
    return [agent for agent in agents if agent.switched_on is None or agent.switched_on(settings)]


def open_exporter(plugin: Plugin) -> AgentDefinition:
    """Import the agent of an exporter, and note that it is one.

    Raises:
        PluginError: the plug-in is broken, or its name differs from its entry point.
    """
    agent = plugin.load(AgentDefinition)
    if agent.name != plugin.name:
        raise PluginError(
            f"the exporter {plugin.name} of {plugin.distribution} {plugin.version} ({plugin.target}) has the name "
            f"{agent.name!r}; use the name of its entry point"
        )
    return replace(agent, kind="exporter")
