"""Build the input of a verifier: a window of evidence and the text of the claim.

A verifier is a cross-encoder: it reads evidence and claim together. Its cost grows with both, so it cannot read a whole
context for each claim. It reads a window: the units nearest to the claim by their words, in their original order. Training builds its windows with the same code.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workers.evaluation.budget import spend
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.sources.evidence import EvidenceUnit, Matrix, single_units
from workers.evaluation.text.words import content_words

WINDOW = 500
"""Maximum length of the evidence of a pair, code points: about 120 word pieces of prose, 170 of a record."""
WINDOW_UNITS = 8
"""Maximum number of units of a window."""
CLAIM = 300
"""Maximum length of the claim of a pair with its antecedent, code points; of a longer one the end is kept."""

_SENTENCE_END = re.compile(r"[.!?:;,。！？][\"'”’»)]*\s*$")


@dataclass(frozen=True, slots=True)
class VerifierPair:
    """Describe the input of a verifier for one claim.

    Attributes:
        evidence: the window, at most ``WINDOW`` code points; empty where there is no evidence.
        claim: the claim after its antecedent.
    """

    evidence: str
    claim: str


def verifier_pairs(
    claims: Sequence[ExtractedClaim], units: Sequence[EvidenceUnit], similarity: Matrix, leaning: Matrix
) -> list[VerifierPair]:
    """Return a verifier pair for each claim.

    Args:
        claims: n claims that need grounding.
        units: m units of evidence.
        similarity: cosines of the words of claims and units, shape [n, m].
        leaning: the same for claims after their antecedents, shape [n, m].
    """
    texts = [claim_text(claim.plain, claim.antecedent) for claim in claims]
    if not claims or not units:
        return [VerifierPair("", text) for text in texts]
    close = np.maximum(similarity, leaning)
    single = single_units(units)
    pieces = [units[index] for index in single]
    return [
        VerifierPair(window(pieces, content_words(text), row), text)
        for text, row in zip(texts, close[:, single], strict=True)
    ]


def claim_text(plain: str, antecedent: str = "") -> str:
    """Return the text of a claim for the verifier, after its antecedent."""
    return f"{antecedent} {plain}".strip()[-CLAIM:]


def window(units: Sequence[EvidenceUnit], words: frozenset[str], close: Matrix) -> str:
    """Join the most informative units for a claim, in their original order.

    Units are chosen one after the other. The next unit has the most words of the claim that earlier units lack,
    and among equals the highest cosine. A claim over several fields of a record thus finds each field.

    Args:
        units: m units of evidence that do not contain each other.
        words: stems of the claim's content words.
        close: cosine of the words of the claim and each unit, shape (m,).
    """
    chosen = sorted(_chosen(units, words, close))
    lines: list[str] = []
    for place, index in enumerate(chosen):
        text = units[index].text
        if place and units[chosen[place - 1]].number == units[index].number:
            lines.append(" " if _SENTENCE_END.search(lines[-1]) else "; ")
        elif place:
            lines.append("\n")
        lines.append(text)
    return "".join(lines)[:WINDOW]


def _chosen(units: Sequence[EvidenceUnit], words: frozenset[str], close: Matrix) -> Iterator[int]:
    spend(len(units))
    weights = _weights(units, words)
    left = dict(weights)
    total = sum(weights.values()) or 1.0
    open_units = set(range(len(units)))
    texts: set[str] = set()
    length = 0
    while open_units and len(texts) < WINDOW_UNITS:
        best = max(
            open_units,
            key=lambda index: (
                float(close[index]) + sum(left.get(word, 0.0) for word in units[index].words) / total,
                -index,
            ),
        )
        unit = units[best]
        yield best
        texts.add(unit.text)
        length += len(unit.text) + 1
        for word in unit.words:
            left.pop(word, None)
        # Only units that still fit are weighed again: with a window nearly full, thousands would be weighed one by one.
        open_units = {
            index
            for index in open_units
            if length + len(units[index].text) <= WINDOW and units[index].text not in texts
        }


def _weights(units: Sequence[EvidenceUnit], words: frozenset[str]) -> dict[str, float]:
    """Return the weight of each of the claim's words that the evidence contains; rare words weigh more."""
    owners = Counter(word for unit in units for word in unit.words & words)
    return {word: math.log1p(len(units) / count) for word, count in owners.items()}
