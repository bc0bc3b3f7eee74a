"""Answer questions for yes or no by a field of a record: "Does the Starter plan come with SSO?" over "sso: false".

The question names the record and the field, the field also by its initials, and says nothing else: its other words only
ask whether something is there.
"""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.values.row_mismatch import read_fields
from workers.evaluation.text.words import STOP_WORDS, stem, word_set

MAX_TEXT = 700
"""Longest record that is read, code points."""
MAX_RECORDS = 100
"""Most records that a question is compared with."""
MIN_ROOT = 4
"""Least letters of a word without its ending."""
MAX_INITIALS = 5
"""Most letters of an abbreviation."""

_WORD = re.compile(r"[^\W_]+")
_POLAR = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|can|could|will|would|may|must|should)\s(?P<rest>.+?)[\s?]*$",
    re.IGNORECASE | re.DOTALL,
)
_YES = re.compile(r"(?:true|yes|y|included|available|possible|supported|allowed|permitted)\b.*", re.IGNORECASE)
_NO = re.compile(
    r"(?:false|no|n|none|never|unavailable|excluded|unsupported|forbidden|prohibited|sold out|0|not (?:allowed|permitted|available|included|possible|supported|offered|required|provided))"
    r"|no\s[^\d]+",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:except|only|unless|if|until|from|before|after|but|without|some|partly|request)\b", re.IGNORECASE
)
_SHUT = re.compile(r"(?:closed|shut)\b", re.IGNORECASE)
_TIMES = re.compile(r"\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]m)?\s?(?:-|–|to|until)\s?\d", re.IGNORECASE)
_ASKS_OPENING = re.compile(r"\b(?P<verb>open|closed|shut)\b", re.IGNORECASE)
_COMES_WITH = re.compile(
    r"\b(?:have|has|come|comes|include|includes|included|offer|offers|there|provide|provides)\b", re.IGNORECASE
)
_ASKING = word_set(
    "come comes include includes included offer offers offered support supports supported provide provides provided allow allows allowed permit permitted"
    " get gets possible available enable enabled enables have has equip equipped feature features contain contains open closed shut there any required"
)
"""Words that only ask whether something is there."""
_ENDINGS = re.compile(r"(?:able|ible|ation|ment|ing|ed|es|s|e)$")


def answer_by_mark(question: str, rows: Sequence[str], others: Sequence[str] = ()) -> bool | None:
    """Return the answer that a field of the named record gives; ``None`` if there is none or several differ.

    Args:
        question: a question for yes or no.
        rows: records, each with its keys and values on one line.
        others: sentences of the evidence, which may say more of the same.
    """
    asked = _POLAR.match(question)
    if asked is None or DENIED.search(question) or re.search(r"\bor\b|,", question):
        return None
    told = [word.lower() for word in _WORD.findall(asked["rest"])]
    records = [fields for row in rows[:MAX_RECORDS] if len(fields := read_fields(row[:MAX_TEXT]) or []) > 1]
    spend(sum(len(key) + len(value) for fields in records for key, value in fields))
    names = [_roots(fields[0][1]) for fields in records]
    found = set[bool]()
    for place, fields in enumerate(records):
        rivals = [name for name in names if name != names[place]]
        own = names[place].difference(*rivals)
        words = _roots(" ".join(told))
        if rivals and (
            2 * len(own & words) < len(own) or not own or any((name - names[place]) & words for name in rivals)
        ):
            continue
        known = names[place] | _roots(fields[0][0])
        for key, value in fields[1:]:
            rest = _without_key(told, key)
            if rest is None or _roots(" ".join(rest)) - known - _ASKING_ROOTS:
                continue
            key_words = _roots(key) - _ASKING_ROOTS
            if not any(key_words <= _roots(other) and own & _roots(other) for other in others):
                found |= set(_states(asked["rest"], value, question))
    return found.pop() if len(found) == 1 else None


def _states(asked: str, value: str, question: str) -> Iterator[bool]:
    """Yield what a value answers, at most one result."""
    value = value.strip()
    if _LIMITED.search(value):
        return
    opening = _ASKS_OPENING.search(asked)
    if opening is not None:
        if _SHUT.match(value) or _TIMES.search(value) or _YES.fullmatch(value) or _NO.fullmatch(value):
            is_shut = bool(_SHUT.match(value) or _NO.fullmatch(value))
            yield is_shut != (opening["verb"].lower() == "open")
    elif _NO.fullmatch(value):
        yield False
    elif _YES.fullmatch(value) or (_COMES_WITH.search(question) and value[:1].isdigit()):
        yield True


def _without_key(told: Sequence[str], key: str) -> list[str] | None:
    """Return the words of a question without those that name a field; ``None`` if it names another one."""
    words = [word.lower() for word in _WORD.findall(key)]
    wanted = _roots(key) - _ASKING_ROOTS
    if wanted and wanted <= _roots(" ".join(told)):
        return [word for word in told if not _roots(word) <= wanted]
    initials = "".join(word[0] for word in words)
    if len(words) > 1 and len(initials) <= MAX_INITIALS and initials in told:
        return [word for word in told if word != initials]
    for start in range(len(told)) if len(words) == 1 and 2 <= len(words[0]) <= MAX_INITIALS else ():
        part = told[start : start + len(words[0])]
        if len(part) == len(words[0]) and "".join(word[0] for word in part) == words[0]:
            return [*told[:start], *told[start + len(part) :]]
    return None


def _roots(text: str) -> frozenset[str]:
    return frozenset(root_of(word.lower()) for word in _WORD.findall(text) if word.lower() not in STOP_WORDS)


def root_of(word: str) -> str:
    """Return the stem that a verb and its adjective have in common: "transferred" and "transferable"."""
    bare = f"{word[:-3]}y" if word.endswith("ies") else _ENDINGS.sub("", word)
    if len(bare) < MIN_ROOT:
        return stem(word)
    return bare[:-1] if bare[-1] == bare[-2] else bare


_ASKING_ROOTS = frozenset(map(root_of, _ASKING))
