"""What is wrong with a record that was written for something else."""

from workers.delivery.errors import PoisonError


class UnadaptableRecord(PoisonError):
    """A record of a gateway that is not of the format that was named; the text names the field and holds no value."""


class NothingToJudge(Exception):
    """A record of its format that holds no answer: an embedding call, a span of a database.

    Args:
        reason: one word, for the metric of skipped records.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
