"""Split a sentence or table row into the statements that it joins.

"Revenue was $4.2m, costs were $3.1m, and profit was $1.1m" contains three statements, of which one can be wrong.
The text is split without a parser, only at joints that the words identify:

| joint | condition | example |
|---|---|---|
| ``;`` | both sides have four words | "The limit is 4 GiB; the pod restarts after 3 minutes." |
| ``, and`` / ``, but`` | behind it a subject and a finite verb, before it a finite verb | "It has 2 GiB, and the limit
is 4 GiB." | | ``and`` / ``but`` | the same, and the verb is singular: two subjects would have a plural | "The pump
failed and the motor was replaced." | | ``and`` / ``but`` and a verb | the subject is that of the first part | "Loki
failed and was restarted twice." | | ``,`` | a subject and a finite verb, in a series that ends in ``, and`` | "A was 1,
B was 2, and C was 3." | | ``and`` and an imperative | the first part is an instruction as well | "Stop the pump and
close the valve." |

Not split: text in brackets, quotations, links and code; text after ``if``, ``that``, ``when`` and similar words in
the same clause, because it may depend on them; enumerations.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.wording import IMPERATIVES, plain_text
from workers.evaluation.text.words import word_set

MAX_SUBJECT = 6
"""Maximum number of words of a subject after a joint."""
MIN_WORDS = 3
"""Minimum number of words of a part."""
REACH = 300
"""Number of code points around a joint that are read; the limit bounds the time."""
MAX_PARTS = 50
"""Maximum number of parts of one sentence; the rest stays in the last part."""

_SINGULAR = word_set(
    "is was has does isn't wasn't hasn't doesn't ist war wurde hat wird est était fut"
    " costs uses runs needs requires contains supports includes takes lasts holds rises falls"
)
_AUXILIARIES = _SINGULAR | word_set(
    "are were have had do did will would can could should must may might cannot won't can't aren't weren't haven't"
    " hadn't didn't don't sind waren wurden haben hatte hatten werden kann können muss sont étaient ont avait"
)
_PAST = word_set(
    "fell rose grew lost gained ran took went became made began kept came got gave held left met paid said"
    " saw sent shut stood told thought won broke drew drove knew spent sold built bought caught died"
)
_FINITE = _AUXILIARIES | _PAST
_PLAIN_PAST = word_set("fell rose grew ran took went became began came gave saw broke drew drove knew died")
"""Past forms that are not participles; after a passive they begin a new clause."""
_PASSIVE = word_set("is are was were be been being has have had")
_PRONOUNS = word_set("it they he she this these those we you there er sie es dies ils elles il elle")
_SUBJECT_PRONOUNS = word_set("it they he she we you")
_DETERMINERS = word_set(
    "the a an its their his her our your each every all no some der die das ein eine le la les un une"
)
_SUBORDINATORS = word_set(
    "if when whenever unless until because since although though whether that where who what why how which while "
    "after before once"
    " than wenn falls weil dass ob si quand que parce"
)
_CONDITIONS = word_set(
    "if when whenever unless once while because since although though wenn falls weil während si quand"
)
_PREPOSITIONS = word_set("in on at by for with to from into over of after before during as under per than")
_NOUNS = word_set("costs uses runs needs supports takes holds rises falls")
"""Verbs that are also nouns; after a preposition they are nouns."""
_PAIRED = re.compile(r"\b(?:both|between|either|neither|zwischen|entre)\b", re.IGNORECASE)
_JOINT = re.compile(
    r"(?P<comma>,)?\s{1,9}(?P<word>and|but|und|aber|et|mais)\s(?:then\s|also\s|therefore\s)?|(?P<list>,)\s"
)
_TOKEN = re.compile(r"[^\W_](?:[\w'’./%:-]*\w)?|[$€£]\d[\d.,]*")
_HIDDEN = re.compile(
    r"(?P<word>`[^`]*`|“[^“”]*”|\"[^\"]*\"|„[^„“”]*[“”]|«[^«»]*»)"
    r"|\[[^\[\]]*\](?:\([^()\s]*\))?|【[^【】]*】|\([^()]*\)"
)
_MASKED = re.compile(r"\x00|XX")
_LEAD = re.compile(
    r"^\s*(?:according to|based on|in|on|at|by|for|with|after|before|from|since|during|among|of|to|as)\b[^,]{1,100},\s",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[\s*_]*[^:.,]{1,40}:\s")
_IMPERATIVE = re.compile(
    rf"{IMPERATIVES}\s+(?:the|a|an|its?|them|your|all|any|each|every|this|that|these|for|[A-Z0-9`\x00])"
)
_STARTS_IMPERATIVE = re.compile(
    rf"(?:[-*_\s]|\d+[.)])*(?:(?:first|then|next|finally|also),?\s+)?{IMPERATIVES}\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Part:
    """Describe a statement within a sentence.

    Attributes:
        start: offset in the sentence.
        end: offset after its last character, without the conjunction.
        subject: subject taken from the first part ("Loki"); empty if the statement has its own.
    """

    start: int
    end: int
    subject: str = ""


def split_sentence(text: str) -> list[Part]:
    """Split a sentence into the statements that it joins.

    Args:
        text: a sentence as it is in the answer, with markers and Markdown.

    Returns:
        At least one part, in order, without overlap, each starting and ending within the text.
    """
    whole = [Part(0, len(text))]
    if ";" not in text and not _JOINT.search(text):
        return whole
    # A subject or object can be code or a quotation, but not a marker or a remark in brackets.
    masked = _HIDDEN.sub(lambda match: ("X" if match["word"] else "\x00") * len(match[0]), text)
    if any(masked.count(mark) for mark in "()[]`"):
        return whole
    by_semicolon = _at_semicolons(masked)
    parts: list[Part] = []
    for left, right in by_semicolon:
        parts.extend(_at_conjunctions(masked, left, right))
    if len(parts) > MAX_PARTS:
        last = parts[MAX_PARTS - 1]
        parts = [*parts[: MAX_PARTS - 1], Part(last.start, len(text), last.subject)]
    return [_trimmed(text, part) for part in parts]


def split_row(row: str, header: Sequence[str]) -> list[tuple[int, ...]]:
    """Split a table row into one statement for each value.

    The first column names the subject of the row. If it only numbers the rows, the second column does.

    Args:
        row: the row as written, with its bars.
        header: column titles.

    Returns:
        For each value its columns: those of the name and then the value's own. Empty if the row has fewer
        than two values.
    """
    cells = row_cells(row)
    named = 2 if header and header[0].strip("* ").lower() in ("", "#", "no", "no.", "nr", "nr.", "rank") else 1
    values = [index for index in range(named, len(cells)) if re.search(r"\w", row[slice(*cells[index])])]
    if not header or len(values) < 2:
        return []
    return [(*range(named), index) for index in values]


def row_cells(row: str) -> list[tuple[int, int]]:
    """Return the trimmed spans of the cells of a table row."""
    bars = [match.start() for match in re.finditer(r"(?<!\\)\|", row)]
    edges = [-1, *bars, len(row)]
    spans = []
    for left, right in pairwise(edges):
        cell = row[left + 1 : right]
        start = left + 1 + len(cell) - len(cell.lstrip())
        spans.append((start, max(start, left + 1 + len(cell.rstrip()))))
    # Text outside of the first and last bar is not a cell if the row begins or ends with a bar.
    if row.lstrip().startswith("|"):
        spans = spans[1:]
    if bars and row.rstrip().endswith("|"):
        spans = spans[:-1]
    return spans


def _at_semicolons(masked: str) -> list[tuple[int, int]]:
    cuts = [match.end() for match in re.finditer(r";\s", masked)]
    edges = [0, *cuts, len(masked)]
    pieces = list(pairwise(edges))
    # An enumeration ("red; green; blue") stays whole.
    if any(len(re.findall(r"[^\W_]+", masked[left:right])) < 4 for left, right in pieces):
        return [(0, len(masked))]
    return pieces


def _at_conjunctions(masked: str, start: int, end: int) -> list[Part]:
    """Split the text between two offsets at conjunctions that join statements."""
    clause = masked[start:end]
    first_words = [word.lower() for word in _TOKEN.findall(clause[:40])[:1]]
    if first_words and first_words[0] in _CONDITIONS:
        return [Part(start, end)]
    imperative = bool(_STARTS_IMPERATIVE.match(clause))
    cuts: list[tuple[int, int, str]] = []
    commas: list[tuple[int, int]] = []
    previous = 0
    for match in _JOINT.finditer(clause):
        right = clause[match.end() : match.end() + REACH]
        if match["list"]:
            if _is_clause(right, commas_only=True):
                commas.append((match.start(), match.end()))
            continue
        if not match["word"]:
            continue
        left = clause[max(previous, match.start() - REACH) : match.start()]
        opening = clause[previous : min(match.start(), previous + REACH)]
        subject = _joins(opening, left, right, bool(match["comma"]), imperative)
        if subject is None:
            continue
        if match["comma"] and not subject and not imperative:
            # A series: "A was 1, B was 2, and C was 3".
            for low, high in commas:
                before = clause[max(previous, low - REACH) : low]
                if has_verb(before) and _enough(clause[high : min(match.start(), high + REACH)]):
                    cuts.append((low, high, ""))
                    previous = high
        cuts.append((match.start(), match.end(), subject))
        previous = match.end()
        commas = []
    parts, position, shared = [], 0, ""
    for low, high, subject in cuts:
        parts.append(Part(start + position, start + low, shared))
        position, shared = high, subject
    return [*parts, Part(start + position, end, shared)]


def _joins(opening: str, left: str, right: str, comma: bool, imperative: bool) -> str | None:
    """Return the subject that a conjunction carries over to the second statement; ``None`` if it joins no statements.

    Args:
        opening: start of the previous statement.
        left: end of the previous statement.
        right: what follows the conjunction.
        comma: True if a comma precedes it.
        imperative: the sentence begins with an instruction.

    Returns:
        ``None`` if it joins no statements; the shared subject if the second has no subject; otherwise "".
    """
    if not _enough(left, 2) or not _enough(right):
        return None
    if imperative:
        return "" if _IMPERATIVE.match(right) else None
    last = left.rsplit(",", 1)[-1]
    if not has_verb(last) or _PAIRED.search(last) or _words(last) & _SUBORDINATORS:
        return None
    words = [match[0].lower() for match in _TOKEN.finditer(right[:60])]
    shares = words[0] in _AUXILIARIES or words[0] in _PLAIN_PAST
    # "was inspected and repaired" and "was taken and held" share their "was"; "failed and restarted" does not.
    past = words[0] in _PAST or (words[0].endswith("ed") and _takes_object(words))
    shares = shares or (past and not _words(left) & _PASSIVE)
    # A capital letter starts a name or title ("Fooled Around and Fell in Love").
    if shares and right.lstrip("*_ ")[:1].islower():
        # In "began after a man was found and left a note" the words do not show who left the note.
        return None if _words(left) & _SUBORDINATORS else _subject(opening)
    if _is_clause(right, commas_only=comma):
        return ""
    return None


def _is_clause(text: str, *, commas_only: bool) -> bool:
    """Return true if a text begins with a subject and its finite verb.

    Args:
        text: the text after a joint.
        commas_only: a comma precedes the text, so that any finite verb is accepted.
    """
    head = re.split(r"[,;:]", text, maxsplit=1)[0]
    words = [match[0] for match in _TOKEN.finditer(head)][: MAX_SUBJECT + 1]
    if words[1:] and words[0].lower() in _SUBJECT_PRONOUNS:
        return commas_only or words[1].lower() in _FINITE or words[1].endswith(("ed", "s"))
    for position, word in enumerate(words[1:], 1):
        lowered = word.lower()
        before = words[position - 1].lower()
        if lowered in _SUBORDINATORS or lowered in ("and", "or", "und", "et", "to"):
            return False
        behind = _PREPOSITIONS & {earlier.lower() for earlier in words[:position]}
        if lowered in _NOUNS and (behind or not commas_only):
            continue
        if lowered in _FINITE and (before not in _DETERMINERS or before in _PRONOUNS):
            return commas_only or lowered in _SINGULAR or words[0].lower() in _PRONOUNS
        is_past = lowered.endswith("ed") and before not in _DETERMINERS and not before.endswith("ly")
        if commas_only and is_past and position + 1 < len(words) and words[0].lower() != "not":
            return True
    return False


def _takes_object(words: Sequence[str]) -> bool:
    """Return true if the words after a word in -ed show that it is a verb ("skilled workforce": it is not)."""
    following = words[1] if len(words) > 1 else ""
    known = following in _PREPOSITIONS or following in _DETERMINERS or following in _PRONOUNS
    return known or following[:1].isdigit() or following in NUMBER_WORDS or following.endswith("ly")


def has_verb(text: str) -> bool:
    """Return true if a text has a finite verb that its form identifies."""
    # "Costs: $5" is a label and not a statement.
    words = [match[0].lower() for match in _TOKEN.finditer(_LABEL.sub("", text, count=1))]
    return any(
        word in _FINITE or (index and word.endswith("ed") and words[index - 1] not in _DETERMINERS)
        for index, word in enumerate(words)
    )


def _subject(left: str) -> str | None:
    """Return the words before the first finite verb if they can be a subject."""
    left = _LEAD.sub("", re.split(r"(?<=\w\w)[.!?:]\s(?=[A-Z])", left)[-1])
    words = list(_TOKEN.finditer(left))
    for position, match in enumerate(words):
        if match[0].lower() in _FINITE or (position and match[0].endswith("ed")):
            subject = left[: match.start()].strip()
            fits = 0 < position <= MAX_SUBJECT + 2 and "," not in subject and not _MASKED.search(subject)
            return plain_text(subject) if fits else None
    return None


def _words(text: str) -> set[str]:
    return {match[0].lower() for match in _TOKEN.finditer(text)}


def _enough(text: str, least: int = MIN_WORDS) -> bool:
    return len(_TOKEN.findall(text)) >= least


def _trimmed(text: str, part: Part) -> Part:
    raw = text[part.start : part.end]
    start = part.start + len(raw) - len(raw.lstrip())
    end = part.start + len(raw.rstrip())
    # The mark of the joint belongs to neither part.
    if end < len(text.rstrip()):
        end = start + len(text[start:end].rstrip(";, "))
    return Part(start, end, part.subject)
