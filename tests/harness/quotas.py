"""Set quotas of Apache Kafka for clients. aiokafka can only read them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Float64, Int16, Int32, Schema, String

_ENTITY = Array(("entity_type", String("utf-8")), ("entity_name", String("utf-8")))


class _AlterClientQuotasResponse(Response):
    API_KEY = 49
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("entries", Array(("error_code", Int16), ("error_message", String("utf-8")), ("entity", _ENTITY))),
    )


class _AlterClientQuotasRequestV0(RequestStruct):
    API_KEY = 49
    API_VERSION = 0
    RESPONSE_TYPE = _AlterClientQuotasResponse
    SCHEMA = Schema(
        (
            "entries",
            Array(
                ("entity", _ENTITY),
                ("ops", Array(("key", String("utf-8")), ("value", Float64), ("remove", Boolean))),
            ),
        ),
        ("validate_only", Boolean),
    )


class _AlterClientQuotasRequest(Request[_AlterClientQuotasRequestV0]):
    API_KEY = 49

    def __init__(self, entity: tuple[str, str], values: Mapping[str, float], *, remove: bool) -> None:
        operations = [(name, value, remove) for name, value in values.items()]
        self._entries = [([entity], operations)]

    def build(self, request_struct_class: type[_AlterClientQuotasRequestV0]) -> _AlterClientQuotasRequestV0:
        return request_struct_class(self._entries, False)


@asynccontextmanager
async def quota(bootstrap_servers: str, name: str, kind: str = "client-id", **values: float) -> AsyncIterator[None]:
    """Hold a client or a user to rates as long as the block lasts.

    Args:
        bootstrap_servers: of the cluster.
        name: identifier of the client, or name of the user.
        kind: ``client-id`` or ``user``.
        values: quotas as Kafka names them, such as ``producer_byte_rate``.
    """
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
    await admin.start()
    try:
        await _alter(admin, (kind, name), values, remove=False)
        yield
    finally:
        await _alter(admin, (kind, name), values, remove=True)
        await admin.close()


async def _alter(
    admin: AIOKafkaAdminClient, entity: tuple[str, str], values: Mapping[str, float], *, remove: bool
) -> None:
    response = await admin._send_to_controller(_AlterClientQuotasRequest(entity, values, remove=remove))
    [(code, message, _)] = response.entries
    assert code == 0, message
