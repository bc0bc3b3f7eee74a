"""The pipeline versions that ClickHouse has seen."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import ask

SEEN = """
SELECT version, any(parts), sum(answers), minOrNull(first), maxOrNull(last), maxOrNull(started)
FROM (
    SELECT version, parts, toUInt64(0) AS answers, NULL AS first, NULL AS last, toNullable(started_at) AS started
    FROM {database}.versions FINAL
    UNION ALL
    SELECT pipeline_version, NULL, count(), min(completed_at), max(completed_at), NULL
    FROM {database}.answers FINAL GROUP BY pipeline_version
)
GROUP BY version
ORDER BY maxOrNull(last) DESC NULLS LAST, maxOrNull(started) DESC, version
"""


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """A version, what it was made of, and what it has judged.

    Attributes:
        version: its name.
        parts: by name; ``None`` if no worker of it has told.
        answers: answers whose current row is its.
        first, last: when the earliest and the latest of them were complete.
        started_at: when a worker of it last started.
    """

    version: str
    parts: dict[str, str] | None
    answers: int
    first: datetime | None
    last: datetime | None
    started_at: datetime | None


class VersionStore:
    """Reads which versions were seen.

    Args:
        analytics: connected store.
        database: where the tables are.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._seen = SEEN.format(database=database)

    async def seen(self) -> list[SeenVersion]:
        """All versions, the one with the latest answer first.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        return [
            SeenVersion(version, None if parts is None else _parts(parts), answers, first, last, started)
            for version, parts, answers, first, last, started in await ask(self._analytics, self._seen, {})
        ]


def _parts(text: str) -> dict[str, str]:
    content: dict[str, Any] = orjson.loads(text)
    return {name: str(value) for name, value in content.items()}
