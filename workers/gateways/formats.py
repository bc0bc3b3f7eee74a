"""Every format there is, by its name: what reads its bytes and what makes answers of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workers.gateways import langfuse, litellm, native, otlp, pairs
from workers.gateways.adapted import Adapted, Received
from workers.gateways.mapped import Mapped, adapter
from workers.gateways.reading import parsed

Adapter = Callable[[Any, Received], list[Adapted]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of foreign records.

    Attributes:
        name: as settings and addresses have it.
        title: for people.
        adapt: the pure function from a record to answers.
        decode: from bytes to the record.
        in_part: whether a record holds calls that have nothing to do with each other, so that one that cannot be
            taken costs no other.
    """

    name: str
    title: str
    adapt: Adapter
    decode: Callable[[bytes | None], Any] = parsed
    in_part: bool = False

    def answers(self, value: bytes | None, received: Received) -> list[Adapted]:
        """The answers of a value.

        Raises:
            NothingToJudge: it holds none.
            UnadaptableRecord: it is not of this format.
        """
        return self.adapt(self.decode(value), received)


FORMATS: Mapping[str, Format] = {
    each.name: each
    for each in (
        Format(native.NAME, "Touchstone's own GeneratedAnswer", native.adapt),
        Format(litellm.NAME, "LiteLLM StandardLoggingPayload", litellm.adapt),
        Format(otlp.NAME, "OpenTelemetry spans (OTLP), OpenInference", otlp.adapt, otlp.decoded, in_part=True),
        Format("otlp-logs", "OpenTelemetry events (OTLP log records)", otlp.adapt, otlp.decoded_logs, in_part=True),
        Format("openai", "OpenAI request and response", pairs.openai),
        Format("anthropic", "Anthropic request and response", pairs.anthropic),
        Format("google", "Google generateContent request and response", pairs.google),
        Format(langfuse.NAME, "Langfuse trace export", langfuse.adapt),
    )
}
"""The formats that are built in."""


def format_named(name: str, mappings: Mapping[str, Mapped] | None = None) -> Format:
    """A format by its name: built in, or by a mapping.

    Raises:
        KeyError: naming those there are.
    """
    mappings = mappings or {}
    if name in FORMATS:
        return FORMATS[name]
    if name not in mappings:
        raise KeyError(f"no format {name!r}; there are {', '.join((*FORMATS, *mappings))}")
    return Format(name, f"mapping {mappings[name].name}", adapter(mappings[name]))
