"""Distinguish sources that disagree from sources that speak of two things.

"Opens at 9 am" and "closes at 6 pm" give two values and do not exclude each other. Two passages disagree if they give
different values of one attribute of one subject:

- Two passages that share less than most of the shorter one's words speak of two things.
- Two sentences of nearly the same words disagree if they differ in one place. A second place that differs says that
  they speak of two things ("for adults 9 euros", "for children 5 euros"), as does another head of the subject ("the
  drill", "the battery of the drill").
- Sentences of other words disagree unless both name days, identifiers, versions or names, and none in common, beside
  values that differ.
- Two rows disagree if their first fields and identifiers are equal.
- Two instructions are two steps or two ways unless they give other figures, one forbids what the other asks for, or one
  word differs ("keep the door open", "keep the door closed").
- A denial speaks of its subject: "guides were greased, not replaced" and "replace the grease" share their verbs alone.
- Figures of other days or months differ without a conflict.

A verb that says no more than "has" or "is" may differ. Another verb counts as another attribute: "holds" and "contains"
cannot be distinguished from "opens" and "closes" without their meaning.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from workers.evaluation.contradictions.values.row_mismatch import read_fields
from workers.evaluation.facts.dates import read_weekdays
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, WEEKDAYS
from workers.evaluation.text.wording import RECOMMENDATION
from workers.evaluation.text.words import STOP_WORDS, key_of, stem, word_set

SAME_FRAME = 0.5
"""Share of the shorter sentence's words that the other has in the same order, from which two sentences are one sentence with parts replaced."""
SAME_SUBJECT = 0.6
"""Share of the shorter passage's words that the other has in any order, from which both speak of one subject. Passages that
share less were no conflict in any of the example answers.
"""
MAX_WORDS = 60
"""Longer passages are compared by their days, identifiers and names alone."""

_WORD = re.compile(r"\d+(?:[.,:'’]\d+)*|[^\W_]+(?:['’_-][^\W_]+)*")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_DAY = re.compile(r"[12]?\d|3[01]")
_IDENTIFIER = re.compile(r"\b(?=\w*\d)(?=\w*[^\W\d_])\w+(?:-\w+)*|\b[^\W\d_]+-\d+\b")
_LABEL = re.compile(
    r"\b(version|step|chapter|section|table|page|level|phase|stage|day|week|round|class|grade|edition|part) (\d+)\b",
    re.IGNORECASE,
)
_STEP = re.compile(r"\W*(?:step\s*)?(?:\d+\b[.:)]?\s+)?", re.IGNORECASE)
_PURPOSE = re.compile(r"(?:in order\s)?to\s[^,.]{3,100},\s", re.IGNORECASE)
"""The number of a step, and the purpose before an instruction."""
_PLACES = word_set("before after above below under over inside outside without")
"""Function words that tell one thing from another."""
_OF = word_set("of von vom de del della du di van")
_NEUTRAL = word_set(
    "has have had is are was were be been carries carry comes come came costs cost weighs weigh holds hold contains"
    " contain amounts amount totals total measures measure stands stand reaches reached recorded records reported"
    " reports lists listed states stated gives gave says said shows showed according about around approximately roughly"
    " nearly only just exactly am pm uhr hat kostet wiegt beträgt liegt laut rund etwa gegen ca"
)
"""Words that may differ between two statements on one attribute."""


class _Token(NamedTuple):
    """Hold a word in the form that is compared, and its value where it is a number or part of a date."""

    form: str
    kind: Literal["word", "number", "date"]
    value: str
    tells: bool


def disagree(supporting: str, contradicting: str) -> bool:
    """Return true if two passages may give different values of one attribute of one subject.

    Args:
        supporting: the passage that supports a claim.
        contradicting: the passage that contradicts the claim.
    """
    rows = read_fields(supporting), read_fields(contradicting)
    # A sentence with a colon has the form of a row, and no key of another one.
    if rows[0] and rows[1] and dict(rows[0]).keys() & dict(rows[1]).keys():
        first, second = dict(rows[0]), dict(rows[1])
        if any(key.split()[-1] == "id" and first[key] != second[key] for key in first.keys() & second.keys()):
            return False
        keys = [[key for key, _ in row] for row in rows if row]
        return len(rows[0]) == 1 or keys[0] != keys[1] or rows[0][0] == rows[1][0]
    days = read_weekdays(supporting), read_weekdays(contradicting)
    one, other = _tokens(supporting), _tokens(contradicting)
    if (
        days[0]
        and days[1]
        and not days[0] & days[1]
        and all(any(t.kind == "number" for t in each) for each in (one, other))
    ):
        return False  # other days have other hours
    if _has_other_months(one, other) or _are_two_acts(supporting, contradicting, one, other):
        return False
    if not _share_a_subject(_subject(supporting, one), _subject(contradicting, other)):
        return False
    if denies_another(supporting, contradicting):
        return False
    if max(len(one), len(other)) <= MAX_WORDS:
        match = SequenceMatcher(None, [token.form for token in one], [token.form for token in other], autojunk=False)
        common = sum(block.size for block in match.get_matching_blocks())
        if common >= SAME_FRAME * min(len(one), len(other)):
            another = _speaks_of_another(one, other, match.get_opcodes())
            return not (another or _has_another_label(supporting, contradicting))
    values = _values(one), _values(other)
    differ = values[0] and values[1] and values[0].isdisjoint(values[1])
    return not (differ and _has_another_qualifier(supporting, contradicting))


def _has_other_months(one: Sequence[_Token], other: Sequence[_Token]) -> bool:
    """Return true if two passages give other figures, and name months, none in common."""
    months = [{part for token in each for part in token.value.split() if part in MONTHS} for each in (one, other)]
    numbers = [{token.value for token in each if token.kind == "number"} for each in (one, other)]
    return all(months) and all(numbers) and months[0].isdisjoint(months[1]) and numbers[0].isdisjoint(numbers[1])


def _are_two_acts(supporting: str, contradicting: str, one: Sequence[_Token], other: Sequence[_Token]) -> bool:
    """Return true if two instructions ask for two things that can both be done."""
    if not (_instructs(supporting) and _instructs(contradicting)) or _denies(supporting) != _denies(contradicting):
        return False
    numbers = [
        {token.value for token in each if token.kind == "number"} for each in (_unnumbered(one), _unnumbered(other))
    ]
    if all(numbers) and numbers[0] != numbers[1]:
        return False
    forms = [[token.form for token in each] for each in (one, other)]
    changed = [
        step for step in SequenceMatcher(None, forms[0], forms[1], autojunk=False).get_opcodes() if step[0] != "equal"
    ]
    if [(tag, end - start, other_end - other_start) for tag, start, end, other_start, other_end in changed] != [
        ("replace", 1, 1)
    ]:
        return True
    names = {
        stem(key_of(word))
        for text in (supporting, contradicting)
        for name in read_details(text).names
        for word in str(name).split()
    }
    return forms[0][changed[0][1]] in names or forms[1][changed[0][3]] in names


def _unnumbered(tokens: Sequence[_Token]) -> Sequence[_Token]:
    """Return tokens without the number of a step before them: "Step 5: click", "5 Click"."""
    start = int(bool(tokens) and tokens[0].form == stem("step"))
    return tokens[start + (len(tokens) > start and tokens[start].kind == "number") :]


def _instructs(text: str) -> bool:
    return RECOMMENDATION.match(_PURPOSE.sub("", _STEP.sub("", text, count=1), count=1)) is not None


def _denies(text: str) -> bool:
    return any(governed for _, governed in read_details(text).clauses)


def denies_another(supporting: str, contradicting: str) -> bool:
    """Return true if one passage denies something of a subject that the other does not name.

    Args:
        supporting: the passage that supports a claim.
        contradicting: the passage that contradicts the claim.
    """
    denials = _denies(supporting), _denies(contradicting)
    if denials[0] == denials[1]:
        return False
    text, rest = (supporting, contradicting) if denials[0] else (contradicting, supporting)
    first = next((token.form for token in _tokens(text) if token.tells), "")
    names = {stem(key_of(word)) for name in read_details(text).names for word in str(name).split()}
    return bool(first) and first not in names and first not in {token.form for token in _tokens(rest)}


def _share_a_subject(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return true if two passages have most of the shorter one's words in common."""
    return len(one & other) >= max(1, SAME_SUBJECT * min(len(one), len(other)))


def _subject(text: str, tokens: Sequence[_Token]) -> frozenset[str]:
    """Return the words that tell something, without the names, which are values."""
    names = {stem(key_of(word)) for name in read_details(text).names for word in str(name).split()}
    return frozenset(token.form for token in tokens if token.tells) - names


def _speaks_of_another(
    one: Sequence[_Token], other: Sequence[_Token], steps: Sequence[tuple[str, int, int, int, int]]
) -> bool:
    numbers = qualifiers = 0
    for tag, start, end, other_start, other_end in steps:
        parts = one[start:end], other[other_start:other_end]
        if tag == "equal":
            changed = [mine.kind for mine, theirs in zip(*parts, strict=True) if mine.value != theirs.value]
            numbers += changed.count("number")
            qualifiers += changed.count("date")
        elif tag == "replace":
            telling = [{token.form for token in part if token.tells} for part in parts]
            qualifiers += bool(telling[0] and telling[1])
        if tag != "equal" and any(_names_another_head(part) for part in parts):
            return True
    return qualifiers > 1 or bool(qualifiers and numbers)


def _names_another_head(part: Sequence[_Token]) -> bool:
    """Return true if an added part is of the form "the battery of"."""
    return bool(part) and part[-1].value in _OF and any(token.tells for token in part)


def _tokens(text: str) -> list[_Token]:
    """Return the values, the words that tell something and each "of", in order."""
    found: list[_Token] = []
    for written in _WORD.findall(text):
        word = key_of(written)
        token = _token(word)
        if found and _is_one_date(found[-1], token):
            token = _Token("@", "date", f"{found.pop().value} {word}", tells=False)
        if token.tells or token.kind != "word" or word in _OF:
            found.append(token)
    return found


def _is_one_date(first: _Token, second: _Token) -> bool:
    """Return true if two tokens belong to one date, as in "3 May 2024"."""
    if first.kind == "word" or second.kind == "word":
        return False
    parts = f"{first.value} {second.value}".split()
    return any(part in MONTHS for part in parts) and all(
        part in MONTHS or _DAY.fullmatch(part) or _YEAR.fullmatch(part) for part in parts
    )


def _token(word: str) -> _Token:
    if word in WEEKDAYS:
        return _Token("@", "date", str(WEEKDAYS[word]), tells=False)
    if word in MONTHS or _YEAR.fullmatch(word):
        return _Token("@", "date", word, tells=False)
    if word[0].isdigit() and not any(character.isalpha() for character in word):
        return _Token("#", "number", word, tells=False)
    if word in NUMBER_WORDS or word == "one":
        return _Token("#", "number", f"{NUMBER_WORDS.get(word, 1.0):g}", tells=False)
    tells = (word not in STOP_WORDS or word in _PLACES) and word not in _NEUTRAL
    return _Token(stem(word), "word", word, tells=tells)


def _values(tokens: Sequence[_Token]) -> frozenset[str]:
    return frozenset(token.value for token in tokens if token.kind != "word")


def _has_another_label(one: str, other: str) -> bool:
    """Return true if two passages of other words have versions, steps or the like, and none in common."""
    mine, theirs = _labels(one), _labels(other)
    return bool(mine and theirs and not mine & theirs) and _letters(one) != _letters(other)


def _letters(text: str) -> frozenset[str]:
    return frozenset(word for word in map(key_of, _WORD.findall(text)) if not word[0].isdigit())


def _labels(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((match[0].lower(), match[1]) for match in _LABEL.findall(text))


def _has_another_qualifier(one: str, other: str) -> bool:
    """Return true if both passages have days, identifiers, labels or names, and none in common."""
    return any(
        mine and theirs and not mine & theirs for mine, theirs in zip(_qualifiers(one), _qualifiers(other), strict=True)
    )


def _qualifiers(text: str) -> tuple[frozenset[object], ...]:
    details = read_details(text)
    identifiers = frozenset(key_of(match) for match in _IDENTIFIER.findall(text))
    return read_weekdays(text), identifiers, _labels(text), details.codes, details.names
