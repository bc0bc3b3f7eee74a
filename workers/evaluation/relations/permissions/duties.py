"""Compare what must be done with what need not be done: "need not be announced" over "each must be announced".

The subject of a claim may be another than that of the evidence: who announces what must be announced.
"""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.needless import NEEDLESS, REQUIRED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.words import STOP_WORDS, stem, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
SHARED = 0.6
"""Share of the claim's other words that the sentence has."""
MIN_SHARED = 2
"""Fewest of them."""

_PASSIVE = re.compile(
    r"\b(?:must|shall|ha(?:s|ve) to|needs? to) be\b|\b(?:is|are) (?:\w+ly )?(?:required|needed|mandatory|compulsory|obligatory|necessary)\b(?! to\b)",
    re.IGNORECASE,
)
"""Duties without the one who has them."""
_SUFFERED = re.compile(r"\W*be\b", re.IGNORECASE)
"""The passive of what need not be done to the subject of a claim."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_EXEMPT = re.compile(
    r"\b(?:exempt\w*|excused|waived|except|unless|apart from|other than|only|voluntar\w+|free)\b", re.IGNORECASE
)
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|once|after|over|under|above|below|more than|less than|provided|where|for(?! (?:[\w-]+ ){1,2}(?:days?|weeks?|months?|years?|hours?)\b))\b(?P<clause>[^,;.]*)",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\b(?:no (?:further |other |special |additional )?(?:documents?|documentation|paperwork|papers?|proofs?|identification|id|formalities|requirements?|evidence)|nothing)\b",
    re.IGNORECASE,
)
"""Words of a claim that nothing has to be shown."""
_NORM = frozenset(
    map(
        stem,
        word_set(
            "need needs required require requires obliged obligation necessary needed mandatory compulsory obligatory optional voluntary unnecessary"
        ),
    )
)
_OBLIGED = re.compile(
    r"\b(?:must(?! (?:not|have|be)\b)|ha(?:ve|s) to(?! be\b)|(?:is|are) (?:required|obliged) to(?! be\b)|needs? to(?! be\b))\s(?P<act>[^,;.:]+)",
    re.IGNORECASE,
)
_FREE_TO = re.compile(
    r"\b(?:may|(?:is|are) (?:free|welcome) to)\s(?!not\b|only\b|be\b|have\b)(?P<act>[^,;.:]+)", re.IGNORECASE
)
_LIMITED = re.compile(
    r"\b(?:if|when|whenever|unless|by|until|before|after|within|at least|at most|only|provided|with|without|on|under|accompanied|through|via|per"
    r"|to (?!the\b|a\b|an\b|their\b|its\b)\w+)\b",
    re.IGNORECASE,
)
"""Words of an act that says in which case or way it is allowed, so that this case or way is required."""
_GENERAL_WORDS = frozenset(
    map(
        stem,
        word_set(
            "nothing document documents documentation paperwork papers paper proof proofs identification id formalities requirement requirements"
            " evidence further other special additional"
        ),
    )
)


def is_duty_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim says that something need not be done, and the evidence that it must be done.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim waives no duty, or if the evidence waives it for some or says nothing of it.
    """
    claim = claim[:MAX_TEXT]
    waived = NEEDLESS.search(claim)
    if not waived or _EXEMPT.search(NEEDLESS.sub(" ", claim)):
        return None
    is_general = bool(_GENERAL.search(claim))
    told_of = _NORM | _GENERAL_WORDS if is_general else _NORM
    own = _words(claim) - told_of
    if is_general and not own:
        own = _words(question) - told_of
    least = 1 if is_general else MIN_SHARED
    near = [text[:MAX_TEXT] for text in sentences if own & _words(text)]
    if any(NEEDLESS.search(text) or _EXEMPT.search(text) for text in near):
        return None
    subject, said = _words(claim[: waived.start()]) - _NORM, _words(claim[waived.end() :]) - _NORM
    for sentence in near:
        told = _words(sentence)
        required = REQUIRED.search(sentence)
        if (
            not required
            or len(own & told) < max(least, SHARED * len(own))
            or _has_other_condition(sentence, own)
            or not (is_general or said <= told)
        ):
            continue
        bearers = _words(sentence[: required.start()]) if _SUFFERED.match(claim[waived.end() :]) else told
        # Who announces what must be announced may be anyone.
        if is_general or subject <= bearers or (_PASSIVE.search(sentence) and bearers is told):
            return False
    return None


def is_choice_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim says that something must be done, and the evidence that it may be done.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence, sentences of one source in order.

    Returns:
        ``None`` if either act has a limit or condition, or another sentence requires something of the act.
    """
    own = _OBLIGED.search(claim[:MAX_TEXT])
    if not own or _LIMITED.search(own["act"]) or _EXEMPT.search(claim) or _CONDITION.search(claim[: own.start()]):
        return None
    act, subject, is_wrong, before = _words(own["act"]), _words(claim[: own.start()]), False, frozenset[str]()
    for sentence in sentences:
        sentence = sentence[:MAX_TEXT]
        free, words = _FREE_TO.search(sentence), _words(sentence)
        if len(act & words) >= MIN_SHARED and (REQUIRED.search(sentence) or _EXEMPT.search(sentence)):
            return None
        if (
            free
            and not _LIMITED.search(free["act"])
            and len(act & _words(free["act"])) >= max(MIN_SHARED, SHARED * len(act))
        ):
            is_wrong |= not subject or bool(subject & (before | _words(sentence[: free.start()])))
        before = words
    return False if is_wrong else None


def _has_other_condition(sentence: str, own: frozenset[str]) -> bool:
    """Return true if a duty depends on a case that the claim does not name."""
    return any(not _words(match["clause"]) <= own | _NORM for match in _CONDITION.finditer(sentence))


def _words(text: str) -> frozenset[str]:
    """Return the stems of the content words, the same for all forms of an irregular verb."""
    return frozenset(verb_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
