"""Define the stores that can be rebuilt, by their names on the command line."""

from enum import StrEnum


class Store(StrEnum):
    """Stores that can be rebuilt."""

    CLICKHOUSE = "clickhouse"
    MEMORY = "memory"
    QUEUE = "queue"
    REWARDS = "rewards"
    POSTERIORS = "posteriors"
