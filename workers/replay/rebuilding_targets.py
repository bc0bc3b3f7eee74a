"""The stores that can be rebuilt, by the names that they have on the command line."""

from enum import StrEnum


class Store(StrEnum):
    """What can be rebuilt."""

    CLICKHOUSE = "clickhouse"
    MEMORY = "memory"
    QUEUE = "queue"
    REWARDS = "rewards"
    POSTERIORS = "posteriors"
