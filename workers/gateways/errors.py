"""Define the errors of adapters for foreign records."""

from collections.abc import Mapping
from types import MappingProxyType

from workers.errors import PoisonError


class UnadaptableRecord(PoisonError):
    """Record that does not have the named format; the message names the field and contains no value.

    Args:
        message: what is wrong, and what to send.
        field: dotted name of the field in the record; ``None`` if the record as a whole is wrong.
    """

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class NothingToJudge(Exception):
    """Valid record without an answer to evaluate, such as an embedding call or a database span.

    Args:
        reason: one word, for the metric of skipped records.
        unread: number of spans of generative models that were not recognised, by reason.
    """

    def __init__(self, reason: str, unread: Mapping[str, int] = MappingProxyType({})) -> None:
        super().__init__(reason)
        self.reason = reason
        self.unread = unread
