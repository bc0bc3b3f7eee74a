"""Words and signs for verdicts on claims, which are estimates."""

from collections.abc import Mapping

CLEAR_SUPPORT = 0.8
"""Least support of a claim that is shown as clearly supported; the cutoff of the verdict lies below."""

VERDICTS = {
    "supported": ("✓", "supported"),
    "supported weak": ("(✓)", "weakly supported"),
    "contradicted": ("✗", "contradicted"),
    "unsupported": ("?", "unsupported"),
    "said_before": ("↩", "said before, not in the sources"),
    "not_checked": ("–", "not checked"),
}
"""Sign and label of each verdict by its classes, because some readers cannot distinguish the colours."""

DOUBTED = ("contradicted", "unsupported", "said_before", "not_checked", "supported weak")
"""Verdicts of claims in doubt by their classes, the most doubtful first: all but clear support."""

ESTIMATE = "Verdicts are estimates by rules and a small model, and can be wrong: read the evidence."
"""Sentence that stands once beside the verdicts of a page."""

MEANINGS: Mapping[str, str] = {
    "supported": f"The evidence says what the claim says. From {CLEAR_SUPPORT:.2f} of 1 on, support counts as clear.",
    "supported weak": f"The evidence seems to say what the claim says, but not clearly: support is below {CLEAR_SUPPORT:.2f} of 1.",
    "contradicted": "The evidence says something else than the claim.",
    "unsupported": "No source says it; it can still be true.",
    "said_before": "An earlier turn of the conversation says it, and no source does.",
    "not_checked": "The claim was not compared with the sources.",
}  # fmt: skip
"""Explanation of each verdict by its classes."""

OWN_VERDICTS = (
    ("supported", "supported"), ("contradicted", "contradicted"), ("unsupported", "unsupported"), ("cannot_tell", "can't tell"),
)  # fmt: skip
"""Verdicts of a reviewer on a claim, in the order of their keys, with their words."""


def shade_of(verdict: str, score: float | None) -> str:
    """Return the CSS classes of a verdict, which are its key in ``VERDICTS``.

    Args:
        verdict: verdict of the evaluation.
        score: support of the claim, 0..1; ``None`` if it is unknown.
    """
    weak = verdict == "supported" and score is not None and score < CLEAR_SUPPORT
    return f"{verdict} weak" if weak else verdict


def score_words(verdict: str, score: float | None) -> str:
    """Return how sure a verdict is, in words: the support of its claim; empty if it is unknown."""
    if score is None:
        return ""
    return f"{score:.2f} of 1" if verdict == "supported" else f"support {score:.2f} of 1"
