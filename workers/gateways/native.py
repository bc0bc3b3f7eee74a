"""Read Touchstone's own format: a ``GeneratedAnswer`` with optional identifier and time."""

from typing import Any

from pydantic import ValidationError

from schemas.answers import GeneratedAnswer
from workers.gateways.adapted import Adapted, Received, digest_identifier
from workers.gateways.errors import UnadaptableRecord
from workers.gateways.reading.lenient_reading import an_object

NAME = "touchstone"
SHOWN = 5


def adapt(record: Any, received: Received) -> list[Adapted]:
    """Return the answer of a record.

    A missing ``answer_id`` is set from the envelope or the content's digest, a missing ``completed_at`` from the time
    of arrival. A time of 0 is missing: it is the value of an unset field.

    Args:
        record: fields of ``GeneratedAnswer``.
        received: metadata of the record.

    Raises:
        UnadaptableRecord: the record is not a valid answer; the message names the fields.
    """
    fields = {name: value for name, value in an_object(record, "the record").items() if value is not None}
    if received.tenant is not None:
        fields["tenant"] = received.tenant
    if received.traceparent is not None and not fields.get("trace"):
        fields["trace"] = {"traceparent": received.traceparent}
    fields.setdefault("answer_id", received.identifier or digest_identifier(record, received.tenant))
    if fields.get("completed_at") in (None, 0, "0"):
        fields["completed_at"] = received.at
    try:
        return [Adapted(GeneratedAnswer.model_validate(fields))]
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)[:SHOWN]
        problems = "; ".join(
            f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg'][:200]}" for detail in details
        )
        field = ".".join(str(part) for part in details[0]["loc"]) if details else None
        raise UnadaptableRecord(f"not a GeneratedAnswer: {problems}", field or None) from None
