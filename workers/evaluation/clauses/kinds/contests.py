"""Read who won and who lost: "Ashton won" over "Norwood beat Ashton 3-1"."""

import re
from collections.abc import Iterable, Iterator, Sequence

MAX_TEXT = 300
"""Longest statement that is read, code points."""

_NAME = r"(?:[A-Z][\w'’-]*)(?:\s[A-Z][\w'’-]*)*"
_WON = r"(?:beat|beats|defeated|defeats|overcame|eliminated|thrashed|outplayed|edged(?: past| out)?|knocked out|won (?:[\w'’-]+ ){0,5}?(?:against|over))"
_LOST = r"(?:(?:was|were) (?:beaten|defeated|eliminated|thrashed|outplayed|knocked out) by|lost (?:[\w'’-]+ ){0,5}?(?:to|against))"
_PAIRS = tuple(
    (wins_first, re.compile(rf"(?P<one>{_NAME})(?:,? [a-z][\w'’-]*){{0,4}}? {verb} (?:the )?(?P<two>{_NAME})"))
    for wins_first, verb in ((True, _WON), (False, _LOST))
)
_ALONE = re.compile(rf"(?P<one>{_NAME})(?: [a-z][\w'’-]*){{0,3}}? (?:(?P<won>won|is the winner|was the winner)|lost)\b")
_ASKED = re.compile(
    r"\b(?:who|which|what)\b[^?]{0,40}?\b(?:(?P<won>won|wins?|winner)|lost|loses?|loser)\b", re.IGNORECASE
)
_DENIED = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)
_FIRST = re.compile(r"(?:In|On|At|The|After|Yes|No|It|He|She|They|His|Her)\b,?\s*")


def is_contest_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the evidence has the same winner and loser as a claim.

    Args:
        claim: the claim, or the short answer.
        question: the question, or an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim names neither, or the evidence has a name on both sides or on none.
    """
    own = list(_outcomes(claim[:MAX_TEXT])) or list(_answered(claim[:MAX_TEXT], question[:MAX_TEXT]))
    if not own or _DENIED.search(claim):
        return None
    theirs = [each for sentence in sentences if not _DENIED.search(sentence) for each in _outcomes(sentence[:MAX_TEXT])]
    won, lost = ({name for name, wins in theirs if wins is side} for side in (True, False))
    if _named(won, lost):
        return None
    found = [
        True if _named([name], won if wins else lost) else False if _named([name], lost if wins else won) else None
        for name, wins in own
    ]
    return False if False in found else True if all(found) else None


def _outcomes(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the names of a text, each with whether it won."""
    text = _FIRST.sub("", text) if _FIRST.match(text) else text
    pairs = [(match, wins) for wins, pattern in _PAIRS for match in pattern.finditer(text)]
    for match, wins in pairs:
        yield from ((match["one"], wins), (match["two"], not wins))
    if not pairs and (alone := _ALONE.search(text)):
        yield alone["one"], bool(alone["won"])


def _answered(reply: str, question: str) -> Iterator[tuple[str, bool]]:
    asked = _ASKED.search(question)
    name = re.fullmatch(rf"(?:[Tt]he )?(?P<name>{_NAME})\.?", reply.strip())
    if asked and name:
        yield name["name"], bool(asked["won"])


def _named(names: Iterable[str], others: Iterable[str]) -> bool:
    """Return true if a name is one of others, or the last part of one: "Keller" of "Jonas Keller"."""
    known = {part for other in others for part in other.split()}
    return any(set(name.split()) & known for name in names)
