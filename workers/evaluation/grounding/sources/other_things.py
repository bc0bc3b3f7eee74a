"""Find the sources that are about other things of the kind than the one that a claim names.

"The Terra 16 has five ports" is compared with the data sheet of the Terra 16 and not with that of the Aero 14, which
has the same words and other values. A source is about the thing that its first words name ("The Aero 14 weighs …",
"# Hotel Miramar"). It is left out for a claim if

- another source is about the one thing that the claim names, else its antecedent, else the question, if no claim before
  has gone on to another thing;
- the source nowhere names the thing of the claim;
- both sources share a good part of their words, as two data sheets do and a data sheet and a warranty do not.

Claims that compare ("the lighter one", "both") are compared with all sources.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workers.evaluation.budget import spend
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.sources.evidence import EvidenceUnit
from workers.evaluation.text.words import STOP_WORDS, word_set

MAX_THINGS = 12
"""Number of things from which on the sources are a list rather than sheets on a few things."""
SAME_KIND = 1 / 3
"""Least share of the shorter source's words that two sources on things of one kind have in common."""
LEAST_COMMON = 4
"""Least number of these words."""
_NAME = re.compile(
    r"\W*(?:(?:The|Der|Die|Das|Le|La|Les|El|Los|Las|Il|Lo)\s)?(?P<name>[A-ZÄÖÜÉ][\w'’-]*(?:\s(?:[A-ZÄÖÜÉ][\w'’-]*|\d+\w*)){1,4})(?!\w)"
)
_NO_NAMES = STOP_WORDS | word_set(
    "version release edition chapter section part step table page day week last next every since during until"
)
"""First words of openings that name no thing."""
_WORD = re.compile(r"[^\W_]+")
_COMPARES = re.compile(
    r"\b(?:than|both|all|each|every|other|another|same|also|too|as well|neither|unlike|while|whereas|compared|difference|together|total"
    r"|more|less|fewer|most|least|only|either|instead|alternative\w*|(?:is|are|was|were|the)\s(?:\w+\s)?\w{3,}(?:er|est))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Describe a source on one thing.

    Attributes:
        number: its position among the contexts.
        phrase: the name of the thing in lower case.
        text: the text of the source.
        words: stems of its content words without figures.
        is_label: a colon follows the name.
    """

    number: int
    phrase: str
    text: str
    words: frozenset[str]
    is_label: bool


def sources_on_others(claims: Sequence[ExtractedClaim], units: Sequence[EvidenceUnit]) -> list[frozenset[int]]:
    """Return for each claim the numbers of the sources that are about other things than its own.

    Args:
        claims: the claims of one answer, in order; what follows a claim does not change its sources.
        units: the evidence.
    """
    sheets = _sheets(units)
    phrases = frozenset(sheet.phrase for sheet in sheets)
    if not 1 < len(phrases) <= MAX_THINGS:
        return [frozenset()] * len(claims)
    spend((len(claims) + len(phrases)) * len(phrases) + sum(len(unit.text) for unit in units))
    names = {phrase: _pattern(phrase, phrases) for phrase in phrases}
    asked = next(filter(None, (claim.question or claim.asked for claim in claims)), "")
    topic = _named(asked, names)
    found = []
    for claim in claims:
        own = _named(claim.plain, names) or _named(claim.antecedent, names)
        if len(topic) == 1 and own and own != topic:
            topic = frozenset()  # the answer has gone on to another thing
        own = own or topic
        is_one = len(own) == 1 and not _COMPARES.search(claim.plain)
        found.append(_of_others(min(own), sheets, names) if is_one else frozenset())
    return found


def _sheets(units: Sequence[EvidenceUnit]) -> list[_Sheet]:
    sources: dict[int, list[EvidenceUnit]] = {}
    found: list[_Sheet] = []
    for unit in units:
        sources.setdefault(unit.number, []).append(unit)
    for number, own in sources.items() if len(sources) > 1 else ():
        match = None if own[0].of_record else _NAME.match(own[0].text)
        phrase = match["name"].lower() if match else ""
        # "In Bressa 18 mm of rain fell" is about the rain.
        if phrase and phrase.partition(" ")[0] not in _NO_NAMES:
            words = frozenset(word for unit in own for word in unit.words if word.isalpha())
            is_label = own[0].text.startswith(":", match.end() if match else 0)
            found.append(_Sheet(number, phrase, "\n".join(unit.text for unit in own), words, is_label))
    # "Savings Account:" beside "Checking Account:" is a thing, "Opening Hours:" beside "Hotel Miramar" a part of one.
    return [each for each in found if not each.is_label or any(_share_a_word(each, other) for other in found)]


def _share_a_word(one: _Sheet, other: _Sheet) -> bool:
    return one.phrase != other.phrase and not set(one.phrase.split()).isdisjoint(other.phrase.split())


def _pattern(phrase: str, phrases: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of the words of a name that no other name has, or of the whole name if these are figures."""
    others = frozenset(word for other in phrases if other != phrase for word in _WORD.findall(other))
    own = [word for word in _WORD.findall(phrase) if word.isalpha() and word not in others and word not in STOP_WORDS]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, own or [phrase]))})\b", re.IGNORECASE)


def _named(text: str, names: Mapping[str, re.Pattern[str]]) -> frozenset[str]:
    return frozenset(phrase for phrase, pattern in names.items() if text and pattern.search(text))


def _of_others(own: str, sheets: Sequence[_Sheet], names: Mapping[str, re.Pattern[str]]) -> frozenset[int]:
    mine = [sheet for sheet in sheets if sheet.phrase == own]
    return frozenset(
        other.number
        for other in sheets
        if other.phrase != own
        and not names[own].search(other.text)
        and any(_are_of_one_kind(sheet, other) for sheet in mine)
    )


def _are_of_one_kind(one: _Sheet, other: _Sheet) -> bool:
    common = len(one.words & other.words)
    return common >= LEAST_COMMON and common >= SAME_KIND * min(len(one.words), len(other.words))
