"""What is added to or put in place of a risky answer (seeds 000 and 004)."""

from schemas.base import RiskLevel
from workers.steps.markdown import closed

DISCLAIMERS: dict[RiskLevel, str] = {
    "low": "",
    "medium": (
        "\n\n> **Note**: This response may contain information not fully verified against the source material."
        " Please verify critical details.\n"
    ),
    "high": (
        "\n\n> **Warning**: This response has high hallucination risk. Consider rephrasing your query or requesting"
        " more specific information.\n"
    ),
}
"""The disclaimers of seed 000, verbatim."""

FALLBACK_TEXT = (
    "There is insufficient evidence in the available sources to answer this question reliably."
    " Please rephrase the question, or ask for the sources to be extended."
)
"""Shown in place of an answer whose grounding is below the minimum (seed 004)."""


def mitigate(text: str, risk: RiskLevel | None) -> str:
    """Add the disclaimer of a risk level to an answer.

    A code fence that the answer left open is closed first: inside it the disclaimer would
    read as code. What already ends in the disclaimer stays as it is.
    """
    disclaimer = DISCLAIMERS[risk] if risk else ""
    readable = closed(text)
    is_there = readable == text and text.rstrip().endswith(disclaimer.strip())
    return text if not disclaimer or is_there else readable + disclaimer
