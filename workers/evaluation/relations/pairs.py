"""Compare what holds of one of two things and of both: "either valve", "both valves", "a passport or an identity card"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

MAX_WORDS = 5
"""Most words of each of two named things."""
SHARED = 0.5
"""Share of the claim's other words that the sentence must have."""

_NOUN = (
    r"(?:of\s)?(?:(?:the|these|those|its|their|your|our)\s)?(?:two\s)?(?P<noun>[^\W\d_][\w'’-]*(?:\s[^\W\d_][\w'’-]*)?)"
)
_BOTH = PrefilteredPattern(rf"(?<!\bor )\bboth\s{_NOUN}", re.IGNORECASE)
_ONE = PrefilteredPattern(
    rf"\b(?:either(?:\sone)?|(?:(?:only|just|at\sleast)\s)?(?:any\s)?one\sof\s(?:the|these|those|its|their|your|our)(?:\stwo)?)\s{_NOUN}"
    rf"|\bone\s(?P<single>parent|partner|spouse|side|party|signature|key|copy|document|valve|director)\b",
    re.IGNORECASE,
)
_BOTH_NAMED = PrefilteredPattern(r"\bboth\s(?P<one>[^.;,]{2,40}?)\sand\s(?P<two>[^.;,]{2,40})", re.IGNORECASE)
_OR = PrefilteredPattern(r"(?P<one>[^.;,]{2,60}),?\sor\s(?P<two>[^.;,]{2,60})", re.IGNORECASE)
_NOT_BOTH = PrefilteredPattern(r"\bnot\s(?:\w+\s)?(?:both|together|combined)\b", re.IGNORECASE)
_NEEDED = PrefilteredPattern(
    r"\b(?:must|needs?|needed|requires?|required|ha(?:s|ve|d)\sto|necessary|mandatory|compulsory|obligatory|shall|together|simultaneously|at\sthe\ssame\stime)\b",
    re.IGNORECASE,
)
_NEEDING = content_words(
    "must need needed requires required necessary mandatory compulsory obligatory shall together simultaneously two one"
)


def is_pair_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim demands both of two things of which the evidence demands one, or the reverse.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` if the claim names no pair, denies something, or the evidence states the pair as the claim does.
    """
    claim = claim[:MAX_TEXT]
    if DENIED.search(claim):
        return None
    texts = [sentence[:MAX_TEXT] for sentence in sentences]
    if (both := _BOTH_NAMED.search(claim)) and _is_choice(both, claim, texts):
        return False
    for own, other in ((_BOTH, _ONE), (_ONE, _BOTH)):
        for noun in _nouns(own, claim):
            rest = content_words(claim) - noun - _NEEDING
            stated = [text for text in texts if any(noun & each for each in _nouns(own, text))]
            changed = [text for text in texts if any(noun & each for each in _nouns(other, text))]
            needing = claim if own is _BOTH else " ".join(changed)
            if changed and not stated and _NEEDED.search(needing) and _is_on_matter(rest, changed):
                return False
    return None


def _is_choice(both: re.Match[str], claim: str, texts: Sequence[str]) -> bool:
    """Return true if the evidence has two things that a claim demands, or allows, together as a choice."""
    two = " ".join(both["two"].split()[: len(both["one"].split())])
    named = content_words(f"{both['one']} {two}")
    texts = [text for text in texts if named <= content_words(text)]
    is_choice = all(
        any(_is_named(both["one"], two, (each["one"], each["two"])) for each in _OR.finditer(text)) for text in texts
    )
    return bool(texts) and is_choice and bool(_NEEDED.search(claim) or any(map(_NOT_BOTH.search, texts)))


def _is_on_matter(rest: frozenset[str], changed: Sequence[str]) -> bool:
    return any(not DENIED.search(text) and len(rest & content_words(text)) >= SHARED * len(rest) for text in changed)


def _nouns(pattern: PrefilteredPattern, text: str) -> Iterator[frozenset[str]]:
    """Yield the words of each noun of which a text names one, or both."""
    for match in pattern.finditer(text):
        named = match.groupdict()
        words = content_words(named.get("noun") or named.get("single") or "") - _NEEDING
        if words and not _BOTH_NAMED.match(text[match.start() :]):
            yield words


def _is_named(one: str, two: str, sides: tuple[str, str]) -> bool:
    """Return true if two things stand next to the word between two sides: "a passport | an identity card"."""
    before, after = sides[0].split()[-MAX_WORDS:], sides[1].split()[:MAX_WORDS]
    return content_words(one) <= content_words(" ".join(before)) and content_words(two) <= content_words(
        " ".join(after)
    )
