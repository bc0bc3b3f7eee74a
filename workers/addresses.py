"""Where the broker and the stores are: from settings, else from local mode."""

from dataclasses import dataclass

from workers.delivery.errors import TouchstoneError
from workers.local.state import read_addresses
from workers.settings import Settings


class NotConfigured(TouchstoneError):
    """No address is known."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of everything that a worker talks to.

    Attributes:
        kafka: host:port, comma separated.
        redis: URL.
        clickhouse: URL.
        local: whether the broker is the one of local mode, which knows no idempotent producer.
    """

    kafka: str
    redis: str
    clickhouse: str
    local: bool


def find_addresses(settings: Settings) -> Addresses:
    """Addresses from the settings, completed by those of a running local mode.

    Raises:
        NotConfigured: naming what is missing and both remedies.
    """
    found = read_addresses(settings.state_dir)
    kafka = settings.kafka_bootstrap_servers or (found.kafka_bootstrap_servers if found else None)
    redis = settings.redis_url or (found.redis_url if found else None)
    clickhouse = settings.clickhouse_url or (found.clickhouse_url if found else None)
    values = {"KAFKA_BOOTSTRAP_SERVERS": kafka, "REDIS_URL": redis, "CLICKHOUSE_URL": clickhouse}
    missing = [name for name, value in values.items() if not value]
    if not kafka or not redis or not clickhouse:
        raise NotConfigured(
            f"{', '.join(missing)} not set and no local services run under {settings.state_dir}; "
            "set them, or start `touchstone services` (or `touchstone up`)"
        )
    return Addresses(kafka, redis, clickhouse, local=settings.kafka_bootstrap_servers is None)


def adapted(settings: Settings, addresses: Addresses) -> Settings:
    """The settings, without the idempotent producer where the embedded broker lacks it."""
    if not addresses.local:
        return settings
    kafka = settings.kafka.model_copy(update={"idempotent_producer": False})
    return settings.model_copy(update={"kafka": kafka})


def find_kafka(settings: Settings) -> str:
    """The broker alone, for commands that need nothing else.

    Raises:
        NotConfigured: with both remedies.
    """
    if settings.kafka_bootstrap_servers:
        return settings.kafka_bootstrap_servers
    found = read_addresses(settings.state_dir)
    if found is None or not found.kafka_bootstrap_servers:
        raise NotConfigured(
            f"KAFKA_BOOTSTRAP_SERVERS is not set and no local broker runs under {settings.state_dir}; "
            "set it, or start `touchstone services`"
        )
    return found.kafka_bootstrap_servers
