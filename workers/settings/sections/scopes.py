"""Define the rights of an access token."""

from enum import StrEnum


class Scope(StrEnum):
    """Rights of access tokens; a token has the listed rights only, none implies another."""

    INGEST = "ingest"
    """Send answers."""
    FEEDBACK = "feedback"
    """Send feedback and votes."""
    READ = "read"
    """Read answers, citations, memory and figures."""
    REVIEW = "review"
    """See the review queue and decide."""
    ADMIN = "admin"
    """Read the audits of citations and of accesses."""
