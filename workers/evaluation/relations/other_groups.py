"""Compare claims on named groups with what holds of all others: "Students must sign" over "All other visitors must sign".

What holds of all but the groups that were named before, or of all with an exception, does not hold of these groups.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.words import content_words, kept_for_sentences, stem, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_VERB = (
    r"(?:is|are|was|were|has|have|had|does|do|did|can|could|may|might|must|shall|should|will|would|needs?|pays?|costs?|requires?|gets?|receives?|enters?|stops?"
    r"|runs?|opens?|closes?|contains?|includes?|comes?|goes|go|takes?|uses?|works?|leaves?|arrives?|belongs?|lies?|stands?|holds?|supports?|passe[sd]|pass|passed|failed)\b"
)
_ELSE = r"everyone else|everybody else|anyone else|anybody else|all others|the others|the rest|all the rest|others"
_NOBODY_ELSE = r"no one else|nobody else|no others?"
_OTHERS = re.compile(
    rf"^(?P<who>(?:(?:all|any) (?:the )?(?:other|remaining)|(?:the )?other|the remaining|every other|no other) (?P<noun>[\w-]+(?: [\w-]+)??)|{_ELSE}|{_NOBODY_ELSE}) (?P<said>{_VERB}.+)$",
    re.IGNORECASE,
)
_EXCEPT = (
    r"(?:except(?: for)?|excepting|excluding|apart from|other than|save(?: for)?|with the exception of|aside from)"
)
_ALL = r"(?:all|every|each|any|no|none of|everyone|everybody|nobody|no one|everything|nothing)\b"
_EXCEPTED: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{_EXCEPT} (?P<out>[^,;]{{2,60}}), (?P<all>{_ALL}(?: of)?(?: the)? [\w-]+ )?(?P<said>.+)$",
        rf"^(?P<all>{_ALL}[^,;]*?),? (?:{_EXCEPT}|but) (?P<out>[^,;]{{2,60}}?),? (?P<said>{_VERB}.+)$",
        rf"^(?P<all>{_ALL}.*?)(?P<said>{_VERB}[^;]*?),? {_EXCEPT} (?P<out>[^,;.]{{2,60}})\W*$",
    )
)
_EXCEPTING = re.compile(rf"\b(?:{_EXCEPT}|but|other|others|else|neither|nor)\b", re.IGNORECASE)
_FORBIDDEN = re.compile(r"\bmust(?: not|n['’]t)\b", re.IGNORECASE)
"""Duties of others, which do not forbid the rest anything."""
_NO = re.compile(r"^\W*(?:no|none|nobody)\b", re.IGNORECASE)
_ADMITTED = re.compile(
    r"\b(?:open|reserved|available|limited|restricted|closed|belongs?|free|only)\b[^,;]{0,20}?\b(?:to|for) (?P<who>[^,;.]{3,80})$",
    re.IGNORECASE,
)
_MEMBER = re.compile(r",\s(?:and\s|or\s)?|\s(?:and|or)\s", re.IGNORECASE)
_PIECE = re.compile(r"(?<=[;.])\s|;\s|,?\s(?:but|while|whereas)\s(?=(?:all|any|every|everyone|everybody|no one|nobody|other|the other)\b)|(?<!\w{12}),\s(?=(?:all others|everyone else|everybody else|no one else|nobody else)\b)", re.IGNORECASE)  # fmt: skip
_UNTOLD = frozenset(map(stem, word_set("number one ones please also only just people person everyone free freely")))
_MODAL = frozenset(map(stem, word_set("must shall may can need needs should")))


@dataclass(frozen=True, slots=True)
class _Rest:
    """Hold what is said of all but some groups.

    Attributes:
        said: stems of what is said.
        groups: stems of each group of which it is not said, all words of a group in one set.
        noun: stems of what the others are; empty for "everyone else".
        is_denied: whether it is denied of the others.
        is_closed: whether all who are not named are among the others.
    """

    said: frozenset[str]
    groups: tuple[frozenset[str], ...]
    noun: frozenset[str]
    is_denied: bool
    is_closed: bool = False


def is_group_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim says of a named group what the evidence says of all others only.

    Args:
        claim: the claim.
        sentences: the evidence, those of one source in order.

    Returns:
        ``None`` if the claim names no such group, or says something else of it.
    """
    claim = claim[:MAX_TEXT]
    if _EXCEPTING.search(claim) or _FORBIDDEN.search(claim):
        return None
    own, denies = content_words(claim), bool(DENIED.search(claim))
    found = set[bool]()
    for rest in _rests(sentences):
        said = rest.said - _MODAL
        if not said or not said <= own:
            continue
        subject = own - said - rest.noun - _UNTOLD - _MODAL
        groups = [group - rest.noun - _UNTOLD for group in rest.groups]
        if any(group and group <= own and group - said for group in groups):
            found.add(denies != rest.is_denied)
        elif rest.is_closed and subject and not subject & frozenset().union(*rest.groups):
            found.add(denies == rest.is_denied)
    return found.pop() if len(found) == 1 else None


@kept_for_sentences
def _pieces(sentence: str) -> tuple[str, ...]:
    return tuple(piece.strip(" .") for piece in _PIECE.split(sentence[:MAX_TEXT]))


def _rests(sentences: Sequence[str]) -> Iterator[_Rest]:
    before = ""
    for sentence in sentences:
        for piece in _pieces(sentence):
            if match := _OTHERS.match(piece):
                yield from _of_others(match, before)
            elif match := next(filter(None, (pattern.match(piece) for pattern in _EXCEPTED)), None):
                out = tuple(content_words(part) for part in _MEMBER.split(match["out"]))
                noun = content_words(match["all"] or "")
                said = content_words(match["said"])
                yield _Rest(
                    said - noun,
                    out,
                    noun - frozenset().union(*out),
                    bool(_NO.match(piece)) != bool(DENIED.search(match["said"])),
                )
            before = piece


def _of_others(match: re.Match[str], before: str) -> Iterator[_Rest]:
    """Yield what is said of others than the groups before the verb of the piece before, or after its "only" or "to"."""
    noun = content_words(match["noun"] or "")
    admitted = _ADMITTED.search(before)
    named = (
        admitted["who"]
        if admitted
        else re.split(rf"\b{_VERB}|\b(?:enter|pay|sign|ride|travel|get)\b", before, maxsplit=1, flags=re.IGNORECASE)[0]
    )
    groups = tuple(filter(None, (content_words(part) for part in _MEMBER.split(named))))
    is_denied = bool(_NO.match(match["who"])) != bool(DENIED.search(match["said"]))
    said = content_words(match["said"]) - noun
    is_closed = not noun and match["who"].lower() not in ("others", "the rest")
    if groups and before:
        yield _Rest(said, groups, noun, is_denied, is_closed)
