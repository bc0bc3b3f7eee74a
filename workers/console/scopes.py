"""What an access token may do."""

from enum import StrEnum


class Scope(StrEnum):
    """One right; a token has those that it lists, none implies another."""

    INGEST = "ingest"
    """Send answers."""
    FEEDBACK = "feedback"
    """Send feedback and votes."""
    READ = "read"
    """Read answers, citations, memory and figures."""
    REVIEW = "review"
    """See the review queue and decide."""
    ADMIN = "admin"
    """Read the audit of citations and of who looked at what."""
