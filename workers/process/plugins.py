"""Find plug-ins by name: entry points of installed distributions, and those that Touchstone declares itself.

Both are found by the same function. A plug-in is imported only when the settings name it, so that an installed
distribution runs no code unless it is enabled.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import TypeVar

from workers.errors import TouchstoneError

EVALUATORS = "touchstone.evaluators"
EXPORTERS = "touchstone.exporters"
FORMATS = "touchstone.formats"

OWN_DISTRIBUTION = "touchstone-worker"
"""Distribution that declares the built-in plug-ins."""

T = TypeVar("T")


class PluginError(TouchstoneError):
    """A plug-in that the settings name is missing, ambiguous or cannot be loaded."""


class UnknownPlugin(PluginError):
    """No installed distribution declares a plug-in of this name."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point.

    Attributes:
        name: name in the settings.
        group: group of the entry point, for example ``touchstone.evaluators``.
        target: ``module:attribute``.
        distribution: name of the distribution that declares it.
        version: version of that distribution.
    """

    name: str
    group: str
    target: str
    distribution: str
    version: str

    @property
    def module(self) -> str:
        """Return the name of the module that defines the plug-in."""
        return self.target.partition(":")[0].strip()

    def load(self, expected: type[T]) -> T:
        """Import the plug-in.

        Args:
            expected: class of the object that the entry point names.

        Raises:
            PluginError: the import failed, or the object is of another class.
        """
        try:
            found = EntryPoint(self.name, self.target, self.group).load()
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"the plug-in {self.name} ({self.group}) of {self.distribution} {self.version} cannot be imported from "
                f"{self.target}: {type(error).__name__}: {error}; repair or uninstall {self.distribution}"
            ) from error
        if not isinstance(found, expected):
            raise PluginError(
                f"the plug-in {self.name} ({self.group}) of {self.distribution} {self.version} is of class "
                f"{type(found).__name__} instead of {expected.__name__}; correct its entry point {self.target}"
            )
        return found


def installed_plugins(group: str, builtin: Mapping[str, str]) -> dict[str, list[Plugin]]:
    """List the plug-ins of a group without importing them.

    Args:
        group: group of the entry points.
        builtin: targets of the built-in plug-ins by name. They replace the installed metadata of Touchstone, which is
            older than the code in a checkout.

    Returns:
        The plug-ins by name, sorted; more than one for a name that several distributions declare.
    """
    found = {name: [Plugin(name, group, target, OWN_DISTRIBUTION, _own_version())] for name, target in builtin.items()}
    for point in sorted(entry_points(group=group), key=lambda each: (each.name, each.value)):
        distribution = point.dist.name if point.dist else "an unknown distribution"
        if distribution != OWN_DISTRIBUTION:
            number = point.dist.version if point.dist else "0"
            found.setdefault(point.name, []).append(Plugin(point.name, group, point.value, distribution, number))
    return found


def find_plugins(group: str, names: Iterable[str], builtin: Mapping[str, str]) -> list[Plugin]:
    """Return the plug-ins of those names, in their order, without importing them.

    Raises:
        UnknownPlugin: no distribution declares the name.
        PluginError: two distributions declare it.
    """
    installed = installed_plugins(group, builtin)
    chosen = []
    for name in dict.fromkeys(names):
        found = installed.get(name, [])
        if not found:
            known = ", ".join(installed) or "none"
            raise UnknownPlugin(
                f"no plug-in {name!r} in the group {group}; correct the name, or install its distribution into this "
                f"environment; installed: {known}"
            )
        if len(found) > 1:
            owners = " and ".join(f"{each.distribution} {each.version}" for each in found)
            remedy = f"uninstall {found[1].distribution}" if name in builtin else "uninstall all but one"
            raise PluginError(f"the plug-in {name!r} ({group}) is declared by {owners}; {remedy}")
        chosen.append(found[0])
    return chosen


def _own_version() -> str:
    try:
        return version(OWN_DISTRIBUTION)
    except PackageNotFoundError:
        return "0"
