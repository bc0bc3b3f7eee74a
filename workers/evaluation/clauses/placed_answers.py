"""Find short answers taken from the wrong clause of the evidence.

"The last bus leaves at 23:40 on weekdays and at 21:10 on Sundays" has two times. The question for Sundays shares all its
words with the second part of the sentence, and fewer with the first one, so that "23:40" is the answer to another question.
The parts are compared by their words alone. What a part without a verb of its own leaves out is taken from the beginning
of its sentence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.claims.short_answers import depends_on_question
from workers.evaluation.facts.sentence_pieces import CLASSES, NAMED_MONTH, Value, kind_of
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.facts.verb_forms import is_verb, verb_stem
from workers.evaluation.text.words import PEOPLE, STOP_WORDS, content_words, stem, word_set

MAX_TEXT = 300
"""Longest question, answer and sentence that are read, code points."""
MAX_PARTS = 8
"""Most parts of a sentence that are compared."""
MAX_NAME = 4
"""Most words of a name that answers a question."""

_WH = re.compile(
    r"(?:^|\b(?:and|but|so|know|me|in|at|on|for|to|from|by|with|of)\s)\W*(?:who(?:m|se)?|which|what|when|where|how)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r";\s+|:\s+|,\s+(?!\d)(?:(?:and|but|or|while|whereas|versus|compared (?:with|to))\s+)?|\s+(?:and|but|or|while|whereas|then|versus|compared (?:with|to))\s+",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^\w\n]{0,4}(?P<label>[^:;,!?\n]{1,40}):\s")
_NUMBERED = re.compile(r"\b(?P<ordinal>first|second|third|fourth|fifth|sixth|last)\b(?:\s+(?P<noun>[a-z]+))?", re.I)
_ANY_LEFT = re.compile(
    r"^(?:(?:any|every)(?:thing|one|body)?\s(?:(?:amounts?|sums?)\s)?(?:above|over|beyond|more|higher)"
    r"|(?:larger|bigger|greater|higher|longer|heavier|costlier)\s(?:[^\W\d_]+s|sum|amount))\b",
    re.IGNORECASE,
)
"""The beginning of a sentence on what the limit of the sentence before leaves."""
_ABOVE = re.compile(r"\b(?:above|over|more than|exceed\w*|beyond|greater than|larger than)\s", re.IGNORECASE)
_UP_TO = re.compile(r"\b(?:up to|under|below|less than|no more than|at most|not exceed\w*)\s", re.IGNORECASE)
_REPLACED = re.compile(r"\b(?:instead|in place of|rather than|replac\w+|successor|alternatives?)\b", re.IGNORECASE)
"""Words of a thing in the place of another one, which the question names: "use form B instead"."""
_WHO = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_NAME = re.compile(r"\b[A-Z][^\W\d_]+")
_FIGURE = re.compile(rf"\b(?:[^\W\d_]*\d+(?:[.,:]\d+)*|half|{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
_FRONTED = re.compile(r"\W*(?:for|in|on|at|to|under|with|before|after|during|except|as to|of)\s", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^(?:[^,]{1,30}, ){0,2}(?:it|he|she|they|this|these|that|those|both|its|his|her|their)\b", re.IGNORECASE
)
_ORDINALS = "first second third fourth fifth sixth last"
_CLASSES = (
    *(frozenset(word for word, kind in CLASSES.items() if kind == each) for each in (NAMED_MONTH, "weekday", "medal")),
    frozenset(_ORDINALS.split()),
    frozenset(map(stem, ("spring", "summer", "autumn", "winter"))),
)
"""Sets of words of which a statement has one: a month, a place in an order."""
_WORD = re.compile(r"[^\W\d_]+")
_GENERAL = frozenset(
    map(
        stem,
        word_set(
            "responsible charge person people one kind type name named called date day time year month number amount value long much"
            " many often take takes took do does did be get gets need needs use used two"
        ),
    )
)
"""Stems of words that say what is asked for, and of nothing in particular."""
_WITHIN, _BEYOND = "<", ">"
"""Marks of what a limit allows and of what is beyond it."""


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """Hold a part of a sentence.

    Attributes:
        text: the part as written.
        sentence: number of its sentence; sentences in a row have numbers in a row.
        own: stems of its words, and its figures.
        words: stems of its words and of those that it leaves out.
        subject: stems of its subject.
        values: kinds of its values.
        names: stems of its words with a capital.
    """

    text: str
    sentence: int
    own: frozenset[str]
    words: frozenset[str]
    subject: frozenset[str]
    values: frozenset[str]
    names: frozenset[str]


def is_answer_placed(question: str, answer: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a short answer stands in the part of the evidence that its question asks about.

    Args:
        question: the question, one for a person, thing, time, place or figure.
        answer: a fragment, or a statement that needs its question to be understood.
        sentences: the evidence in its order; an empty text stands for sentences between two of them.

    Returns:
        False if another part has all words of the question that the answer's part has, and more of them. ``None`` if
        neither part has more than the other.
    """
    question, answer = question[:MAX_TEXT], answer[:MAX_TEXT]
    if not _WH.search(question) or not depends_on_question(question, answer):
        return None
    asked = _words(question) - _GENERAL
    nouns = asked - _verbs(question)
    kinds, figures = _kinds(answer), _figures(answer)
    told = content_words(answer) - asked
    # "Scale: unlimited projects, priority support" has its name before all of its parts.
    labels = [content_words(match["label"]) for text in sentences if (match := _LABEL.match(text))]
    if not asked or not told or len(kinds) > 1 or any(told <= label for label in labels):
        return None
    parts = list(read_parts(sentences))
    if kinds or figures:
        holding, rivals = _with_figures(parts, kinds, figures, told)
    elif len(told) <= MAX_NAME:
        holding, rivals = _with_names(parts, question, answer, asked, told)
    else:
        return None
    if not holding or not rivals or _REPLACED.search(question) or any(_REPLACED.search(each.text) for each in holding):
        return None
    if all(any(_answers(rival, own, asked, nouns) for rival in rivals) for own in holding):
        return False
    return True if any(all(_answers(own, rival, asked, nouns) for rival in rivals) for own in holding) else None


def _with_figures(
    parts: Sequence[AnswerPart], kinds: frozenset[str], figures: frozenset[str], told: frozenset[str]
) -> tuple[list[AnswerPart], list[AnswerPart]]:
    """Return the parts that hold the value of an answer, and those with another value of its kind."""
    alike = [part for part in parts if kinds <= part.values and _figures_of(part)]
    # "Half a litre a day" and "half a litre a week" have one figure.
    exact = [part for part in alike if told <= part.own]
    holding = exact or [part for part in alike if figures and figures <= part.own]
    return holding, [part for part in alike if part not in holding and (exact or not figures >= _figures_of(part))]


def _with_names(
    parts: Sequence[AnswerPart], question: str, answer: str, asked: frozenset[str], told: frozenset[str]
) -> tuple[list[AnswerPart], list[AnswerPart]]:
    """Return the parts that hold the words of an answer, and those that may hold another person or thing."""
    is_kind = bool(content_words(answer) & asked) and not _repeats(question, answer)  # "The blue pass" to "Which pass?"
    if not (_WHO.search(question) or is_kind or _names(answer) - asked):
        return [], []
    others = [part for part in parts if not told & part.own]
    rivals = [part for part in others if is_kind or (part.names | part.subject | part.own & PEOPLE) - asked]
    return [part for part in parts if told <= part.own], rivals


def _repeats(question: str, answer: str) -> bool:
    """Return true for "The bakery sells bread" to "What does the bakery sell?", a statement with subject and verb."""
    told, asked = (
        [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS] for text in (answer, question)
    )
    shared = [word for word in told if verb_stem(word) in set(map(verb_stem, asked))]
    return len(shared) > 1 and is_verb(shared[-1])


def _answers(one: AnswerPart, two: AnswerPart, asked: frozenset[str], nouns: frozenset[str]) -> bool:
    """Return true if one part has all words of the question that another has, and more."""
    if abs(one.sentence - two.sentence) > 1:
        return False
    own, other = one.words & asked, two.words & asked
    for kind in _CLASSES:
        # "March brought 31 mm and April 78 mm": the month asked for counts alone.
        if asked & kind and own & kind and not other & kind and two.own & kind:
            return True
    gained = own - other
    if one.sentence == two.sentence:
        return other < own
    if gained & nouns & one.subject and not (other - own) & nouns:
        return other <= own or (bool(two.subject) and not two.subject & asked)
    return other < own and len(gained) > 1


def read_parts(sentences: Sequence[str]) -> Iterator[AnswerPart]:
    """Yield the parts of sentences, in their order, each with what it leaves out.

    Args:
        sentences: the sentences; nothing is taken over an empty text.
    """
    number, before = 0, ""
    for sentence in sentences:
        text = sentence[:MAX_TEXT]
        # "Anything above must be signed off" goes on with the amount of the sentence before, and "it" with its subject.
        left_out = frozenset[str]()
        if before and _ANY_LEFT.search(text):
            left_out = _words(before) - {_WITHIN}
        elif before and _PRONOUN.search(text):
            left_out = _subject(before)
        number += not left_out
        yield from _parts(number, text, left_out)
        before = text


def _parts(sentence: int, text: str, left_out: frozenset[str]) -> Iterator[AnswerPart]:
    """Yield the parts of a sentence."""
    first, unit = "", frozenset[str]()
    for start, end in _spans(text):
        piece = text[start:end]
        own, subject = _words(piece), _subject(piece, is_first=not first) | left_out
        words = own | left_out
        if first:
            # "At 21:10 on Sundays" leaves out what leaves; "fell by 2 %" leaves out what fell.
            words |= _left_out(first, piece)
            words |= _nouns_left_out(first, piece)
            subject = subject or _subject(first)
        kinds = _kinds(piece)
        # "For 3 million dollars and another 5 million" leaves out the unit.
        values = kinds | unit if kinds == {"count"} else kinds
        first, unit = first or piece, unit or kinds
        yield AnswerPart(piece, sentence, own | _figures(piece), words, subject, values, _names(piece))


def _kinds(text: str) -> frozenset[str]:
    details = read_details(text)
    values: tuple[Value, ...] = (*details.quantities, *details.dates)
    # "Two weeks" and "one month" answer one question.
    return frozenset("time" if kind == "month" else kind for kind in map(kind_of, values))


def _figures_of(part: AnswerPart) -> frozenset[str]:
    return frozenset(word for word in part.own if _FIGURE.fullmatch(word)) or part.values


def _spans(text: str) -> list[tuple[int, int]]:
    """Cut a sentence at its joints; a piece without a figure, name or verb belongs to another one."""
    joints = [*_JOINT.finditer(text)]
    starts, ends = [0, *(match.end() for match in joints)], [*(match.start() for match in joints), len(text)]
    spans = [(start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip()]
    cuts: list[tuple[int, int]] = []
    opened: int | None = None
    for place, (start, end) in enumerate(spans):
        piece, following = text[start:end], text[slice(*spans[place + 1])] if place + 1 < len(spans) else ""
        is_apart = text[:start].rstrip().endswith(";")
        is_own = is_apart or bool(_FIGURE.search(piece) or _NAME.search(piece, 1) or _verbs_in(piece))
        if (
            _FRONTED.match(piece)
            and not _verbs_in(piece)
            and (_verbs_in(following) or _NAME.search(following))
            and not (_FIGURE.search(piece) and _FIGURE.search(following))
        ):
            # "For invoices, ask Tom Reed" and "in 2005, she became mayor" belong to what follows.
            opened = start if opened is None else opened
        elif cuts and opened is None and (not is_own or (not is_apart and _goes_on(text[slice(*cuts[-1])], piece))):
            cuts[-1] = (cuts[-1][0], end)
        else:
            cuts.append((start if opened is None else opened, end))
            opened = None
    return cuts[:MAX_PARTS]


def _goes_on(before: str, piece: str) -> bool:
    """Return true for "with 248" behind "the second is shorter", and for the name in "its author, Hal Dean, worked"."""
    if _verbs_in(piece) or _FIGURE.search(before):
        return False
    return bool(_FRONTED.match(piece)) or not _verbs_in(before)


def _left_out(first: str, piece: str) -> frozenset[str]:
    """Return what a later part leaves out: its subject if it has a verb, its verb if it has a subject, else both."""
    if _verbs_in(piece):
        return _subject(first)
    if _subject(piece) and not _FRONTED.match(piece):
        return _verbs(first)
    return _words(_beginning(first)) | _verbs(first)


def _subject(text: str, *, is_first: bool = True) -> frozenset[str]:
    """Return the words before the first verb; without a verb those before the first figure."""
    words, verbs = [word.lower() for word in _WORD.findall(text)], _verbs_in(text)
    # "Plans for a hospital were drawn up": the first word of a sentence is rarely its verb.
    verb = next((place for place, word in enumerate(words) if word in verbs and (place or not is_first)), None)
    return content_words(_beginning(text) if verb is None else " ".join(words[:verb]))


def _verbs(text: str) -> frozenset[str]:
    return frozenset(map(stem, _verbs_in(text)))


def _verbs_in(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word != "a" and is_verb(word)}  # "a" is French


def _beginning(text: str) -> str:
    """Return a part up to its first figure, or to its first name after the beginning."""
    value = re.search(r"\d|(?<=\s)[A-Z][a-z]", text)
    return text[: value.start()] if value else text


def _nouns_left_out(first: str, piece: str) -> frozenset[str]:
    """Return the noun of "in the second" behind "in the first quarter"."""
    nouns = {match["noun"] for match in _NUMBERED.finditer(first) if match["noun"]}
    is_left_out = any(not match["noun"] for match in _NUMBERED.finditer(piece))
    return frozenset(map(stem, nouns)) if is_left_out else frozenset()


def _words(text: str) -> frozenset[str]:
    """Return the stems of a text, with those of ordinals and of a limit's side."""
    numbered = (stem(match["ordinal"].lower()) for match in _NUMBERED.finditer(text))
    sides = (
        side for pattern, side in ((_ABOVE, _BEYOND), (_UP_TO, _WITHIN), (_ANY_LEFT, _BEYOND)) if pattern.search(text)
    )
    return content_words(text).union(numbered, sides)


def _figures(text: str) -> frozenset[str]:
    return frozenset(match[0].lower() for match in _FIGURE.finditer(text))


def _names(text: str) -> frozenset[str]:
    words = (match[0].lower() for match in _NAME.finditer(text))
    return frozenset(stem(word) for word in words if word not in STOP_WORDS)
