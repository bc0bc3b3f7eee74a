"""Where the broker and the stores are: from settings, else from local mode."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from workers.delivery.errors import TouchstoneError
from workers.local.state import read_addresses
from workers.settings import Settings

Service = Literal["kafka", "redis", "clickhouse"]

VARIABLES: dict[Service, str] = {
    "kafka": "KAFKA_BOOTSTRAP_SERVERS",
    "redis": "REDIS_URL",
    "clickhouse": "CLICKHOUSE_URL",
}
"""The environment variable of each address."""

LOCAL_FETCH_WAIT_SECONDS = 0.1
"""For the embedded broker, which hands a new record to a read that waits already after about half of the wait
and not at once: measured 373, 114 and 3 ms at the median with 1.5, 0.5 and 0.1 s."""


class NotConfigured(TouchstoneError):
    """No address is known."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of everything that a worker talks to.

    Attributes:
        kafka: host:port, comma separated.
        redis: URL.
        clickhouse: URL.
        local: whether the broker is the one of local mode, which knows no idempotent producer and
            looks for new records only now and then while a read waits.
    """

    kafka: str
    redis: str
    clickhouse: str
    local: bool


def find_addresses(settings: Settings, needed: Iterable[Service] = ("kafka", "redis", "clickhouse")) -> Addresses:
    """Addresses from the settings, completed by those of a running local mode.

    Args:
        settings: all settings.
        needed: what the caller talks to; other addresses may be empty.

    Raises:
        NotConfigured: naming what is missing and both remedies.
    """
    found = read_addresses(settings.state_dir)
    addresses: dict[Service, str | None] = {
        "kafka": settings.kafka_bootstrap_servers or (found.kafka_bootstrap_servers if found else None),
        "redis": settings.redis_url or (found.redis_url if found else None),
        "clickhouse": settings.clickhouse_url or (found.clickhouse_url if found else None),
    }
    missing = [VARIABLES[service] for service in needed if not addresses[service]]
    if missing:
        raise NotConfigured(
            f"{', '.join(missing)} not set and no local services run under {settings.state_dir}; "
            f"set {'them' if len(missing) > 1 else 'it'}, or start `touchstone services` (or `touchstone up`)"
        )
    known = {service: address or "" for service, address in addresses.items()}
    return Addresses(**known, local=settings.kafka_bootstrap_servers is None)


def adapted(settings: Settings, addresses: Addresses) -> Settings:
    """The settings, with what the embedded broker needs to be otherwise."""
    if not addresses.local:
        return settings
    kafka = settings.kafka.model_copy(
        update={"idempotent_producer": False, "fetch_wait_seconds": LOCAL_FETCH_WAIT_SECONDS}
    )
    return settings.model_copy(update={"kafka": kafka})
