"""Define the findings of an examination."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Describe one fact about the deployment.

    Attributes:
        check: name of the check.
        status: ``failure`` if a worker or the console would not start or not do its work; ``warning`` if it would
            work with less.
        text: what was found.
        remedy: what to do; empty if nothing.
    """

    check: str
    status: Status
    text: str
    remedy: str = ""


def ok(check: str, text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(check, "ok", text)


def warning(check: str, text: str, remedy: str) -> Finding:
    """Return a finding that leaves a worker with less."""
    return Finding(check, "warning", text, remedy)


def failure(check: str, text: str, remedy: str) -> Finding:
    """Return a finding that keeps a worker from its work."""
    return Finding(check, "failure", text, remedy)


def of_message(check: str, message: str) -> Finding:
    """Return a failure of an error's message, which ends with a semicolon and the remedy."""
    text, _, remedy = message.partition("; ")
    return failure(check, text, remedy)


def as_json(findings: list[Finding]) -> dict[str, Any]:
    """Return the findings as a JSON value, with their number by status."""
    counts = {f"{status}s": sum(each.status == status for each in findings) for status in ("failure", "warning")}
    return {"healthy": counts["failures"] == 0, **counts, "checks": [asdict(each) for each in findings]}
