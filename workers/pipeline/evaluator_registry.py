"""Open the evaluators that the settings enable: the built-in ones and plug-ins, through the same entry points."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from schemas.evaluations import EvaluationFindings, EvaluationReport
from workers.pipeline.builtin_evaluators import BUILTIN
from workers.pipeline.evaluator import AnyEvaluator, Evaluator
from workers.process.plugins import EVALUATORS, OWN_DISTRIBUTION, Plugin, PluginError, find_plugins
from workers.settings import Settings


@runtime_checkable
class EvaluatorFactory(Protocol):
    """Make an evaluator from the settings."""

    def __call__(self, settings: Settings, /) -> object:
        """Return an ``Evaluator``."""


def evaluator_plugins(settings: Settings) -> list[Plugin]:
    """Return the enabled evaluators of other distributions, without importing them.

    Raises:
        PluginError: a name is built in, unknown or ambiguous.
    """
    names = settings.evaluators.enabled
    if taken := [name for name in names if name in BUILTIN]:
        raise PluginError(
            f"evaluators.enabled contains {', '.join(taken)}, which is built in and always runs; remove it"
        )
    return find_plugins(EVALUATORS, names, BUILTIN)


def open_evaluators(settings: Settings, builtin: Iterable[str] = BUILTIN) -> list[AnyEvaluator]:
    """Open evaluators in the order of their reports: built-in ones first.

    Args:
        settings: thresholds, and the names of the enabled plug-ins.
        builtin: names of the built-in evaluators to open.

    Raises:
        PluginError: a plug-in is unknown, ambiguous or broken.
        VerifierUnusable: the settings name a verifier that cannot be used.
    """
    wanted = set(builtin)
    own = find_plugins(EVALUATORS, [name for name in BUILTIN if name in wanted], BUILTIN)
    return [open_evaluator(plugin, settings) for plugin in (*own, *evaluator_plugins(settings))]


def open_evaluator(plugin: Plugin, settings: Settings) -> AnyEvaluator:
    """Import an evaluator, or create it if its entry point is a function of the settings.

    Raises:
        PluginError: it is broken, its name differs from its entry point, or its models do not extend those of plug-ins.
    """
    found = plugin.load(object)
    own = plugin.distribution == OWN_DISTRIBUTION
    if isinstance(found, EvaluatorFactory) and not isinstance(found, Evaluator):
        try:
            found = found(settings)
        except Exception as error:
            if own:
                raise
            raise PluginError(f"{_named(plugin)} cannot be created: {type(error).__name__}: {error}") from error
    if not isinstance(found, Evaluator):
        raise PluginError(f"{_named(plugin)} returned {type(found).__name__}; it must return an Evaluator")
    if found.name != plugin.name:
        raise PluginError(f"{_named(plugin)} has the name {found.name!r}; use the name of its entry point")
    if not own and not (issubclass(found.findings, EvaluationFindings) and found.report is EvaluationReport):
        raise PluginError(
            f"{_named(plugin)} must have findings that extend EvaluationFindings and a report that "
            "extends EvaluationReport"
        )
    return found


def _named(plugin: Plugin) -> str:
    return f"the evaluator {plugin.name} of {plugin.distribution} {plugin.version} ({plugin.target})"
