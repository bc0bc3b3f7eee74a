"""Define the formats of foreign records: functions that read bytes and convert records to answers.

Every format is an entry point of the group ``touchstone.formats`` that names a :class:`Format`, also a built-in one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from traceback import extract_tb
from typing import Any, ParamSpec, TypeVar

from schemas.base import UnreadableEvent
from workers.errors import PoisonError
from workers.gateways.adapted import Adapted, Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.mapped import Mapped, adapter
from workers.gateways.reading.lenient_reading import parsed
from workers.process.plugins import FORMATS, OWN_DISTRIBUTION, Plugin, PluginError, UnknownPlugin, find_plugins

P = ParamSpec("P")
T = TypeVar("T")

Adapter = Callable[[Any, Received], list[Adapted]]


@dataclass(frozen=True, slots=True)
class Format:
    """Describe a format of foreign records.

    Attributes:
        name: name in settings and addresses.
        title: name for people.
        adapt: pure function that converts a record to answers.
        decode: function that reads a record from bytes.
        in_part: True if a record holds independent calls, so that one refused call does not affect the others.
        by_trace: True if a record is an export of spans, whose sources may arrive in another record.
    """

    name: str
    title: str
    adapt: Adapter
    decode: Callable[[bytes | None], Any] = parsed
    in_part: bool = False
    by_trace: bool = False

    def answers(self, value: bytes | None, received: Received) -> list[Adapted]:
        """Return the answers of a value.

        Raises:
            NothingToJudge: the value contains no answer.
            UnadaptableRecord: the value has another format.
        """
        return self.adapt(self.decode(value), received)


BUILTIN = {
    "touchstone": "workers.gateways.builtin_formats:TOUCHSTONE",
    "litellm": "workers.gateways.builtin_formats:LITELLM",
    "otlp": "workers.gateways.builtin_formats:OTLP",
    "otlp-logs": "workers.gateways.builtin_formats:OTLP_LOGS",
    "openai": "workers.gateways.builtin_formats:OPENAI",
    "anthropic": "workers.gateways.builtin_formats:ANTHROPIC",
    "google": "workers.gateways.builtin_formats:GOOGLE",
    "bedrock": "workers.gateways.builtin_formats:BEDROCK",
    "cohere": "workers.gateways.builtin_formats:COHERE",
    "langfuse": "workers.gateways.builtin_formats:LANGFUSE",
}
"""Targets of the entry points of the built-in formats by name."""


def format_named(name: str, mappings: Mapping[str, Mapped] | None = None) -> Format:
    """Return a format by its name: of a mapping, built in, or of a plug-in.

    Raises:
        UnknownPlugin: no format has this name; the message lists the existing formats.
        PluginError: the plug-in of this name is ambiguous or broken.
    """
    mappings = mappings or {}
    if name in mappings:
        return Format(name, f"mapping {mappings[name].name}", adapter(mappings[name]))
    try:
        return _open_format(name)
    except UnknownPlugin as unknown:
        raise UnknownPlugin(f"no format {name!r}: {unknown}; mappings: {', '.join(mappings) or 'none'}") from None


@cache
def _open_format(name: str) -> Format:
    (plugin,) = find_plugins(FORMATS, [name], BUILTIN)
    found = plugin.load(Format)
    if found.name != name:
        raise PluginError(
            f"the format of {plugin.distribution} is registered as {name} but declares the name {found.name!r}; give both "
            "the same name"
        )
    if plugin.distribution == OWN_DISTRIBUTION:
        return found
    return replace(found, decode=_guarded(found.decode, plugin), adapt=_guarded(found.adapt, plugin))


def _guarded(function: Callable[P, T], plugin: Plugin) -> Callable[P, T]:
    """Return the function of a plug-in, whose errors refuse the record alone."""

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except (PoisonError, UnreadableEvent, NothingToJudge):
            raise
        except Exception as error:
            # The place of the error without its text, which may quote the record.
            place = extract_tb(error.__traceback__)[-1]
            raise UnadaptableRecord(
                f"the format {plugin.name} of {plugin.distribution} {plugin.version} raised {type(error).__name__} in "
                f"{Path(place.filename).name}, line {place.lineno}"
            ) from error

    return call
