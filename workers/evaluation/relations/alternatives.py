"""Compare claims with what the evidence excludes: "repaired rather than replaced", "Ann, not Bob", "without the sour cream".

A claim that has the excluded side in the place of the affirmed one is wrong. The words are those of seven languages.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.languages.opposite_words import denial_pattern
from workers.evaluation.text.languages.local_words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MAX_MEMBER = 6
"""Most words of an excluded thing."""
SHARED = 0.6
"""Share of the claim's other words that the evidence has beside an addition."""
SHARED_WITH_KEPT = 0.5
"""The same beside an alternative: "is built of wood" over "steel instead of wood was used"."""

_INSTEAD = (
    r"rather\sthan|instead\sof|as\sopposed\sto|in\splace\sof|(?:an)?statt|anstelle\s(?:von|der|des)|au\slieu\s(?:de\s|d['’])|plutôt\s(?:que\s|qu['’])"
    r"|en\slugar\sde|en\svez\sde|invece\s(?:di|che)\s|anziché|em\svez\sde|em\slugar\sde|in\splaats\svan"
)
_NOT = r"(?:,\s(?:and\s|und\s|et\s|y\s|e\s|en\s)?|\s(?:and|und|et|y|e|en)\s)(?:not|nicht|non|no|não|niet)"
_EXCLUDING = re.compile(rf"(?:(?P<instead>\b(?:{_INSTEAD}))|(?P<denied>{_NOT}))\b\s?", re.IGNORECASE)
_FURTHER = re.compile(
    r"\s*(?:only|just|merely|even|yet|until|unless|if|when|more|less|later|before|always|necessarily|nur|erst|mehr|seulement|plus|sólo|solo|más|solamente|più|alleen)\b",
    re.IGNORECASE,
)
"""Words behind "not" that exclude nothing: "and not only the roof"."""
_END = re.compile(r"[,;:.()–—]|\s(?:if|when|because|since|unless|until|who|which|that|wenn|weil|falls|si|parce|cuando|porque|quando|perché)\s", re.IGNORECASE)  # fmt: skip
_MEMBER_END = re.compile(
    r"\s(?:was|were|is|are|has|have|had|will|can|may|must|for|in|on|at|to|from|with|by|during|für|mit|wird|wurde|ist|pour|dans|para|con|per)\s",
    re.IGNORECASE,
)
"""Words behind an excluded thing that belong to the whole sentence: "steel instead of wood for the bridge"."""
_WITHOUT = re.compile(
    r"\b(?:without|excluding|not\sincluding|exclusive\sof|leaving\sout|ohne|exklusive|sans|hors|sin|excluyendo|senza|escluso|sem|zonder)\s(?:(?:the|any|a|an|its|der|die|das|den|dem|le|la|les|l['’]|los|las|il|lo|i|gli|o|os|as|de|het)\s?\b)?",
    re.IGNORECASE,
)
_WITH = re.compile(
    r"(?<!\bnot )\b(?:including|inclusive\sof|included|with|inklusive|einschließlich|mit|samt|avec|y\scompris|con|incluyendo|incluid[oa]s?|incluso|compres[oa]|com|incluindo|met|inclusief)\b",
    re.IGNORECASE,
)
_TO = re.compile(r"\s(?:to|for|on|in|at|um|zum|für|pour|para|per)\s", re.IGNORECASE)
_MAY = re.compile(
    r"\b(?:may|can|could|allowed|permitted|possible|even|also|darf|dürfen|kann|können|peut|peuvent|pueden?|può|possono|mag|mogen|kan|kunnen)\b",
    re.IGNORECASE,
)
"""Words of permission: if a thing is possible without another one, it is possible with it too."""
_ALSO = re.compile(r"\b(?:also|too|auch|aussi|también|anche|também|ook)\b", re.IGNORECASE)
_LESS = re.compile(
    r"\b(?:waive[sd]?|exempt\w*|void|lapses?|lapsed|refused?|forbidden|prohibited|excluded|invalid|impossible|unable)\b",
    re.IGNORECASE,
)
"""Words that deny: a fee that is waived is not paid."""
_ENGLISH_DENIAL = re.compile(r"\b(?:not|no|never|none|nobody|nothing|cannot|neither|\w+n['’]t)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Exclusion:
    """Hold the stems of what a sentence excludes, of the last word it has in its place, and of the rest."""

    out: frozenset[str]
    kept: frozenset[str]
    rest: frozenset[str]


def is_alternative_kept(claim: str, sentences: Sequence[str], language: str) -> bool | None:
    """Return false if a claim has what the evidence excludes in the place of what it affirms.

    Args:
        claim: the claim.
        sentences: the evidence, those of one source in order.
        language: language of the claim, ISO 639-1.

    Returns:
        ``None`` if the evidence excludes nothing of it.
    """
    claim = claim[:MAX_TEXT]
    if _EXCLUDING.search(claim):
        return None
    own = content_words(claim, language)
    for place, sentence in enumerate(sentences):
        for excluded in _exclusions(sentence[:MAX_TEXT], language):
            if (
                excluded.out
                and excluded.out <= own
                and excluded.kept
                and not excluded.kept & own
                and len(own & excluded.rest - excluded.out) >= SHARED_WITH_KEPT * len(own - excluded.out)
                and own & excluded.rest - excluded.out
                and _is_denying(claim, language) == _is_denying(_affirmed(sentence), language)
                and not _is_said_elsewhere(own, place, sentences, language)
            ):
                return False
    return None


def is_addition_kept(claim: str, sentences: Sequence[str], language: str) -> bool | None:
    """Return false if a claim says of a thing with an addition what the evidence says of it without, or the reverse.

    Args:
        claim: the claim.
        sentences: the evidence, those of one source in order.
        language: language of the claim, ISO 639-1.

    Returns:
        ``None`` if the evidence names no such addition.
    """
    claim = claim[:MAX_TEXT]
    for one, two in ((_WITH, _WITHOUT), (_WITHOUT, _WITH)):
        if not (own := one.search(claim)) or two.search(claim) or _ALSO.search(claim):
            continue
        words = content_words(claim, language)
        for place, sentence in enumerate(sentences):
            sentence = sentence[:MAX_TEXT]
            if not (stated := two.search(sentence)) or one.search(sentence) or _MAY.search(sentence[: stated.start()]):
                continue
            member = content_words(_member(sentence[stated.end() :]), language)
            named = content_words(_member(claim[own.end() :]), language)
            if not member or not member <= named:
                continue
            before = sentences[place - 1] if place else ""
            rest = words - member
            told = content_words(sentence[: stated.start()], language)
            shared = rest & content_words(f"{before} {sentence}", language)
            if (
                told & rest
                and len(shared) >= SHARED * len(rest)
                and _is_denying(one.sub(" ", claim), language) == _is_denying(two.sub(" ", sentence), language)
                and not _is_said_elsewhere(words, place, sentences, language)
            ):
                return False
    return None


def _exclusions(sentence: str, language: str) -> Iterator[_Exclusion]:
    for match in _EXCLUDING.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if match["denied"] and _FURTHER.match(after):
            continue
        member = _MEMBER_END.split(_member(after))[0]
        out = content_words(member, language)
        if before.strip(" ,("):
            kept = _last_word(before, out, language)
        else:
            # "Instead of alcohol, use a dry cloth to clean it" has the kept side behind it, after its verb.
            kept = _object(after[len(member) :].lstrip(" ,"), language) - out
        others = content_words(f"{before} {after[len(member) :]}", language)
        yield _Exclusion(out - others, kept, others)


def _member(text: str) -> str:
    """Return the words up to the end of a clause."""
    words = list(_WORD.finditer(_END.split(text)[0]))
    return text[: words[min(MAX_MEMBER, len(words)) - 1].end()] if words else ""


def _last_word(text: str, out: frozenset[str], language: str) -> frozenset[str]:
    for word in reversed(_WORD.findall(text)):
        if found := content_words(word, language) - out:
            return found
    return frozenset()


def _object(text: str, language: str) -> frozenset[str]:
    words = [
        found for word in _WORD.findall(_TO.split(_END.split(text)[0])[0]) if (found := content_words(word, language))
    ]
    return frozenset[str]().union(*words[1:])


def _affirmed(sentence: str) -> str:
    return _EXCLUDING.sub(" ", sentence)


def _is_denying(text: str, language: str) -> bool:
    pattern = _ENGLISH_DENIAL if language == "en" else denial_pattern(language)
    return bool((len(pattern.findall(text)) + len(_LESS.findall(text))) % 2)


def _is_said_elsewhere(own: frozenset[str], place: int, sentences: Sequence[str], language: str) -> bool:
    return any(
        own <= content_words(other, language) for other_place, other in enumerate(sentences) if other_place != place
    )
