"""Tell what a short answer adds to the yes, no or value that the evidence confirms, and claims that state nothing."""

import re
from collections.abc import Sequence

from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.claims.short_answers import says_only_polarity, without_opening
from workers.evaluation.clauses.ranked_subjects import ORDER_WORDS
from workers.evaluation.contradictions.antonyms import POLES
from workers.evaluation.facts.evidence_facts import missing_details
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.grounding.claim_features import NUMERIC, EvidenceIndex, content_sequence
from workers.evaluation.grounding.sources.evidence import EvidenceUnit
from workers.evaluation.text.languages.local_words import content_words
from workers.evaluation.text.words import stem, word_set

AGREEING = frozenset(
    map(
        stem,
        word_set(
            "correct right true exact absolute certain definite indeed sure course case so cannot never nobody stay stays remain remains"
        ),
    )
)
"""Words that only repeat a yes or no."""
_TURN = re.compile(r"\W*(?:but|however|except|although|though)\b", re.IGNORECASE)
"""The opening of another statement: "No, but you must empty the tank first."."""
_WORD = re.compile(r"\w+")


def adds_nothing(
    claim: ExtractedClaim, units: Sequence[EvidenceUnit], index: EvidenceIndex, top: Sequence[int]
) -> bool:
    """Return true if the evidence and the question have all that a short answer says behind its yes or no."""
    rest = without_opening(claim.reply or claim.plain)
    if says_only_polarity(rest):
        return True
    if _TURN.match(rest):
        return False
    details = read_details(rest)
    missing = missing_details(details, index.known, [read_details(units[place].text) for place in top])
    if missing.figures or missing.dates or missing.names:
        return False
    told = _WORD.findall(" ".join((claim.asked, *(units[place].text for place in top))).lower())
    known = content_words(claim.asked, claim.language).union(map(verb_stem, told), AGREEING, ORDER_WORDS)
    known |= {word.removesuffix("d") for word in told if word.endswith("ed")}
    own = {stem(word): word for word in _WORD.findall(rest.lower())}
    return all(
        word in known
        or index.has(word)
        or word in POLES
        or word in NUMERIC
        or verb_stem(own.get(word, word)) in known
        or any(character.isdigit() for character in word)
        for word in content_words(rest, claim.language)
    )


def is_of_small_words(claim: ExtractedClaim, texts: Sequence[str]) -> bool:
    """Return true for a claim without content words that the nearest evidence does not have: "Both.", "It will be that"."""
    if not claim.plain.isascii() or says_only_polarity(claim.plain) or content_sequence(claim.plain, claim.language):
        return False
    words = frozenset(_WORD.findall(claim.plain.lower()))
    return not any(words <= frozenset(_WORD.findall(text.lower())) for text in texts)
