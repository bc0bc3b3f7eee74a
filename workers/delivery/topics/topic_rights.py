"""Ask the broker for the operations that this user may do on topics.

aiokafka ends at version 5 of the request for metadata; brokers tell rights from version 8 on (KIP-430).
"""

from collections.abc import Sequence
from typing import Any

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Int16, Int32, Schema, String

OPERATIONS = {3: "Read", 4: "Write", 5: "Create", 6: "Delete", 7: "Alter", 8: "Describe", 10: "DescribeConfigs", 11: "AlterConfigs"}  # fmt: skip
"""Operations on topics by number, as Kafka's AclOperation numbers them."""

_UNTOLD = -(2**31)
"""Value of brokers that do not say which operations are allowed."""


class MetadataResponseV8(Response):
    """Answer with the rights to each topic."""

    API_KEY = 3
    API_VERSION = 8
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("brokers", Array(("node_id", Int32), ("host", String("utf-8")), ("port", Int32), ("rack", String("utf-8")))),
        ("cluster_id", String("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            Array(
                ("error_code", Int16),
                ("topic", String("utf-8")),
                ("is_internal", Boolean),
                (
                    "partitions",
                    Array(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", Array(Int32)),
                        ("isr", Array(Int32)),
                        ("offline_replicas", Array(Int32)),
                    ),
                ),
                ("operations", Int32),
            ),
        ),
        ("cluster_operations", Int32),
    )


class MetadataRequestV8(RequestStruct):
    """Ask for topics with the rights to each."""

    API_KEY = 3
    API_VERSION = 8
    RESPONSE_TYPE = MetadataResponseV8
    SCHEMA = Schema(
        ("topics", Array(String("utf-8"))),
        ("allow_auto_topic_creation", Boolean),
        ("include_cluster_operations", Boolean),
        ("include_topic_operations", Boolean),
    )


class TopicRightsRequest(Request[MetadataRequestV8]):
    """Ask for the rights to topics.

    Args:
        names: names of the topics at the broker.
    """

    API_KEY = 3

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)

    def build(self, request_struct_class: type[MetadataRequestV8]) -> MetadataRequestV8:
        """Return the request; it creates no topic."""
        return request_struct_class(self._names, False, False, True)


def granted_operations(response: Any) -> dict[str, frozenset[str]]:
    """Return the allowed operations by topic, for topics whose operations the broker tells."""
    return {
        entry["topic"]: frozenset(name for number, name in OPERATIONS.items() if entry["operations"] >> number & 1)
        for entry in response.to_object()["topics"]
        if entry["error_code"] == 0 and entry["operations"] != _UNTOLD
    }
