"""Read the pipeline versions that ClickHouse has seen."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from workers.stores.clickhouse.row_reading import Reading, ask

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
    """Pipeline version, its parts and its answers.

    Attributes:
        version: name of the version.
        parts: parts by name; ``None`` if no worker of this version has reported them.
        answers: number of answers whose current row has this version.
        first, last: completion times of the earliest and the latest of them.
        started_at: time at which a worker of this version last started.
    """

    version: str
    parts: dict[str, str] | None
    answers: int
    first: datetime | None
    last: datetime | None
    started_at: datetime | None


class VersionStore(Reading):
    """Store of the versions seen."""

    async def seen(self) -> list[SeenVersion]:
        """Return all versions, the one with the latest answer first.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        return [
            SeenVersion(version, None if parts is None else _parts(parts), answers, first, last, started)
            for version, parts, answers, first, last, started in await ask(
                self._analytics, SEEN.format(database=self._database), {}
            )
        ]


def _parts(text: str) -> dict[str, str]:
    content: dict[str, Any] = orjson.loads(text)
    return {name: str(value) for name, value in content.items()}
