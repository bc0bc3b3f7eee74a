"""Compare what a claim offers today with what the evidence says has ended: "exports PDF" over "PDF export was removed"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_ENDED = (
    r"(?:removed|discontinued|withdrawn|abolished|dropped|retired|scrapped|phased out|axed|eliminated|terminated"
    r"|(?:closed|shut) (?:down|permanently|for good)|taken (?:off|out of) (?:the (?:menu|market|programme|range)|service))"
)
_GONE = r"(?:offered|available|supported|sold|accepted|included|possible|provided|made|served|produced|in (?:use|operation|service|production))"
_GIVES = r"(?:offer|sell|accept|support|provide|include|serve|take|make|produce|have|run|issue)(?:s|es)?"
_STOPS = r"(?:dropped|removed|discontinued|abolished|withdrew|scrapped|(?:has |have )?(?:ended|stopped)|stopped (?:offering|selling|accepting|supporting|making|serving|issuing))"
_ENDS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<thing>[^,;:]{{2,80}}?) (?:was|were|has been|have been) (?:\w+ly )?{_ENDED}\b(?! (?:from|in) (?:the|an?|its|their)\b)",
        rf"^(?P<thing>[^,;:]{{2,80}}?) (?:is|are) (?:no longer|not) {_GONE}(?P<later> any ?more| any longer)?\b",
        r"^(?P<thing>[^,;:]{2,80}?) (?:no longer exists?|(?:has |have )?ceased to exist|(?:has |have )?(?:ended|expired)|(?:has |have )?closed (?:down|permanently|for good))\b",
        rf"\b(?:no longer {_GIVES}|(?:do|does) not {_GIVES}(?= [^,;.]* any ?(?:more|longer)\b)) (?P<thing>[^,;.]{{2,80}})",
        rf"\b{_STOPS} (?:all )?(?P<thing>(?:support|the|its|their|our) [^,;.]{{2,80}}|[^,;.]{{2,40}}(?=\.?$))",
    )
)
_CUE = PrefilteredPattern(
    rf"\b(?:{_ENDED}|no longer|any ?more|any longer|ceased|ended|expired|withdrew|stopped|closed)\b", re.IGNORECASE
)
"""Words without which no sentence says that something has ended."""
_BACK = re.compile(
    r"\b(?:again|back|returned|restored|reintroduced|reinstated|reopened|resumed|revived|until|temporarily|"
    r"replaced)\b",
    re.IGNORECASE,
)
"""Words of what ended for a time, or later, or has a successor."""
_OFFERS = re.compile(
    r"\b(?:can|may|(?:is|are) able to|there (?:is|are|['’]s)|has|have|(?:offer|include|provide|support|accept|take|sell|serve|export|import"
    r"|read|write|feature|contain|run|operate|use|make|produce|issue|print|come)s?)\b",
    re.IGNORECASE,
)
"""Verbs with which a claim offers what stands behind them."""
_STATES = re.compile(
    r"\b(?:is|are|remains?)(?: still| also| currently)? (?:offered|available|supported|included|possible|accepted|open|sold|served|provided|running|in (?:use|operation|service))\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|been|until|before|former(?:ly)?|previous(?:ly)?|once|originally|earlier|old(?:er)?|used to|ago|version)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_NAMED_ABOVE = word_set("it they this that these those he she we you one")
_GENERAL = frozenset(
    map(verb_stem, word_set("support payment sale option possibility service feature use function access our its"))
)
"""Nouns that say of a thing only that it was offered."""


def is_offer_current(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim offers what the evidence says has been removed, and nothing says that it is back.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` if nothing that the claim offers has ended.
    """
    claim = claim[:MAX_TEXT]
    if not any(map(_CUE.search, sentences)) or DENIED.search(claim) or _PAST.search(claim) or _CUE.search(claim):
        return None
    offer, state = _OFFERS.search(claim), _STATES.search(claim)
    offered = _words(claim[offer.start() :]) if offer else frozenset[str]()
    if state:
        offered |= _words(claim[: state.start()])
    own = _words(claim)
    for sentence in sentences if offered else ():
        for thing in _ended_things(sentence[:MAX_TEXT]):
            if (
                thing <= own
                and thing & offered
                and _figures(claim) <= _figures(sentence)
                and not any(_is_back(thing, other, sentence) for other in sentences)
            ):
                return False
    return None


def _ended_things(sentence: str) -> Iterator[frozenset[str]]:
    """Yield the words of each thing that a sentence says has ended."""
    if not _CUE.search(sentence) or _BACK.search(sentence):
        return
    for pattern in _ENDS:
        for match in pattern.finditer(sentence):
            thing = match["thing"]
            if thing.split()[0].lower() in _NAMED_ABOVE or DENIED.search(thing):
                continue
            words = _words(thing)
            # "Is not available" alone may hold for a day or for one case only.
            if match.groupdict().get("later") is None and " not " in match[0] and "no longer" not in match[0].lower():
                continue
            if rest := words - _GENERAL:
                yield rest


def _is_back(thing: frozenset[str], other: str, sentence: str) -> bool:
    """Return true if another sentence speaks of a thing as of one that exists."""
    return other != sentence and thing <= _words(other) and not (_CUE.search(other) and not _BACK.search(other))


def _words(text: str) -> frozenset[str]:
    """Return the stems of the content words, parts of compounds apart."""
    return frozenset(verb_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)


def _figures(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text) if any(map(str.isdigit, word)))
