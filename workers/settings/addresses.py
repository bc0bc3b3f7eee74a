"""Find the addresses of the broker and the stores in the settings, else in local mode."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from workers.errors import TouchstoneError
from workers.local.state import ServiceAddresses, read_addresses
from workers.settings import Settings

Service = Literal["kafka", "redis", "clickhouse"]

VARIABLES: dict[Service, str] = {
    "kafka": "KAFKA_BOOTSTRAP_SERVERS",
    "redis": "REDIS_URL",
    "clickhouse": "CLICKHOUSE_URL",
}
"""Environment variable of each address."""

LOCAL_FETCH_WAIT_SECONDS = 0.1
"""Fetch wait for the embedded broker. This broker answers a waiting fetch only after about half of the wait: the
measured median delay is 373, 114 and 3 ms with 1.5, 0.5 and 0.1 s."""


class NotConfigured(TouchstoneError):
    """An address is neither configured nor known from local mode."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of all services that a worker connects to.

    Attributes:
        kafka: host:port, comma separated.
        redis: URL.
        clickhouse: URL.
        local: true if the services belong to local mode.
        light_broker: true if the broker of local mode is the light one. The light broker has no idempotent
            producer, and checks for new records only at intervals while a fetch waits.
    """

    kafka: str
    redis: str
    clickhouse: str
    local: bool
    light_broker: bool = True


def find_addresses(settings: Settings, needed: Iterable[Service] = ("kafka", "redis", "clickhouse")) -> Addresses:
    """Return addresses from the settings, completed by those of a running local mode.

    Args:
        settings: all settings.
        needed: services that the caller connects to; other addresses may be empty.

    Raises:
        NotConfigured: an address is missing; the message names it and both remedies.
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
            f"{', '.join(missing)} not set and no local services run in {settings.state_dir}; set "
            f"{('them' if len(missing) > 1 else 'it')}, or start `touchstone services` (or `touchstone up`)"
        )
    known = {service: address or "" for service, address in addresses.items()}
    local = settings.kafka_bootstrap_servers is None
    return Addresses(**known, local=local, light_broker=local and found is not None and found.light_broker)


def local_addresses(found: ServiceAddresses) -> Addresses:
    """Return the addresses of services that this process has started."""
    return Addresses(
        found.kafka_bootstrap_servers or "",
        found.redis_url or "",
        found.clickhouse_url or "",
        local=True,
        light_broker=found.light_broker,
    )


def apply_local_defaults(settings: Settings, addresses: Addresses) -> Settings:
    """Return the settings with the changes that the light broker needs."""
    if not (addresses.local and addresses.light_broker):
        return settings
    kafka = settings.kafka.model_copy(
        update={"idempotent_producer": False, "fetch_wait_seconds": LOCAL_FETCH_WAIT_SECONDS}
    )
    return settings.model_copy(update={"kafka": kafka})
