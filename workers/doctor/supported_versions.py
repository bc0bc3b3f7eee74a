"""Compare versions of servers with the oldest versions that are tested (docs/operations/doctor.md)."""

import re

from workers.doctor.findings import Finding, ok, warning

OLDEST = {"ClickHouse": (25, 8), "Redis": (7, 2)}
"""Oldest version that is tested, by server. Valkey names the version of Redis whose commands it has."""

FETCH_OF_KAFKA_3_9 = 17
"""Newest version of the request to fetch in Kafka 3.9, the oldest version that is tested. Brokers do not tell their version."""

FETCH = 1
INIT_PRODUCER_ID = 22
"""Keys of requests in Kafka's protocol."""


def compare(check: str, server: str, version: str, shown: str | None = None) -> Finding:
    """Compare a server's version with the oldest one that is tested.

    Args:
        check: name of the check.
        server: name of the server in ``OLDEST``.
        version: its version.
        shown: text that names server and version, where it is another one.
    """
    named = shown or f"{server} {version}"
    oldest = OLDEST[server]
    found = tuple(int(part) for part in re.findall(r"\d+", version)[: len(oldest)])
    if found >= oldest:
        return ok(check, named)
    tested = ".".join(map(str, oldest))
    return warning(check, f"{named} is older than {tested}, the oldest version that is tested", "upgrade the server")
