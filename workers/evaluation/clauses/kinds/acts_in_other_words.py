"""Answer questions by acts that the evidence tells in other words: who was hurt ("treated for bruises"), what can be frozen."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.words import content_words

FEW = 4
"""Most sentences of evidence that speaks of one event without its name."""
BEHIND = 2
"""Most sentences behind the one that names an event that still tell of it."""

_ANYBODY = content_words(
    "anyone anybody someone somebody people any harmed die injury injuries animals persons passengers"
)
_ASKED = re.compile(
    r"\W*(?:(?:is|are|was|were|did|have|has|could)\s)(?:there\s)?(?:any(?:one|body|\s\w+)?|someone|somebody|people|\w+ers)\s?(?:of the \w+\s)?(?:get\s|been\s|be\s)?"
    r"(?P<harm>hurt|injured|harmed|wounded|injur(?:y|ies)|casualties|killed|die|died|deaths?|fatalities)\b",
    re.IGNORECASE,
)
_DEATH = re.compile(
    r"\b(?:killed|dead|died|dies|deaths?|fatalit(?:y|ies)|fatally|lost (?:his|her|their) li(?:fe|ves))\b", re.IGNORECASE
)
_HARM = re.compile(
    r"\b(?:hurt|injured|wounded|injur(?:y|ies)|casualties|bruis(?:es|ed)|(?:minor|severe|serious|suffered) burns|broken (?:\w+ )?(?:wrist|arm|leg|rib|ribs|nose|collarbone|ankle|bones?)|fractur\w+|concussion"
    r"|treated (?:for|in|at|on)|(?:taken|flown|brought|admitted) to (?:a |the |an? \w+ )?(?:\w+ )?hospital|hospitali[sz]ed|smoke inhalation|poisoning|unconscious|cuts and)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"\b(?:no ?one|nobody|none|no (?:\w+ )?(?:injur(?:y|ies)|casualties|deaths|fatalities|people|passengers?|person|victims)|not (?:\w+ )?(?:hurt|injured|harmed|killed)"
    r"|(?:wasn|weren)['’]t (?:\w+ )?(?:hurt|injured|harmed|killed)|unhurt|unharmed|uninjured|unscathed|without (?:injur(?:y|ies)|casualties))\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:could|might|may|would|if|risk|feared|warn\w*|prevent\w*|avoid\w*|unless|can)\b", re.IGNORECASE
)
_PIECE = re.compile(r"[;.]\s|,?\s(?:but|while|although|though|and)\s")
_FREEZE = re.compile(r"\b(?:freez(?:e|es|ing|er|able)|frozen|froze|unfrozen)\b", re.IGNORECASE)
_ASKS_FREEZING = re.compile(
    r"\W*(?:can|could|may|should|is|are)\b.*\b(?:freeze|frozen|freezing|freezable)\b", re.IGNORECASE
)
_UNSUITABLE = re.compile(r"\b(?:unsuitable|avoid|refrain|spoils?|except|only|before|if|unless)\b", re.IGNORECASE)


def answer_by_freezing(question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the thing of a question may be frozen, by what the evidence says of a freezer; ``None`` if it is unclear.

    Args:
        question: a question for yes or no.
        sentences: the evidence in order.
    """
    if not _ASKS_FREEZING.match(question) or DENIED.search(question):
        return None
    things = [word for word in content_words(_FREEZE.sub(" ", question)) if word not in _FROZEN]
    found, before = set[bool](), ""
    for piece in (piece for sentence in sentences for piece in re.split(r"[;.]\s", sentence)):
        subject = f"{before} {piece}" if re.match(r"\W*(?:it|they|this|these)\b", piece, re.IGNORECASE) else piece
        before = piece
        if _FREEZE.search(piece) and any(word in content_words(subject) for word in things):
            if _UNSUITABLE.search(piece) or "?" in piece:
                return None if not re.search(r"\bunsuitable\b", piece) else False
            found.add(not DENIED.search(piece))
    return found.pop() if len(found) == 1 else None


_FROZEN = content_words("frozen freeze freezing possible safe okay afterwards later")


def answer_by_casualties(question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the evidence tells of somebody hurt or killed; ``None`` if it tells neither or both.

    Args:
        question: a question for yes or no.
        sentences: the evidence.
    """
    asked = _ASKED.match(question)
    if asked is None:
        return None
    of_death = bool(_DEATH.search(asked["harm"]) or asked["harm"].lower() == "die")
    found = set[bool]()
    for piece in (piece for sentence in _on_event(question, sentences) for piece in _PIECE.split(sentence)):
        is_of_death, is_of_harm = _DEATH.search(piece), _HARM.search(piece)
        if _OPEN.search(piece):
            continue
        if _NOBODY.search(piece):
            # That no person died does not say that no person was hurt.
            if is_of_death and is_of_harm is None and not of_death:
                continue
            if is_of_death or is_of_harm or re.search(r"\bun(?:hurt|harmed|injured|scathed)\b", piece):
                found.add(False)
        elif is_of_death or (is_of_harm and not of_death):
            found.add(True)
    if found == {True, False}:
        return True if not of_death else None
    return found.pop() if found else None


def _on_event(question: str, sentences: Sequence[str]) -> list[str]:
    """Return the sentences that name what a question tells of the event, and those up to two behind them."""
    event = content_words(_DEATH.sub(" ", _HARM.sub(" ", question))) - _ANYBODY
    near = [place for place, sentence in enumerate(sentences) if event & content_words(sentence)]
    return [
        sentence
        for place, sentence in enumerate(sentences)
        if not event or (not near and len(sentences) <= FEW) or any(0 <= place - each <= BEHIND for each in near)
    ]
