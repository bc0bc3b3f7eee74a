"""Collect units of evidence from contexts and select the units nearest to a claim.

Shapes: n claims, m units, v distinct words of the claims. Everything over n × m is one matrix
multiplication; there is no loop over pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schemas.answers import ContextChunk
from workers.evaluation.facts.dates import unnamed_days
from workers.evaluation.facts.evidence_units import segment_source
from workers.evaluation.facts.forms.gapped_clauses import restore_gapped
from workers.evaluation.facts.forms.left_out_words import restore_left_out
from workers.evaluation.facts.forms.refuted_statements import is_labelled_untrue, read_ruled_row, restore_refuted
from workers.evaluation.text.languages.language import known_language
from workers.evaluation.text.languages.local_forms import local_forms
from workers.evaluation.text.languages.local_words import content_words
from workers.evaluation.text.wording import plain_text, written_text
from workers.evaluation.text.words import stem

Matrix = NDArray[np.float32]

MAX_UNITS = 800
"""Maximum number of units of evidence for one answer. If there are more, those with the most words in common with the
answer are kept (200 contexts of 100,000 code points are allowed).
"""
MAX_TEXT = 1_000
"""Maximum length of the text of a unit, code points; a longer one is cut."""
TOP = 3
"""Number of units that a claim is compared with word by word and number by number."""


@dataclass(frozen=True, slots=True)
class EvidenceUnit:
    """Describe a unit of a context chunk.

    Attributes:
        number: position of the chunk among the contexts, from 1.
        chunk_id: the retriever's name for the chunk.
        start: offset in the chunk's content, code points.
        end: offset after its last character.
        text: plain text in the form in which it is compared.
        words: stems of its content words.
        of_record: whether it is part of a record or table rather than of a text.
        language: its language, ISO 639-1.
        written: the text as its source has it, for readers, if it differs.
    """

    number: int
    chunk_id: str
    start: int
    end: int
    text: str
    words: frozenset[str]
    of_record: bool = False
    language: str = "en"
    written: str = ""

    @property
    def excerpt(self) -> str:
        """Return the text for readers, which is never the form in which texts are compared."""
        return self.written or self.text


def collect_evidence(
    contexts: Sequence[ContextChunk], answer_words: frozenset[str], language: str = "en"
) -> tuple[EvidenceUnit, ...]:
    """Collect the units of all contexts, in order, at most ``MAX_UNITS``.

    Args:
        contexts: the chunks that the model was given.
        answer_words: stems of the answer, which select units if there are too many.
        language: language of the answer, for chunks that show none.
    """
    units = []
    for number, chunk in enumerate(contexts, 1):
        own = known_language(chunk.content) or language
        if (own, language) == ("zh", "ja"):
            own = language  # a table or title in Japanese may have no kana
        before = ""
        ruled: dict[str, str] = {}
        for unit in segment_source(chunk.content):
            written = written_text(unit.written or unit.text)[:MAX_TEXT]
            text = restore_left_out(local_forms(plain_text(unit.text)[:MAX_TEXT], own), before)
            follows_question, before = before.endswith("?"), "" if unit.of_record else text.rstrip()
            for stated, of_record in _restated(text, ruled, own, of_record=unit.of_record):
                words = content_words(stated, own) | frozenset(map(stem, unnamed_days(stated)))
                if words or (follows_question and stated.strip()):
                    place = (number, chunk.chunk_id, unit.start, unit.end)
                    shown = written if stated != written else ""
                    units.append(EvidenceUnit(*place, stated, words, of_record, own, shown))
    if len(units) > MAX_UNITS:
        common = np.array([len(unit.words & answer_words) for unit in units])
        # A stable sort prefers earlier units: retrievers rank the best first.
        kept = np.sort(np.argsort(-common, kind="stable")[:MAX_UNITS])
        units = [units[index] for index in kept]
    return tuple(map(_with_verbs, units))


def _restated(text: str, ruled: dict[str, str], language: str, *, of_record: bool) -> Iterator[tuple[str, bool]]:
    """Yield a text of a source with the denials of what it calls untrue, and whether it is a record.

    A row that calls a statement true or untrue is a sentence and the rest of the row.

    Args:
        text: a sentence, row or field.
        ruled: the sentences for fields of such rows, to which those of this row are added.
        language: its language.
        of_record: whether it is a row or field.
    """
    if language != "en":
        yield from () if is_labelled_untrue(text) else ((text, of_record),)
    elif of_record and (row := read_ruled_row(text)):
        ruled[row.field] = row.stated
        yield from ((part, is_rest) for part, is_rest in ((row.stated, False), (row.rest, True)) if part)
    else:
        yield (ruled[text], False) if text in ruled else (restore_refuted(text), of_record)


def _with_verbs(unit: EvidenceUnit) -> EvidenceUnit:
    """Return an English sentence whose clauses all have their verb."""
    if unit.of_record or unit.language != "en" or (text := restore_gapped(unit.text)) == unit.text:
        return unit
    return replace(unit, text=text, words=unit.words | content_words(text, "en"), written=unit.written or unit.text)


def single_units(units: Sequence[EvidenceUnit]) -> list[int]:
    """Return the indices of the units that contain no other unit: fields, not the flattened record.

    If escapes hide the position of sentences in a field, all have the span of the whole field; none contains another.
    """
    ends: dict[int, int] = {}
    last: dict[int, tuple[int, int]] = {}
    single = []
    for index in sorted(range(len(units)), key=lambda each: (units[each].start, units[each].end), reverse=True):
        unit = units[index]
        place = (unit.start, unit.end)
        if unit.end <= ends.get(unit.number, unit.end) or place == last.get(unit.number):
            single.append(index)
            ends[unit.number], last[unit.number] = unit.start, place
    return sorted(single)


def joined_units(units: Sequence[EvidenceUnit]) -> str:
    """Return the texts of the units that contain no other unit, one a line."""
    return "\n".join(units[index].text for index in single_units(units))


def word_cosines(claims: Sequence[frozenset[str]], units: Sequence[frozenset[str]]) -> Matrix:
    """Compute the cosine of the word sets of each claim and unit, shape [n, m], 0..1.

    The cosine of two sets is the number of common words over the square root of the product of their sizes (Salton and
    McGill, 1983). That a text has a figure counts as a word of it: a claim with a sum is about figures that it does
    not name. The cosine depends on the pair alone, so that another claim or source changes no value.
    """
    claims, units = [_with_figure(words) for words in claims], [_with_figure(words) for words in units]
    own = np.array([max(1, len(words)) for words in claims], dtype=np.float32).reshape(-1, 1)
    sizes = own * np.array([max(1, len(words)) for words in units], dtype=np.float32)
    cosines: Matrix = (shared_words(claims, units) / np.sqrt(sizes)).astype(np.float32)
    return np.clip(cosines, 0.0, 1.0)


def _with_figure(words: frozenset[str]) -> frozenset[str]:
    return words | {"#"} if any(word[0].isdigit() for word in words) else words


def _product(rows: Matrix, others: Matrix) -> Matrix:
    """Compute the scalar products of finite rows, shape [n, m].

    OpenBLAS's kernels for wide vectors can set the processor's flag for invalid values from unused lanes.
    NumPy then warns although all products are finite. Therefore the warning is suppressed here.
    """
    with np.errstate(invalid="ignore"):
        return rows @ others.T


def shared_words(claims: Sequence[frozenset[str]], units: Sequence[frozenset[str]]) -> Matrix:
    """Count the words that each claim shares with each unit, shape [n, m]."""
    owned, present = _incidence(claims, units)
    return _product(owned, present)


def _incidence(claims: Sequence[frozenset[str]], units: Sequence[frozenset[str]]) -> tuple[Matrix, Matrix]:
    """Return the incidence of claim words in claims and in units, shapes [n, v] and [m, v], 0 or 1."""
    vocabulary = {word: index for index, word in enumerate(sorted(frozenset().union(*claims)))}
    owned = np.zeros((len(claims), len(vocabulary)), dtype=np.float32)
    present = np.zeros((len(units), len(vocabulary)), dtype=np.float32)
    for row, words in enumerate(claims):
        owned[row, [vocabulary[word] for word in words]] = 1.0
    for row, words in enumerate(units):
        present[row, [vocabulary[word] for word in words if word in vocabulary]] = 1.0
    return owned, present


def nearest(
    similarity: Matrix, claims: Sequence[frozenset[str]], units: Sequence[frozenset[str]], count: int = TOP
) -> NDArray[np.intp]:
    """Return the indices of the best units of each claim, best first, shape [n, min(count, m)].

    The next unit is the one with the highest sum of its cosine (for a unit with fewer words than the claim the share of
    the claim's words: being short says nothing about the others) and the share of the claim's words that it has and that
    earlier ones lack, so that the parts of a calculation are found beside the unit with most words. Rare words count
    more: the weight of a word is ``log(1 + m / units with it)``, and a word that no unit has weighs the same as a word
    in one unit.

    Args:
        similarity: cosines of n claims and m units, shape [n, m].
        claims: stems of each claim's content words.
        units: stems of each unit's content words.
    """
    owned, present = _incidence(claims, units)
    sizes = np.array([[max(1, len(words))] for words in claims]), np.array([len(words) for words in units])
    close = similarity * np.minimum(1.0, np.sqrt(sizes[1] / sizes[0]))
    left = owned * np.log1p(len(units) / np.maximum(present.sum(axis=0), 1.0)).astype(np.float32)
    totals = np.maximum(left.sum(axis=1, keepdims=True), 1e-9)
    rows = np.arange(len(claims))
    chosen = np.zeros((len(claims), min(count, len(units))), dtype=np.intp)
    for place in range(chosen.shape[1]):
        # Of equals the earliest is taken: retrievers rank the best first.
        best = (close + _product(left, present) / totals).argmax(axis=1)
        chosen[:, place] = best
        close[rows, best] = -np.inf
        left *= 1.0 - present[best]
    return chosen
