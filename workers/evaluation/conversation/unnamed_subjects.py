"""Read the first claim of an answer with the resolved query if it does not name what was asked about.

"The range is 310 km." after "No, I meant the Corva 5." is about the Corva 5.
"""

from collections.abc import Sequence
from dataclasses import replace

from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.claims.clauses import has_verb
from workers.evaluation.conversation.resolution import Resolution
from workers.evaluation.text.languages.local_words import content_words


def with_question(claims: Sequence[ExtractedClaim], resolution: Resolution | None) -> tuple[ExtractedClaim, ...]:
    """Return the claims, the first that is checked with its question if it names nothing that the query resolves to."""
    if resolution is None or resolution.status != "resolved":
        return tuple(claims)
    place = next((place for place, claim in enumerate(claims) if claim.needs_grounding), None)
    if place is None:
        return tuple(claims)
    first = claims[place]
    named = " ".join((resolution.adds, *(mention for _, mention in resolution.topics)))
    told = content_words(named, first.language)
    if not first.asked or first.question or not has_verb(first.plain):
        return tuple(claims)  # a fragment is read with its question anyway
    if not told or told & content_words(first.plain, first.language):
        return tuple(claims)
    return (*claims[:place], replace(first, question=first.asked), *claims[place + 1 :])
