"""Compare who or what has a role: "the capital is Vik" over "the capital, Lund, has a port; Vik is the largest town"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import KEPT_TEXTS, content_words

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""
MAX_HOLDER = 3
"""Most words of the holder of a role."""

_THE = r"(?:the|its|their|his|her|our|your)"
_ROLE = r"(?P<role>(?:[a-z][\w-]*\s){0,2}?[a-z][\w-]+)(?:\s(?:of|in)\s(?P<of>[^,;.]{2,40}?))?"
_NAME = r"(?:[A-Z][\w.'’-]*)(?:\s(?:[A-Z][\w.'’-]*|of|de|von|van)){0,3}"
_HOLDER = rf"(?P<holder>(?:(?i:the)\s)?{_NAME}|(?:(?i:the)\s(?:[a-z][\w-]{{2,20}}\s)?)?[a-z][\w-]{{2,20}}(?=[,;.]|$))"
_IS = r"(?:is|are|was|were)(?:\s(?:still|called|named))?"
_DEFINED: tuple[PrefilteredPattern, ...] = tuple(
    PrefilteredPattern(pattern)
    for pattern in (
        rf"(?:^|[;.:]\s|,\s(?:(?:and|but|while)\s)?|\s(?:and|but|while)\s)(?i:{_THE})\s{_ROLE}\s{_IS}\s{_HOLDER}",
        rf"(?:^|[;.:]\s|\s)(?i:{_THE})\s{_ROLE},\s{_HOLDER},",
        rf"(?:^|[;.:]\s|,\s(?:and|but|while)\s)(?P<holder>{_NAME}|[A-Z]?[a-z][\w-]{{2,20}})\s(?:is|are|was|were)\s{_THE}\s{_ROLE}(?=[,;.]|$)",
        rf"(?:^|[;.:]\s)(?i:{_THE})\s{_ROLE}\s{_IS}\san?\s[^,;.]{{2,40}}?\s(?:called|named)\s(?P<holder>{_NAME}|[a-z][\w-]{{2,20}})",
    )
)
_CLAIMED = re.compile(rf"^\W*(?i:{_THE})\s{_ROLE}\s{_IS}\s(?P<holder>(?:the\s)?[^,;.:()]{{2,40}})\W*$")
_ASKED = re.compile(rf"^\W*(?i:what|who|which)\s(?:is|are|was|were)\s{_THE}\s{_ROLE}\s?\?\W*$")
_POLAR = re.compile(
    rf"^\W*(?P<be>is|was)\s(?P<holder>[^,;.:()]{{2,40}}?)\s(?P<role>(?:still\s)?{_THE}\s(?:[a-z][\w-]*\s?){{1,4}}(?:(?:of|in)\s[^,;.?]{{2,40}})?)\s?\?*\W*$",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:until|since|former(?:ly)?|previous(?:ly)?|successor|succeeded|replac\w+|became|becomes?|now|today|new|old|then|once|acting|interim|next|later|first|(?<!came\s)second|another|one of|some|in\s(?:1\d|20)\d\d)\b",
    re.IGNORECASE,
)
"""Words of a role that several have had."""
_ALIAS = re.compile(
    r"\b(?:also|pen|pseudonym\w*|real|birth|maiden|stage|called|known|named|or|aka|alias|nickname\w*|abbreviated|short|likewise|too|same|co-\w+|joint\w*|both|alternat\w+)\b|\(",
    re.IGNORECASE,
)
"""Words of another name of one thing, or of a second holder."""
_ABSTRACT = content_words(
    "problem cause reason result solution aim goal answer difference point idea effect purpose key advantage disadvantage risk benefit challenge symptom treatment method way"
)
"""Roles that several things have under other words: rust is corrosion."""
_PIECE = re.compile(r"[,;.:]\s|\s(?:but|while|whereas)\s")


@dataclass(frozen=True, slots=True)
class _Definition:
    """Hold the words of a role, of what it is a role of, and of who or what has it."""

    role: frozenset[str]
    of: frozenset[str]
    holder: frozenset[str]
    is_name: bool


def is_holder_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence gives the role of a claim to another, and names the claim's holder without it.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` unless the claim says no more than who or what has a role, and the evidence says so of one other.
    """
    claim = claim[:MAX_TEXT]
    own = None if DENIED.search(claim) else _claimed(claim, question[:MAX_TEXT])
    if own is None or (not own.is_name and own.role & _ABSTRACT):
        return None
    texts = [sentence[:MAX_TEXT] for sentence in sentences]
    known = [
        (each, text)
        for text in texts
        for each in _defined(text)
        if each.role == own.role and (own.of <= each.of or not each.of)
    ]
    spend(len(known) + len(texts))
    if not known or any(each.holder & own.holder == own.holder for each, _ in known):
        return None
    others = {each.holder for each, _ in known}
    if len(others) != 1 or any(_CHANGED.search(text) or DENIED.search(text) for _, text in known):
        return None
    (other,) = others
    strange, told = own.holder - other, other - own.holder
    if not strange or not told or any(each.is_name != own.is_name for each, _ in known):
        return None
    pieces = [piece for text in texts for piece in _PIECE.split(text) if strange <= _singular(content_words(piece))]
    is_open = any(
        _ALIAS.search(piece) or _CHANGED.search(piece) or content_words(piece) & (own.role | told) for piece in pieces
    )
    return False if pieces and not is_open else None


def _singular(words: frozenset[str]) -> frozenset[str]:
    return words | {f"{word[:-1]}f" for word in words if word.endswith("v")}


def answer_by_holder(question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence gives the role that a question asks of one thing to another: "Is Vik the capital?"."""
    asked = _POLAR.match(question[:MAX_TEXT])
    if asked is None:
        return None
    return is_holder_right(_stated(asked), "", sentences)


def is_role_of_other(question: str, sentences: Sequence[str]) -> bool:
    """Return true if the evidence gives the role that a question asks of one thing to others alone, which may be the same thing."""
    asked = _POLAR.match(question[:MAX_TEXT])
    own = _claimed(_stated(asked), "") if asked else None
    if own is None:
        return False
    known = [
        each
        for text in sentences
        for each in _defined(text[:MAX_TEXT])
        if own.role == each.role and (own.of <= each.of or not each.of)
    ]
    return bool(known) and not any(each.holder & own.holder for each in known)


def _stated(asked: re.Match[str]) -> str:
    return f"{asked['role'].strip()} {asked['be'].lower()} {asked['holder']}"


def _claimed(claim: str, question: str) -> _Definition | None:
    if match := _CLAIMED.match(claim):
        return _of(match, match["holder"])
    asked = _ASKED.match(question)
    return _of(asked, claim.strip(" .!")) if asked and len(claim.split()) <= MAX_HOLDER + 1 else None


def _of(match: re.Match[str], holder: str) -> _Definition | None:
    words = content_words(holder)
    if not words or len(words) > MAX_HOLDER or any(word[0].isdigit() for word in words):
        return None
    bare = re.sub(r"^(?:the|an?)\s", "", holder.strip(), flags=re.IGNORECASE)
    return _Definition(content_words(match["role"]), content_words(match["of"] or ""), words, bare[:1].isupper())


@lru_cache(maxsize=KEPT_TEXTS)
def _defined(text: str) -> tuple[_Definition, ...]:
    return tuple(_read(text))


def _read(text: str) -> Iterator[_Definition]:
    for pattern in _DEFINED:
        for match in pattern.finditer(text):
            if definition := _of(match, match["holder"]):
                yield definition
