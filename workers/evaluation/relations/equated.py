"""Compare claims with what the evidence treats alike: "does not count" over "Switzerland is treated like an EEA country".

What is treated like a thing need not be that thing; a claim is wrong only if it denies the treatment, or its effect.
"""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.languages.opposite_words import denial_pattern
from workers.evaluation.text.languages.local_words import content_words
from workers.evaluation.text.prefilter import PrefilteredPattern

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_AUX = r"(?:is|are|was|were|be|been|being)"
_ALIKE = PrefilteredPattern(
    rf"\b(?:{_AUX} (?:\w+ly )?(?:treated|handled|charged|billed|classed|taxed|dealt with|assessed) (?:exactly )?(?:like|as|the same (?:way )?as|in the same way as|similarly to|on a par with)"
    r"|wird wie|werden wie|gleichgestellt|gleichgesetzt|(?:est|sont) (?:assimilée?s?|traitée?s?)|se (?:trata|tratan) como|si (?:considera|tratta) come)\b",
    re.IGNORECASE,
)
"""Words for things that are treated alike and need not be the same."""
_SAME = PrefilteredPattern(
    rf"\b(?:{_AUX} (?:\w+ly )?(?:regarded as|considered(?: to be| as)?|deemed(?: to be)?|counted as|classified as|recogni[sz]ed as|viewed as|held to be)"
    r"|counts? as|qualif(?:y|ies) as|rank as|gilt als|gelten als|zähl(?:t|en) als|(?:est|sont) considérée?s? comme|compten?t? comme|se consideran?|cuentan? como|vale come|conta como|geldt als|gelden als)\b",
    re.IGNORECASE,
)
"""Words for things that are the same for the purpose of the text."""
_EFFECT = re.compile(
    r"\b(?:counts?|counted|counting|treated|handled|charged|regarded|considered|deemed|classed|eligible|included?|covered|qualif\w+|recogni[sz]ed|accepted|appl(?:y|ies)"
    r"|zähl\w+|gilt|gelten|behandelt|anerkannt|compte\w*|assimil\w+|trait\w+|considér\w+|cuenta\w*|considera\w*)\b",
    re.IGNORECASE,
)
"""Words of the treatment and of its effect."""
_REASON = re.compile(
    r",?\s(?:because|since|as|although|though|even though|weil|da|obwohl|car|parce|bien|porque|aunque)\s.*$|,?\s(?:but|aber|mais|pero|ma)\s.*$",
    re.IGNORECASE | re.DOTALL,
)
_ENGLISH_DENIAL = re.compile(r"\b(?:not|no|never|cannot|\w+n['’]t)\b", re.IGNORECASE)


def is_treatment_kept(claim: str, sentences: Sequence[str], language: str) -> bool | None:
    """Return false if a claim denies that something is treated as the evidence says, or the reverse.

    Args:
        claim: the claim.
        sentences: the evidence.
        language: language of the claim, ISO 639-1.

    Returns:
        ``None`` if the evidence treats nothing of it like another thing.
    """
    claim = claim[:MAX_TEXT]
    main = _REASON.sub("", claim)
    own = content_words(main, language)
    denies = _denies(main, language)
    found = set[bool]()
    for sentence in sentences:
        for pattern in (_ALIKE, _SAME):
            if not (stated := pattern.search(sentence := sentence[:MAX_TEXT])):
                continue
            before, after = sentence[: stated.start()], sentence[stated.end() :]
            things = [content_words(_clause(before, last=True), language), content_words(_clause(after), language)]
            is_denied = _denies(f"{before} {stated[0]}", language)
            speaks_of = _EFFECT.search(main) or (pattern is _SAME and things[1] and things[1] <= own)
            if not speaks_of or not things[0] or not things[0] <= own:
                continue
            if is_denied and not (things[1] and things[1] <= own and _EFFECT.search(main)):
                continue
            if own - things[0] - things[1] - _effects(main, language) <= content_words(sentence, language):
                found.add(denies == is_denied)
    return False if found == {False} else None


def _effects(text: str, language: str) -> frozenset[str]:
    return content_words(" ".join(_EFFECT.findall(text)), language)


def _denies(text: str, language: str) -> bool:
    pattern = _ENGLISH_DENIAL if language == "en" else denial_pattern(language)
    return bool(len(pattern.findall(text)) % 2)


def _clause(text: str, *, last: bool = False) -> str:
    parts = [
        part
        for part in re.split(r"[,;:]\s|\s(?:for|under|when|if|in|at|within|bei|für|im|pour|dans|para|en)\s", text)
        if part.strip(" .")
    ]
    return parts[-1 if last else 0] if parts else ""
