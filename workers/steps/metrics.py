"""The four quality metrics of seed 000, each with its flaws mended.

Every metric is a score in 0..1, or null where it does not apply. Pure functions; what they
rest on is said in each docstring, so that a reader can redo the sum.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workers.steps.queries import QueryForm, query_parts
from workers.steps.segmentation import Sentence
from workers.steps.words import content_words

UNRELATED_COSINE, RELATED_COSINE = 0.1, 0.5
"""Cosine of a query and the best sentence of its answer that counts as 0 and as 1. Measured
with all-MiniLM-L6-v2 on 388 real answers (clapnq_human, RAGTruth train slice, ExpertQA): nine
in ten lie above 0.5 with their own query, below 0.2 with another one."""
MEANING_SHARE = 0.7
"""Weight of meaning in relevance, the rest is words; with it 3 % of those answers fall below
the threshold of 0.7, and 99 % of the mismatched ones."""

SUFFICIENT_LENGTH: dict[QueryForm, int] = {"explanation": 100, "action": 100, "open": 20, "factual": 0}
"""Code points from which an answer is just complete: 100 of seed 000, 20 of seed 003."""
FULL_LENGTH: dict[QueryForm, int] = {"explanation": 300, "action": 300, "open": 100, "factual": 0}
"""Code points from which an answer is fully complete: 300 and 100 of seed 000."""
JUST_COMPLETE = 0.6
"""Completeness at the sufficient length: the threshold of seed 000."""
CUT_OFF_FACTOR = 0.5
"""A cut-off answer is incomplete however long it is: this keeps it below 0.6."""
ADDRESSED_COSINE = 0.3
"""Cosine from which a sentence takes a part of the question up: halfway between what other
questions reach (0.2, see above) and what counts as related."""
MAX_PARTS = 3
"""Parts of a question that raise the expected length."""


def relevance(
    query: str, answer: str, query_vector: NDArray[np.float32], sentence_vectors: Sequence[NDArray[np.float32]]
) -> float:
    """Whether the answer is about what was asked.

    Seed 000 counted words of the query in the answer, stop words and punctuation included,
    and asked for meaning in production. Here: 0.7 x meaning (the cosine of the query and the
    best sentence, mapped from 0.1..0.5 to 0..1) + 0.3 x share of the query's content words
    found in the answer; only meaning if the query has no content words.
    """
    cosine = max((float(np.dot(query_vector, vector)) for vector in sentence_vectors), default=0.0)
    meaning = min(1.0, max(0.0, (cosine - UNRELATED_COSINE) / (RELATED_COSINE - UNRELATED_COSINE)))
    asked = content_words(query)
    if not asked:
        return meaning
    overlap = len(asked & content_words(answer)) / len(asked)
    return MEANING_SHARE * meaning + (1 - MEANING_SHARE) * overlap


def part_is_addressed(
    part: str, answer_words: frozenset[str], part_vector: NDArray[np.float32], vectors: Sequence[NDArray[np.float32]]
) -> bool:
    """Whether a part of the question is taken up: by meaning (cosine at least 0.3) or by half of its words."""
    cosine = max((float(np.dot(part_vector, vector)) for vector in vectors), default=0.0)
    asked = content_words(part)
    return cosine >= ADDRESSED_COSINE or (bool(asked) and len(asked & answer_words) >= len(asked) / 2)


def completeness(length: int, query: str, form: QueryForm, *, cut_off: bool, addressed: float = 1.0) -> float:
    """Whether the answer is all there, by its length, its ending and the parts of the question.

    Seed 000 could not reach its branch for more than 300 characters, crashed on an empty
    answer, demanded a second paragraph and accepted only '.' and '!' at the end. Here: an
    explanation or instruction is just complete (0.6) at 100 code points and fully at 300,
    times the parts of the question; a fact needs no length, since "Paris." is complete;
    without a query nothing is known of what was asked, and no length is expected. A part of
    the question that is not taken up costs its share, and an answer that is cut off half.

    Args:
        length: of the answer without courtesies, code points.
        query: what was asked.
        form: its form.
        cut_off: whether the answer ends abruptly.
        addressed: share of the question's parts that the answer takes up.
    """
    score = 1.0
    if query.strip() and form != "factual":
        parts = min(MAX_PARTS, max(1, len(query_parts(query))))
        score = _length_score(length, SUFFICIENT_LENGTH[form] * parts, FULL_LENGTH[form] * parts)
    return score * addressed * (CUT_OFF_FACTOR if cut_off else 1.0)


def prose_length(text: str, sentences: Sequence[Sentence]) -> int:
    """Length of the answer from its first to its last sentence, code points."""
    return sentences[-1].end - sentences[0].start if sentences else len(text.strip())


def _length_score(length: int, sufficient: int, full: int) -> float:
    if length < sufficient:
        return JUST_COMPLETE * length / sufficient
    if length >= full:
        return 1.0
    return JUST_COMPLETE + (1 - JUST_COMPLETE) * (length - sufficient) / (full - sufficient)


EASY_SENTENCE, HARD_SENTENCE = 20, 40
"""Mean words a sentence that cost nothing and most; at 000's limit of 30 the cost is its 0.2."""
LONG_SENTENCES_COST = 0.4
EASY_PARAGRAPH, HARD_PARAGRAPH = 120, 240
"""Words of the longest paragraph that cost nothing and most: about half a screen and a whole."""
LONG_PARAGRAPH_COST = 0.2
EASY_WORDS, HARD_WORDS = 0.40, 0.65
"""Share of words of more than six letters that cost nothing and most: the second half of the
readability index LIX (Björnsson 1968), whose first half is the sentence length; it knows no
language. News lies near 0.3, legal German near 0.5."""
HARD_WORDS_COST = 0.1
LONG_WORD = 6


def clarity(text: str, sentences: Sequence[Sentence]) -> float | None:
    """Whether the answer reads easily.

    Seed 000 began at 1.0, so that its bonuses for structure and code could raise nothing and
    its lowest value, 0.8, was never an issue. Here missing structure costs instead: up to
    0.4 for long sentences on average (20 to 40 words), up to 0.2 for the longest paragraph
    (120 to 240 words, which lists and headings break up) and up to 0.1 for many long words.
    Code belongs to actionability. Null without prose.
    """
    prose = [sentence for sentence in sentences if sentence.block in ("paragraph", "list_item")]
    if not prose:
        return None
    lengths = [len(sentence.text.split()) for sentence in prose]
    mean = sum(lengths) / len(lengths)
    longest = _longest_paragraph(text, sentences)
    return (
        1.0
        - LONG_SENTENCES_COST * _ramp(mean, EASY_SENTENCE, HARD_SENTENCE)
        - LONG_PARAGRAPH_COST * _ramp(longest, EASY_PARAGRAPH, HARD_PARAGRAPH)
        - HARD_WORDS_COST * _ramp(_long_words(prose), EASY_WORDS, HARD_WORDS)
    )


def _long_words(prose: Sequence[Sentence]) -> float:
    words = [word.strip(".,;:!?()[]*_`\"'") for sentence in prose for word in sentence.text.split()]
    return sum(len(word) > LONG_WORD for word in words) / len(words) if words else 0.0


def _ramp(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))


_PARAGRAPH_BREAK = re.compile(r"\n[ \t\r]*\n")


def _longest_paragraph(text: str, sentences: Sequence[Sentence]) -> int:
    """Words of the longest run of paragraph sentences without a blank line or another block."""
    longest = current = end = 0
    for sentence in sentences:
        if sentence.block != "paragraph" or _PARAGRAPH_BREAK.search(text, end, sentence.start):
            current = 0
        if sentence.block == "paragraph":
            current += len(sentence.text.split())
        longest, end = max(longest, current), sentence.end
    return longest


_STEP = re.compile(
    r"^[ \t>]*(?:\d{1,2}[.)]|[-*+•]|(?:step|schritt|étape|paso) \d{1,2}\b)[ \t:]", re.IGNORECASE | re.MULTILINE
)
_VERBS = (
    "run|execute|check|verify|configure|set|create|open|close|click|select|choose|press|restart|start|stop|install"
    "|uninstall|update|upgrade|enable|disable|add|remove|delete|edit|change|replace|copy|move|raise|increase|lower"
    "|reduce|use|apply|deploy|call|contact|ensure|make sure|wait|watch|monitor|inspect|review|test|connect|disconnect"
    "|go to|navigate|enter|type|save|clean|tighten|turn|switch|reset|reboot|scale|roll back|drain|mount|unmount"
    "|führen|prüfen|öffnen|starten|setzen|wählen|klicken|installieren|stellen|ändern|entfernen"
    "|exécutez|vérifiez|ouvrez|cliquez|choisissez|installez|redémarrez|ajoutez|supprimez"
    "|ejecute|ejecuta|compruebe|comprueba|verifique|abra|abre|haga clic|seleccione|instale|instala|reinicie|reinicia"
)
_INSTRUCTION = re.compile(
    rf"(?:^|[.:;,(\n]|[-*+•]|\d[.)]|\b(?:then|and|or|to|please|should|must|can|now|first|next|finally|und|dann|bitte|et|puis"
    rf"|y|luego))[ \t*_]{{1,60}}+({_VERBS})\b|^({_VERBS})\b",
    re.IGNORECASE | re.MULTILINE,
)
STEPS_SCORE, COMMANDS_SCORE, VERBS_SCORE = 0.4, 0.3, 0.3
"""What seed 000 gives for steps, commands and verbs."""


def actionability(text: str, sentences: Sequence[Sentence], form: QueryForm) -> float | None:
    """Whether the reader can act on the answer; null unless the query asks for action.

    Seed 000 asked every answer for steps, took "in 2025. " for one and found "set" in
    "setting". Here: 0.4 for steps (two list items, or two different instructions), 0.3 for
    commands (code), 0.3 for an instruction: a verb at a word's boundary where an imperative
    stands. Null as well for scripts whose verbs are not known.
    """
    if form != "action" or _is_foreign_script(text):
        return None
    prose = "\n".join(sentence.text for sentence in sentences if sentence.block in ("paragraph", "list_item"))
    verbs = {(match[1] or match[2]).casefold() for match in _INSTRUCTION.finditer(prose)}
    items = sum(sentence.block == "list_item" for sentence in sentences)
    has_steps = len(verbs) >= 2 or (items >= 2 and len(_STEP.findall(text)) >= 2)
    has_commands = "`" in text or any(sentence.block == "code" for sentence in sentences)
    return STEPS_SCORE * has_steps + COMMANDS_SCORE * has_commands + VERBS_SCORE * bool(verbs)


def _is_foreign_script(text: str) -> bool:
    letters = [character for character in text[:2_000] if character.isalpha()]
    return bool(letters) and sum(character < "\u0250" for character in letters) < len(letters) / 2
