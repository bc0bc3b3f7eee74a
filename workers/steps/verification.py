"""What a verifier is asked about a claim: the evidence that it is held against, and its text.

A verifier is a cross-encoder: it reads evidence and claim together, so its cost grows with both, and it cannot
read a whole context for each claim. It reads a window: the units that come nearest to the claim, by meaning and by
words, in the order in which they stand. Training chooses and renders windows with this very code.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workers.steps.claims import ExtractedClaim
from workers.steps.evidence import EvidenceUnit, Matrix, single_units
from workers.steps.words import content_words

WINDOW = 500
"""Longest evidence of a pair, code points: some 120 word pieces of prose, 170 of a record."""
WINDOW_UNITS = 8
"""Most units of a window."""
CLAIM = 300
"""Longest claim of a pair, code points, with what it leans on; of a longer one the end is kept."""

_SENTENCE_END = re.compile(r"[.!?:;,。！？][\"'”’»)]*\s*$")


@dataclass(frozen=True, slots=True)
class VerifierPair:
    """What a verifier reads.

    Attributes:
        evidence: the window, at most ``WINDOW`` code points; empty where there is no evidence.
        claim: the claim, after the statement that it leans on.
    """

    evidence: str
    claim: str


def verifier_pairs(
    claims: Sequence[ExtractedClaim], units: Sequence[EvidenceUnit], similarity: Matrix, leaning: Matrix
) -> list[VerifierPair]:
    """A pair for each claim.

    Args:
        claims: n claims that need grounding.
        units: m units of evidence.
        similarity: cosines of claims and units, shape [n, m]; ``UNCOMPARED`` where a unit does not come into question.
        leaning: the same for claims read after what they lean on, shape [n, m].
    """
    texts = [claim_text(claim.plain, claim.leans_on) for claim in claims]
    if not claims or not units:
        return [VerifierPair("", text) for text in texts]
    # A unit that was not compared may still have words that the nearest ones lack: it counts as one of no likeness.
    close = np.maximum(np.maximum(similarity, leaning), 0.0)
    single = single_units(units)
    pieces = [units[index] for index in single]
    return [
        VerifierPair(window(pieces, content_words(text), row), text)
        for text, row in zip(texts, close[:, single], strict=True)
    ]


def claim_text(plain: str, leans_on: str = "") -> str:
    """A claim as the verifier reads it."""
    return f"{leans_on} {plain}".strip()[-CLAIM:]


def window(units: Sequence[EvidenceUnit], words: frozenset[str], close: Matrix) -> str:
    """The units that tell most about a claim, in the order in which they stand.

    One is chosen after the other: the next is the one nearest in meaning that has most of the words which those
    before it lack, so that a claim over several fields of a record finds each of them.

    Args:
        units: m units of evidence that do not contain each other.
        words: stems of the claim's content words.
        close: cosine of the claim with each, shape (m,).
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
    weights = _weights(units, words)
    left = dict(weights)
    total = sum(weights.values()) or 1.0
    open_units = dict.fromkeys(range(len(units)))
    texts: set[str] = set()
    length = 0
    while open_units and len(texts) < WINDOW_UNITS:
        best = max(
            open_units,
            key=lambda index: float(close[index]) + sum(left.get(word, 0.0) for word in units[index].words) / total,
        )
        del open_units[best]
        unit = units[best]
        if unit.text in texts or (length and length + len(unit.text) > WINDOW):
            continue
        yield best
        texts.add(unit.text)
        length += len(unit.text) + 1
        for word in unit.words:
            left.pop(word, None)


def _weights(units: Sequence[EvidenceUnit], words: frozenset[str]) -> dict[str, float]:
    """Weight of each of the claim's words that the evidence has: rare ones tell more."""
    owners = Counter(word for unit in units for word in unit.words & words)
    return {word: math.log1p(len(units) / count) for word, count in owners.items()}
