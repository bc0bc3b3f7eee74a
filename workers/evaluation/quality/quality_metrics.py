"""Compute the four quality metrics: relevance, completeness, clarity and actionability.

Every metric is a score in 0..1, or null if it does not apply. The functions are pure. Each docstring gives the formula.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workers.evaluation.quality.query_kinds import QueryForm, query_parts
from workers.evaluation.text.structure.segmentation import Sentence
from workers.evaluation.text.words import content_words

UNRELATED_COSINE, RELATED_COSINE = 0.1, 0.5
"""Cosines of a query and the best sentence of its answer that map to 0 and to 1. Measured with all-MiniLM-L6-v2 on 388
real answers (clapnq_human, RAGTruth train slice, ExpertQA): nine in ten are above 0.5 with their own query, and
below 0.2 with another query.
"""
MEANING_SHARE = 0.7
"""Weight of the cosine in relevance; the rest is the weight of words. With it 3 % of those answers are below the
threshold of 0.7, and 99 % of the mismatched ones.
"""

SUFFICIENT_LENGTH: dict[QueryForm, int] = {"explanation": 100, "action": 100, "open": 20, "factual": 0}
"""Minimum code points of a just complete answer."""
FULL_LENGTH: dict[QueryForm, int] = {"explanation": 300, "action": 300, "open": 100, "factual": 0}
"""Minimum code points of a fully complete answer."""
JUST_COMPLETE = 0.6
"""Completeness score at the minimum length, equal to the default threshold."""
CUT_OFF_FACTOR = 0.5
"""Factor for truncated answers, which keeps them below 0.6 at any length."""
ADDRESSED_COSINE = 0.3
"""Cosine from which a sentence answers a part of the question: halfway between the value of other questions (0.2, see
above) and of related ones.
"""
MAX_PARTS = 3
"""Maximum number of parts of a question that raise the expected length."""


def relevance(
    query: str, answer: str, query_vector: NDArray[np.float32], sentence_vectors: Sequence[NDArray[np.float32]]
) -> float:
    """Score the relevance of an answer to its query.

    The score is 0.7 x meaning (the cosine of the query and the
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
    """Return true if the answer covers a part of the question, by cosine (at least 0.3) or by half of its words."""
    cosine = max((float(np.dot(part_vector, vector)) for vector in vectors), default=0.0)
    asked = content_words(part)
    return cosine >= ADDRESSED_COSINE or (bool(asked) and len(asked & answer_words) >= len(asked) / 2)


def completeness(length: int, query: str, form: QueryForm, *, cut_off: bool, addressed: float = 1.0) -> float:
    """Score the completeness of an answer by its length, its ending and the parts of the question.

    An explanation or instruction is just complete (0.6) at 100 code points and fully at 300,
    times the parts of the question; a fact needs no length, since "Paris." is complete;
    without a query no length is expected. An unaddressed part of the question costs its share;
    a truncated answer loses half of its score.

    Args:
        length: length of the answer without courtesies, code points.
        query: the query.
        form: form of the query.
        cut_off: whether the answer ends abruptly.
        addressed: share of the question's parts that the answer covers.
    """
    score = 1.0
    if query.strip() and form != "factual":
        parts = min(MAX_PARTS, max(1, len(query_parts(query))))
        score = _length_score(length, SUFFICIENT_LENGTH[form] * parts, FULL_LENGTH[form] * parts)
    return score * addressed * (CUT_OFF_FACTOR if cut_off else 1.0)


def prose_length(text: str, sentences: Sequence[Sentence]) -> int:
    """Return the length of the answer from its first to its last sentence, in code points."""
    return sentences[-1].end - sentences[0].start if sentences else len(text.strip())


def _length_score(length: int, sufficient: int, full: int) -> float:
    if length < sufficient:
        return JUST_COMPLETE * length / sufficient
    if length >= full:
        return 1.0
    return JUST_COMPLETE + (1 - JUST_COMPLETE) * (length - sufficient) / (full - sufficient)


EASY_SENTENCE, HARD_SENTENCE = 20, 40
"""Mean words per sentence with no deduction and with the full deduction; at 30 words it is 0.2."""
LONG_SENTENCES_COST = 0.4
EASY_PARAGRAPH, HARD_PARAGRAPH = 120, 240
"""Words of the longest paragraph with no deduction and with the full deduction:
about half a screen and a full screen.
"""
LONG_PARAGRAPH_COST = 0.2
EASY_WORDS, HARD_WORDS = 0.40, 0.65
"""Share of words of more than six letters with no deduction and with the full deduction. This is the second half of the
readability index LIX (Björnsson 1968), which works for any language; the first half is the sentence length. News is
near 0.3, legal German near 0.5.
"""
HARD_WORDS_COST = 0.1
LONG_WORD = 6


def clarity(text: str, sentences: Sequence[Sentence]) -> float | None:
    """Score the readability of an answer.

    The score starts at 1.0 and missing structure lowers it: up to
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
    """Return the word count of the longest run of paragraph sentences without a blank line or another block."""
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
"""Scores for steps, commands and verbs."""


def actionability(text: str, sentences: Sequence[Sentence], form: QueryForm) -> float | None:
    """Score the share of instructions that a reader can follow; ``None`` unless the query asks for action.

    The score is 0.4 for steps (two list items, or two different instructions), 0.3 for
    commands (code), 0.3 for an instruction: a verb in the position of an imperative. It is also null for
    scripts whose verbs are unknown.
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
