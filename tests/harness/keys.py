"""Names in the keys of records."""

from typing import Any

from schemas.identifiers import named_by_key


def name_of(record: Any) -> str:
    """The answer or session that a record's key names, of whichever tenant."""
    return named_by_key((record.key or b"").decode())[1]
