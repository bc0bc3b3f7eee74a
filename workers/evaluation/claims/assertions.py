"""Tell whether a text states something that sources can support or contradict, whatever form it has.

Headings, footnotes, lines of code, entries of a reference list and questions mostly state nothing. A statement can
hide in each of them; these rules find it by a verb or by a figure with its unit.
"""

import re
from collections.abc import Iterator

from workers.evaluation.claims.clauses import has_verb
from workers.evaluation.facts.dates import read_dates
from workers.evaluation.facts.quantities import read_quantities

MIN_WORDS = 4
"""Minimum number of words of a statement."""
MIN_CHARACTERS = 8
"""Minimum length in code points of a statement in a script without spaces."""
MAX_LENGTH = 1_000
"""Maximum number of code points that are read to find a statement."""

_WORD = re.compile(r"[^\W_]+")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_OTHER_SCRIPT = re.compile(r"[^\W\d_A-Za-zÀ-ɏ]")
_DIGIT = re.compile(r"\d")
_ASKS = re.compile(
    r"(?:what|how|why|when|where|who|which|if|was|wie|warum|wann|wo|wer|welche[rsnm]?|comment|pourquoi|quand|qué|cómo)\b",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|ist|sind|war|hat|est|sont|es|son|è|sono|é|são)\b", re.IGNORECASE
)
_PRESUPPOSES = re.compile(
    r"(?:did|do) you (?:know|realise|realize)\b|were you aware\b|are you aware\b|(?:is|are|was|were|does|do|did|has|have)n['’]t\b"
    r"|wuss?ten sie\b|wissen sie\b|ist es nicht\b|saviez-vous\b|savez-vous\b|n['’]est-ce pas\b|¿?sab[íi]as?\b|lo sapev[ai]\b"
    r"|você sabia\b|wist u\b|знаете ли\b|вы знали\b|знали ли\b|разве\b",
    re.IGNORECASE,
)
_KNOWS = re.compile(
    r"¿?(?:(?:did|do) you (?:know|realise|realize)(?: that)?|(?:were|are) you aware(?: that)?|wuss?ten sie,?(?: dass)?|wissen sie,?(?: dass)?"
    r"|sa(?:viez|vez)-vous(?: qu[e'’])?|sab[íi]as?(?: usted)?(?: que)?|lo sapev[ai](?: che)?|você sabia(?: que)?|wist u(?: dat)?"
    r"|знаете ли(?: вы)?,?(?: что)?|вы знали,?(?: что)?|знали ли(?: вы)?,?(?: что)?)\s+",
    re.IGNORECASE,
)
_NEGATED_LEAD = re.compile(r"^(is|are|was|were|does|do|did|has|have)n['’]t\b", re.IGNORECASE)
_TAG_QUESTION = re.compile(
    r"[,;]\s*(?:right|correct|isn['’]t it|aren['’]t they|is it not|doesn['’]t it|wasn['’]t it|no|nicht wahr|oder|richtig"
    r"|n['’]est-ce pas|non|verdad|vero|não é|верно|правда)\W*$",
    re.IGNORECASE,
)
_LABEL_END = re.compile(r":(?=\s)|(?<=[^\W\d]):(?=\d)|：")
_LOOSE_LABEL_END = re.compile(r"\s[–—=-]\s|\s?[(（](?=[^()（）]{1,40}[)）]$)")
_YEAR_ALONE = re.compile(r"\W*[12]\d{3}(?:[–/-](?:[12]\d)?\d\d)?[年년]?\W*")
_FIGURE_ALONE = re.compile(r"\W*\d[\d\s.,:/–-]*[^\W\d]{0,10}(?:/[^\W\d]{1,10}|\W{0,2}\d[\d.,:/–-]*)?\W*")
"""A number or a date alone: one word at most stands behind the first figure, and further figures behind it."""
_COMMENT = re.compile(r"[ \t]*(?:#+!?|//+|/\*+|\*+|--+|;+|%+|<!--|\"\"\"|''')[ \t]*")
_COMMENT_ENDS = ("*/", "-->", '"""', "'''")
_PROSE_FENCES = frozenset(("", "text", "txt", "plain", "plaintext", "markdown", "md", "none"))
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*$")


def has_figure(text: str) -> bool:
    """Return true if a text has a number with its unit or a date; in other scripts than Latin, any digit."""
    text = text[:MAX_LENGTH]
    if not _DIGIT.search(text) and _LATIN.search(text) is None:
        return False
    if _DIGIT.search(text) and len(_OTHER_SCRIPT.findall(text)) > len(_LATIN.findall(text)):
        return True
    dates, rest = read_dates(text)
    return bool(dates) or any(quantity.is_unit for quantity in read_quantities(rest))


def asserts(text: str) -> bool:
    """Return true if a heading or a line states something: enough words, and a verb or a figure."""
    text = text[:MAX_LENGTH]
    if not _is_long_enough(text) or _ASKS.match(text):
        return has_figure(text) and _is_long_enough(text)
    return has_verb(text) or has_figure(text)


def gives_value(heading: str) -> bool:
    """Return true if a short heading gives its label a figure ("Dose: 500 mg"), or is nothing but a figure.

    A year alone is a title, as in "2024" and "Results: 2024".
    """
    heading = heading[:MAX_LENGTH]
    colon = _LABEL_END.search(heading)
    if colon:
        value = heading[colon.end() :]
        return not _YEAR_ALONE.fullmatch(value) and has_figure(value)
    loose = _LOOSE_LABEL_END.search(heading)
    return _is_figure(heading) or (loose is not None and _is_figure(heading[loose.end() :]))


def _is_figure(text: str) -> bool:
    alone = _FIGURE_ALONE.fullmatch(text) and not _YEAR_ALONE.fullmatch(text)
    return bool(alone) and has_figure(text)


def asserts_among_references(text: str) -> bool:
    """Return true if an entry of a list of references is a statement and not the name of a source."""
    text = text[:MAX_LENGTH]
    if not _is_long_enough(text) or "://" in text:
        return False
    is_sentence = text.rstrip().endswith((".", "!", "。")) and bool(_FINITE.search(text))
    return is_sentence or _has_amount(text)


def _has_amount(text: str) -> bool:
    if _DIGIT.search(text) and len(_OTHER_SCRIPT.findall(text)) > len(_LATIN.findall(text)):
        return True
    return any(quantity.is_unit for quantity in read_quantities(text))


def presupposes(question: str) -> bool:
    """Return true if a question states something: "Did you know that …?", "…, right?"."""
    return bool(_PRESUPPOSES.match(question.lstrip("¿ ")) or _TAG_QUESTION.search(question))


def without_question(question: str) -> str:
    """Return the statement that a presupposing question makes: without its lead, tag and negation."""
    bare = _TAG_QUESTION.sub(".", _KNOWS.sub("", question))
    return _NEGATED_LEAD.sub(r"\1", bare)


def statements_in_code(code: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the lines of a code block that state something.

    In a block of plain text each line counts, in a program only comments. Commands and settings state nothing.
    """
    first, _, _ = code.partition("\n")
    fence = _FENCE.match(first)
    is_prose = fence is None or fence["language"].lower() in _PROSE_FENCES
    position = 0
    for line in code.split("\n"):
        comment = _COMMENT.match(line)
        start, end = comment.end() if comment else len(line) - len(line.lstrip()), len(line.rstrip())
        if comment and line[:end].endswith(_COMMENT_ENDS):
            end = max(start, len(line[: end - 3].rstrip()))
        if start < end and (is_prose or comment) and not _FENCE.match(line) and _is_sentence_in_code(line[start:end]):
            yield position + start, position + end
        position += len(line) + 1


def _is_sentence_in_code(line: str) -> bool:
    if any(mark in line for mark in ("=", "{", "}", "();", "::", "->", " --", "|")):
        return False
    return asserts(line)


def _is_long_enough(text: str) -> bool:
    words = len(_WORD.findall(text))
    others = len(_OTHER_SCRIPT.findall(text))
    return words >= MIN_WORDS or (others >= MIN_CHARACTERS and others > len(_LATIN.findall(text)))
