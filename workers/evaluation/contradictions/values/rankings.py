"""Tell rankings from bounds and adverbs, and find the negation that belongs to a ranking."""

import re

from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.prefilter import PrefilteredPattern

_COMPARED = r"[^\W\d_]+er|more|less|worse"
_FIGURE = (
    rf"(?:[^\s\w]|[A-Z]{{2,3}}\s)?\d|(?:{'|'.join(NUMBER_WORDS)})\b"
    r"|(?:an?|half an?)\s(?:hundred|thousand|million|dozen|second|minute|hour|day|week|month|year|third|quarter|half)\b"
)
_NO_RANKING = PrefilteredPattern(
    r"\b(?:at|by) (?:the )?(?:very )?(?:least|most|latest|earliest|longest|shortest)\b"
    rf"|\b(?:no |not |any )?(?:{_COMPARED}) than (?:about |around |roughly |approximately )?(?:{_FIGURE})"
    r"|\b(?:no|any) (?:longer|more)\b(?! than)|\bmost of\b|\bmore or less\b|\bonce more\b"
    r"|(?<!\bthe )(?<!\bthan )\b(?:later|earlier)\s+(?=(?:[^\W\d_]{3,}ed|built|sold|bought|rebuilt|made|became|become|moved|taken|given|found|held|won|lost|led|went|gone|known|shown|written|sent|put|set|began|begun)\b)"
    r"|^\W*(?:later|earlier)\b(?! than)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[;:.]\s|,?\s(?:and|but|while|whereas|although|though|because|so)\s|,\s(?=which\b|who\b|not\b)", re.IGNORECASE
)
_ASIDE = re.compile(r",\s(?:and |but )?not\s[^,;.]*,|\bnot (?:only|just|merely)\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|never|neither|nor|cannot)\b|n['’]t\b", re.IGNORECASE)
_DENIED_ORDER = re.compile(
    r"(?:(?:\b(?:not|never|cannot)|n['’]t)\s(?:[^\W\d_]+\s){0,4}?|\bno\s)(?:[^\W\d_]+er|more|less)\s(?:[^\W\d_]+\s){0,2}?than\s(?!\W?\d)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


def without_bounds(claim: str) -> str:
    """Return a claim without words that look like rankings and are bounds or adverbs: "at least", "more than 20"."""
    return _NO_RANKING.sub(" ", claim)


def is_negated(claim: str, word: str) -> bool:
    """Return true if the clause of a ranking word denies it: "is not older", and not "is older and has not been sold".

    Args:
        claim: plain text of the claim.
        word: the ranking word, in lower case.
    """
    for clause in _CLAUSE.split(_ASIDE.sub(" ", claim)):
        for match in _WORD.finditer(clause):
            if match[0].lower() == word:
                return bool(_NEGATED.search(clause[: match.start()]))
    return False


def denies_order(claim: str, evidence: str) -> bool:
    """Return true if a claim denies an order of which the evidence says nothing: "does not cost more than plan B".

    Its figures decide then, and not that the evidence affirms the verb.
    """
    return bool(_DENIED_ORDER.search(claim)) and " than " not in evidence
