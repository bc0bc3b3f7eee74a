"""Find claims that give the value of one case to another case of the same sentence.

"Bake at 180 °C (160 °C fan)" gives 160 °C to the fan oven, and "3 days in the fridge or 3 months in the freezer" three
months to the freezer. "At 180 °C in a fan oven" has all its words there. A value belongs to the words behind it in its
part of the sentence, and a value in brackets to the words in the brackets.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.facts.calculation.arithmetic import satisfies
from workers.evaluation.facts.forms.plain_forms import plain_forms
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import content_words, kept_for_sentences, key_of, stem

MAX_SENTENCES = 200
"""Maximum number of sentences that are read for cases."""
MAX_LENGTH = 400
"""Longest sentence that is read, code points."""
SAME = 0.1
"""Relative difference up to which a duration in months is that in weeks or days."""
MONTH = 30.44 * 86_400

_CUT = re.compile(r"[,;]\s|\s(?:or|and|but|oder|und|bzw\.|ou|et|lub|albo)\s|\s(?=[oyeu]\s\d)[oyeu]\s")
_BRACKETS = re.compile(r"\(([^()]{3,60})\)")
_OTHER_READING = re.compile(
    r"\b(?:about|approx\w*|around|equal\w*|equivalent|roughly|ca|max(?:imum)?|min(?:imum)?|at (?:least|most)|from|per|plus|incl\w*|excl\w*|vat|tax\w*|mwst|up to|i\.e|or|and|was|were|than|=)\b|[=≈~]",
    re.IGNORECASE,
)
"""Words that say something else of a figure in brackets: a conversion, a limit, a part."""
_DERIVED = re.compile(
    r"\b(?:longer|shorter|more|less|fewer|higher|lower|hotter|cooler|differ\w*|total|together|altogether|combined|average|mean|sav\w+|extra|additional"
    r"|later|earlier|faster|cheaper|dearer|than|twice|double|half as|each|both|not|never|no|between|remain\w*|left|reduce\w* by|fell|rose)\b|n['’]t\b",
    re.IGNORECASE,
)
_SCALED = re.compile(
    r"\bscal(?:ed|ing|e)\b|\btimes\b|\bfor (?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,3})"
    r"(?=\s*(?:$|[,.;:]|people|persons|servings|portions|guests|of (?:you|us)))",
    re.IGNORECASE,
)
"""Signs that a claim calculates its amounts: "scaled up for six, that is 180 g"."""
_ALIKE = {
    **dict.fromkeys(("freezer", "freeze", "freezes", "frozen", "freezing"), "freezer"),
    **dict.fromkeys(("fridge", "refrigerator", "refrigerate", "refrigerated", "chilled"), "fridge"),
    **dict.fromkeys(("convection", "fan-assisted", "fan-forced"), "fan"),
    **dict.fromkeys(("concession", "concessions", "concessionary", "discounted"), "reduced"),
}
"""Words for one case; the rest is compared by stems."""
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Case:
    """Hold a value and the words of the case that it belongs to."""

    value: Quantity
    words: frozenset[str]


def is_of_other_case(claim: str, sentences: Sequence[str]) -> bool:
    """Return true if a claim gives a case a value that another case of the sentence has, or none.

    Args:
        claim: plain text of the claim.
        sentences: the evidence.
    """
    claimed = _claimed(claim)
    if not claimed:
        return False
    read = [_read_cases(text) for text in sentences if len(text) <= MAX_LENGTH][:MAX_SENTENCES]
    texts = [text for text, _ in read]
    return any(
        _is_crossed(value, words, cases, texts) for _, found in read for cases in found for value, words in claimed
    )


@kept_for_sentences
def _claimed(claim: str) -> tuple[tuple[Quantity, frozenset[str]], ...]:
    """Return the values of a claim with the words of their parts; empty for one that calculates them."""
    if _DERIVED.search(claim) or _SCALED.search(claim):
        return ()
    return tuple(each for piece in _pieces(plain_forms(claim)) for each in piece)


@kept_for_sentences
def _read_cases(text: str) -> tuple[str, tuple[list[Case], ...]]:
    """Return a sentence in plain forms and its cases: those in brackets and those of a list, where it has several."""
    plain = plain_forms(text)
    return plain, tuple(cases for cases in (_in_brackets(plain), _listed(plain)) if len(cases) > 1)


def _is_crossed(value: Quantity, words: frozenset[str], cases: Sequence[Case], texts: Sequence[str]) -> bool:
    """Return true if a value stands with the words of exactly one case, whose value is another one in every sentence."""
    named = [case for case in cases if case.words & words]
    if len(named) != 1 or (value.approximate and not value.bound) or _family(value) != _family(named[0].value):
        return False
    if _is_kept(value, named[0].value):
        return False
    return not any(
        _is_kept(value, other)
        for text in texts
        if named[0].words & words & _words(text)
        for other in read_details(text).quantities
        if all(other is not case.value and not _is_kept(other, case.value) for case in cases)
    )


def _is_kept(claimed: Quantity, told: Quantity) -> bool:
    one, two = _size(claimed), _size(told)
    if claimed.bound > 0 and claimed.dimension == told.dimension:
        return satisfies(told, claimed)
    return abs(one - two) <= (SAME if claimed.dimension != told.dimension else 1e-6) * max(abs(one), abs(two))


def _size(value: Quantity) -> float:
    return value.values[0] * (MONTH if value.dimension == "month" else 1.0)


def _family(value: Quantity) -> str:
    return "time" if value.dimension == "month" else value.dimension if value.is_unit else ""


def _pieces(text: str) -> Iterator[list[tuple[Quantity, frozenset[str]]]]:
    """Yield the values of each part of a claim with the words of the part; parts without a value go with the next one."""
    waiting = ""
    parts = [part for part in _CUT.split(_BRACKETS.sub(r" \1 ", text)) if part]
    for place, part in enumerate(parts):
        whole = f"{waiting} {part}"
        values = [each for each in read_details(part).quantities if each.is_unit]
        if not values:
            waiting = whole
            continue
        if not any(_has_unit(later) for later in parts[place + 1 :]):
            whole = " ".join((whole, *parts[place + 1 :]))
        if len({_family(each) for each in values}) == len(values):
            yield [(each, _words(whole)) for each in values]
        waiting = ""


def _has_unit(text: str) -> bool:
    return any(each.is_unit for each in read_details(text).quantities)


def _in_brackets(text: str) -> list[Case]:
    """Return the value before brackets and the one in them, which the words in the brackets belong to."""
    for match in _BRACKETS.finditer(text):
        inner = [each for each in read_details(match[1]).quantities if each.is_unit]
        before = [each for each in read_details(_CUT.split(text[: match.start()])[-1]).quantities if each.is_unit]
        words = _words(match[1])
        if len(inner) != 1 or not before or not words or _OTHER_READING.search(match[1]):
            continue
        if _family(before[-1]) == _family(inner[0]) and not _is_kept(inner[0], before[-1]):
            return [Case(before[-1], frozenset()), Case(inner[0], words)]
    return []


def _listed(text: str) -> list[Case]:
    """Return the values of a list with the words behind each, without those that several have."""
    found: list[Case] = []
    for part in _CUT.split(text):
        values = [each for each in read_details(part).quantities if each.is_unit]
        if len(values) != 1 or values[0].bound or values[0].written not in part:
            continue
        behind = part[part.index(values[0].written) + len(values[0].written) :]
        found.append(Case(values[0], _words(behind)))
    families = [_family(each.value) for each in found]
    alike = [each for each in found if families.count(_family(each.value)) > 1]
    if len({_family(each.value) for each in alike}) != 1 or not all(each.words for each in alike):
        return []
    common = frozenset(word for each in alike for word in each.words if sum(word in other.words for other in alike) > 1)
    cases = [Case(each.value, each.words - common) for each in alike]
    return cases if all(each.words for each in cases) else []


@kept_for_sentences
def _words(text: str) -> frozenset[str]:
    for value in read_details(text).quantities:
        text = text.replace(value.written, " ")  # "10 minutes on foot" has a foot that is no unit
    told = content_words(text)
    words = (key_of(word) for word in _WORD.findall(text))
    return frozenset(
        _ALIKE.get(word, stem(word)) for word in words if len(word) > 2 and (word in _ALIKE or stem(word) in told)
    )
