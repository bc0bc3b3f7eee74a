"""Whether two reviewers who decide independently decide alike: Cohen's kappa."""

from collections import Counter
from collections.abc import Hashable, Sequence


def cohens_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Agreement beyond chance (Cohen 1960).

    Args:
        pairs: first and second decision on each item.

    Returns:
        1 for full agreement, 0 for what chance would give, negative for less; ``None`` without
        pairs, and where only one decision ever occurs, so that chance explains everything.
    """
    if not pairs:
        return None
    count = len(pairs)
    observed = sum(first == second for first, second in pairs) / count
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    expected = sum(number * seconds[decision] for decision, number in firsts.items()) / count**2
    return None if expected == 1 else (observed - expected) / (1 - expected)
