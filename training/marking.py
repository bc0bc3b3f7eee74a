"""Mark the subject and a value of a claim in the claim and its evidence, the input of the reader of ownership.

"Bob was born in 1815" over "Ann was born in 1815. Bob was born in 1791." becomes "alpha was born in omega" over "Ann was
born in omega. alpha was born in 1791." Entity markers (Baldini Soares et al. 2019; Zhou and Chen 2022) tell a small
encoder which words are meant. Training writes its pairs with the same markers.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workers.evaluation.clauses.parser import parse
from workers.evaluation.facts.units import NUMBER_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

SUBJECT, VALUE = "alpha", "omega"
"""Marker words; each is one word piece of the model."""
MAX_WINDOW = 700
"""Maximum length of the evidence of a pair, code points."""
MAX_VALUES = 3
"""Maximum number of values of a claim that are read."""

MAX_NAMED = 8
"""Maximum number of words of a claim whose names are read; longer ones tell several things of a name."""
MAX_RIVALS = 4
"""Maximum number of other values that are read for one of a claim."""

_SKIPPED = frozenset({"DET", "PRON", "ADP", "PUNCT"})
_ANAPHOR = re.compile(
    r"\W*(?:it|its|he|his|she|her|they|their|this|these|the (?:former|latter|first|second))\b", re.IGNORECASE
)
_FIGURE = re.compile(rf"\d[\d.,]*|\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
_CURRENCY = re.compile(r"[$€£]\s?$")
_UNIT = re.compile(r"\s?-?([A-Za-z%°]+)")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")


class MarkedPair(NamedTuple):
    """Hold the input of the reader.

    Attributes:
        evidence: sentences of the evidence, at most ``MAX_WINDOW`` code points.
        claim: the claim.
    """

    evidence: str
    claim: str


class Ownership(NamedTuple):
    """Hold a value of a claim, and the values of its kind that compete with it.

    Attributes:
        stated: the pair in which the claim's value is marked.
        rivals: the pairs in which another value of its kind takes its place.
    """

    stated: MarkedPair
    rivals: tuple[MarkedPair, ...]


def ownerships(claim: str, question: str, sentences: Sequence[str]) -> list[Ownership]:
    """Return the values of a claim for which other values of the evidence compete.

    Args:
        claim: the claim, in English.
        question: the question, if the claim has its subject from there; empty otherwise.
        sentences: the evidence in order.
    """
    text = f"{question} {claim}".strip()
    evidence = "\n".join(sentences)
    subject = next((each for each in _subjects(parse(question or claim)) if _pattern(each).search(evidence)), "")
    if not subject:
        return []
    found = []
    for value in [each for each in _values(parse(claim)) if not _overlap(subject, each)][:MAX_VALUES]:
        stated = mark(text, subject, value, sentences)
        if stated is None:
            continue
        rivals = _rivals(value, _pattern(subject).sub(SUBJECT, evidence))
        pairs = [mark(text, subject, rival, sentences, shown=(subject, value)) for rival in rivals]
        if kept := tuple(pair for pair in pairs if pair is not None):
            found.append(Ownership(stated, kept))
    return found


def _rivals(value: str, evidence: str) -> list[str]:
    """Return the other values of a kind in the evidence: figures with the same unit, years or names."""
    if _is_figure(value):
        units = {_unit(evidence, each) for each in _pattern(value, with_article=False).finditer(evidence)}
        others = (each for each in _FIGURE.finditer(evidence) if _unit(evidence, each) in units)
        found = dict.fromkeys(each.group().strip(".,") for each in others)
        is_year = _YEAR.fullmatch(value) is not None
        return [each for each in found if each != value and (_YEAR.fullmatch(each) is not None) == is_year][:MAX_RIVALS]
    chunks = (_text(_bare(chunk)) for chunk in parse(evidence).noun_chunks if chunk.root.pos_ == "PROPN")
    return [each for each in dict.fromkeys(chunks) if each and SUBJECT not in each and not _overlap(each, value)][
        :MAX_RIVALS
    ]


def _is_figure(value: str) -> bool:
    return _FIGURE.match(value) is not None


def _unit(text: str, number: re.Match[str]) -> str:
    """Return the currency before a figure or the word after it."""
    before, after = _CURRENCY.search(text[: number.start()]), _UNIT.match(text, number.end())
    return before.group() if before else after.group(1).lower() if after else ""


def mark(
    claim: str, subject: str, value: str, sentences: Sequence[str], shown: tuple[str, str] | None = None
) -> MarkedPair | None:
    """Mark a subject and a value; return ``None`` where claim or evidence lacks one of them.

    Args:
        claim: the claim.
        subject: its subject, as the evidence names it.
        value: its value, as the evidence names it.
        sentences: the evidence in order; those that name neither are left out.
        shown: subject and value as the claim names them, if otherwise.
    """
    own, other = _pattern(subject), _pattern(value, with_article=False)
    chosen: set[int] = set()
    for number, sentence in enumerate(sentences):
        if other.search(sentence) or own.search(sentence):
            chosen.add(number)
            if number and _ANAPHOR.match(sentence):
                chosen.add(number - 1)
            if number + 1 < len(sentences) and _ANAPHOR.match(sentences[number + 1]):
                chosen.add(number + 1)
    text = " ".join(sentences[number] for number in sorted(chosen))
    evidence = own.sub(SUBJECT, other.sub(VALUE, text))[:MAX_WINDOW]
    if shown is not None:
        own, other = _pattern(shown[0]), _pattern(shown[1], with_article=False)
    stated = own.sub(SUBJECT, other.sub(VALUE, claim))
    is_whole = all(marker in each for marker in (SUBJECT, VALUE) for each in (evidence, stated))
    return MarkedPair(evidence, stated) if is_whole else None


def _values(doc: "Doc") -> Iterator[str]:
    """Yield the figures and names of a claim."""
    figures = dict.fromkeys(token.text.strip(".,") for token in doc if any(letter.isdigit() for letter in token.text))
    figures |= dict.fromkeys(token.text for token in doc if _is_spelled(token))
    yield from figures
    if sum(not token.is_punct for token in doc) > MAX_NAMED:
        return
    for chunk in doc.noun_chunks:
        words = _bare(chunk)
        if words and words[-1].pos_ == "PROPN" and not any(word.text.strip(".,") in figures for word in words):
            yield _text(words)


def _is_spelled(token: "Token") -> bool:
    """Return true for a number in words that is no part of another ("29 million") or of an order ("second")."""
    is_number = token.like_num and token.text.isalpha() and token.dep_ != "amod"
    return is_number and not (token.i and token.nbor(-1).like_num)


def _subjects(doc: "Doc") -> Iterator[str]:
    """Yield what the evidence may call the claim's subject, the fullest first."""
    chunks = [each for each in doc.noun_chunks if each.root.dep_.startswith("nsubj") and each.root.pos_ != "PRON"]
    if not chunks:
        return
    words = _bare(chunks[0])
    root = chunks[0].root
    if not words or any(word.like_num for word in words):
        return
    owners = [token for token in root.children if token.dep_ == "poss"]
    owners += [
        word for token in root.children if token.lower_ == "of" and root.text.islower() for word in token.children
    ]
    for owner in owners:
        yield _text([word for word in owner.subtree if word.pos_ not in _SKIPPED and word.tag_ != "POS"])
    if not owners:
        yield chunks[0].text
        yield _text(words)
        if len(words) > 1 and all(word.pos_ == "PROPN" for word in words):
            yield words[-1].text


def _bare(chunk: "Span") -> "list[Token]":
    words = list(chunk)
    while words and words[0].pos_ in _SKIPPED:
        words = words[1:]
    return words


def _text(words: "Sequence[Token]") -> str:
    return "".join(word.text_with_ws for word in words).strip()


def _overlap(one: str, two: str) -> bool:
    return bool(set(one.lower().split()) & set(two.lower().split()))


def _pattern(name: str, *, with_article: bool = True) -> re.Pattern[str]:
    article = r"(?:the\s+)?" if with_article else ""
    return re.compile(rf"(?<![\w.,]){article}{re.escape(name) or '(?!)'}(?!\w|[.,]\d)", re.IGNORECASE)
