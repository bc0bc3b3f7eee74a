"""Compare short answers with the item of a list, the step of an instruction or the code that their question names.

"14:10 Rijeka, bay 4; 14:35 Zadar, bay 7" has a bay for each town, and "Add salt, knead for 8 minutes and let the dough
rise for 90 minutes" has a time for each act. The question names one of them, by words that the others do not have.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from workers.evaluation.claims.short_answers import needs_question
from workers.evaluation.clauses.placed_answers import is_answer_placed
from workers.evaluation.facts.dates import DAY, Date
from workers.evaluation.facts.forms.clock_words import plain_clock
from workers.evaluation.facts.sentence_pieces import Value, kind_of
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.verb_forms import is_verb, verb_stem
from workers.evaluation.ownership.record_owners import is_record, record_words
from workers.evaluation.ownership.value_owners import same_value
from workers.evaluation.text.words import STOP_WORDS, content_words, kept_for_sentences, stem

MAX_TEXT = 600
"""Longest question, answer and sentence that are read, code points."""
LEAST_ITEMS = 2
"""Number of items from which a sentence is a list."""
MAX_ITEM = 10
"""Most words of an item; longer ones are statements."""

_LABEL = re.compile(r"^[^;:,\d]{2,60}:\s+")
_FLAG = re.compile(r"(?<!,)\s(?=--?\w)")
_HEAD = re.compile(r"--?\w|(?:[A-Z]{0,4}\d[\w.]*|[A-Z]{2,}(?:_[A-Z\d]+)+)\s(?!\d)")
"""The beginning of an item that is a code or an option of a command: "403 for a missing permission"."""
_LINE = re.compile(r"^[^\w\n]{0,4}[^\W_][^:;,!?\n]{0,40}:\s+\S")
_INCLUDES = re.compile(
    r"\b(?:everything|all|same|plus|also|additionally|includes?|any|both|each|no|not|without|never|only|neither|nor)\b|n['’]t\b",
    re.IGNORECASE,
)
_RANKED = re.compile(
    r"\b(?:most|least|fewest|more|less|fewer|not|no|except|[a-z]{3,}(?:est|er) than|[a-z]{3,}est)\b|n['’]t\b", re.I
)
"""Words of a question that chooses an item by an order or a denial."""
_NEXT_SENTENCE = re.compile(r"\.\s+(?=[A-Z]).*", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_MAY = re.compile(r"(?<=\d )May\b|\bMay(?= \d)")
_LETTERS = re.compile(r"[^\W\d_]+")
_CLOCK = re.compile(
    r"(?<![\w.])\d{1,2}[:.]\d{2}(?!\w)(?:\s?[ap]\.?m\b\.?|\s?o['’]clock)?|\b\d{1,2}\s?[ap]\.?m\b\.?", re.I
)
_STEP = re.compile(
    r"^\W*(?:\d{1,2}[.)]\s)?(?:(?:and|then|next|now|finally|afterwards|first)[\s,]+)*"
    r"(?:(?:let|leave|allow)\s(?:(?P<left>[^.,;]{1,40}?)\s)??(?:to\s)?(?!(?:for|at|to|until|in|into|on|over|under|with|about)\s)(?P<last>[a-z]{2,20})|(?P<act>[^\W\d_]{2,20})(?:\s(?!(?:for|at|to|until|in|into|on|over|under|with|about|another)\s)(?P<object>[^.,;\d]{1,50}?))?)"
    r"(?=\s(?:for|at|to|until|in|into|on|over|under|with|about|another|up|a\s|\d)|\s*$)",
    re.IGNORECASE,
)  # fmt: skip
_STEPS = re.compile(r"[;:]\s+|\.\s+(?=[A-Z])|,\s+(?:(?:and|then)\s+)*|\s+(?:and|then)\s+", re.IGNORECASE)
_ACTS = re.compile(r"\b(?:is|are|was|were|be|been|do|does|did|should|must|shall|has|have|can|will|need)\b", re.I)
_CODE = re.compile(r"[\s\"'(*`]*(?P<number>\d{2,12})[\s\"').!*`]*")
_NUMBERED = re.compile(
    r"(?P<noun>[^\W\d_]{2,30})\s(?:(?:no\.?|number|#)\s?)?(?P<number>\d{2,12})(?![\w%]|[.,:]\d)", re.I
)


@dataclass(frozen=True, slots=True)
class _Step:
    """Hold a step of an instruction: the stem of its act, those of its object and of all its words, and its values."""

    act: str
    objects: frozenset[str]
    words: frozenset[str]
    values: tuple[Value, ...]


def is_item_asked(answer: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a short answer is that of the item, step or code that its question names.

    Args:
        answer: a fragment that needs its question to be understood.
        question: the question.
        sentences: the evidence in its order.

    Returns:
        ``None`` if the question names none of the evidence or several, or if the answer is in no item.
    """
    answer, question = answer[:MAX_TEXT], question[:MAX_TEXT]
    # "On 18 May." has no verb.
    if not question or not needs_question(question, _MAY.sub("June", answer)):
        return None
    texts = [text[:MAX_TEXT] for text in sentences if text]
    for rule in (_is_of_listed, _is_of_step, _is_code):
        if (found := rule(answer, question, texts)) is not None:
            return found
    return None


def _is_of_listed(answer: str, question: str, texts: Sequence[str]) -> bool | None:
    if _RANKED.search(question):
        return None
    asked = _tokens(question)
    found = set[bool | None]()
    for group, items in _groups(texts):
        common = frozenset.intersection(*items)
        shared = [len((item - common) & asked) for item in items]
        if not (most := max(shared)) or shared.count(most) > 1:
            continue
        own = items[shared.index(most)]
        told = _closed(_tokens(answer), own) - asked - common
        if not told:
            continue
        elsewhere = any(told <= item for item in items if item is not own)
        others = [tokens for other in texts if other not in group and told <= (tokens := _tokens(other))]
        # "Coffee is served in hall 3" gives hall 3 to none of the talks.
        is_foreign = (
            bool(others) and bool(_tokens(answer) & common - asked) and not any(map(asked.intersection, others))
        )
        found.add(True if told <= own else False if (elsewhere and not others) or is_foreign else None)
    return found.pop() if len(found) == 1 else None


def _groups(texts: Sequence[str]) -> Iterator[tuple[Sequence[str], tuple[frozenset[str], ...]]]:
    """Yield lists: the items of one text, labelled lines in a row, or the rows of a table; each with its texts."""
    for kind, group in groupby(texts, _kind):
        run = list(group)
        if kind is None or (len(run) < LEAST_ITEMS and not kind):
            yield from (((text,), items) for text in run if (items := _items(text)))
        # What a line includes of another one, or denies, is no value of its own.
        elif len(run) >= LEAST_ITEMS and not any(map(_INCLUDES.search, run)):
            yield run, tuple(map(_tokens, run))


def _kind(text: str) -> tuple[str, ...] | None:
    """Return the keys of a row, or that a text is a labelled line; ``None`` for another text."""
    if is_record(text):
        return tuple(part.partition(": ")[0] for part in text.split("; "))
    return () if _LINE.match(text) and "; " not in text else None


@kept_for_sentences
def _items(text: str) -> tuple[frozenset[str], ...]:
    """Return the tokens of the items of a list; empty for another sentence."""
    label = _LABEL.match(text)
    rest = text[label.end() :] if label else text
    parts = _FLAG.split(rest) if rest.startswith("-") else re.split(r";\s+", rest)
    if len(parts) < LEAST_ITEMS:
        parts = re.split(r",\s+(?:and\s+)?", _NEXT_SENTENCE.sub("", rest))
    parts[-1] = _NEXT_SENTENCE.sub("", parts[-1])
    is_headed = all(map(_HEAD.match, parts))
    words = [_WORD.findall(part) for part in parts]
    is_list = len(parts) >= LEAST_ITEMS and all(0 < len(each) <= MAX_ITEM for each in words)
    if not is_list or not (is_headed or label or ";" in rest) or (not is_headed and not _is_listed(parts, words)):
        return ()
    return tuple(map(_tokens, parts))


def _is_listed(parts: Sequence[str], words: Sequence[Sequence[str]]) -> bool:
    """Return true if parts have figures, and most of them no verb; "stand" is a noun where several of them have it."""
    verbs = Counter(word for each in words for word in set(each) if is_verb(word) and word != "a")
    stated = sum(any(verbs[word] == 1 for word in each) for each in words)
    return stated * 2 <= len(parts) and all(map(_has_figure, parts[:-1])) and any(map(_has_figure, parts))


def _has_figure(text: str) -> bool:
    return any(character.isdigit() for character in text)


@kept_for_sentences
def _tokens(text: str) -> frozenset[str]:
    """Return the stems of words, single capitals and figures, and times of day in one form."""
    times = (date for date in read_details(text).dates if date.minute is not None)
    return record_words(_CLOCK.sub(" ", plain_clock(text))) | {_time(date) for date in times}


def _time(date: Date) -> str:
    return f"{date.minute}?" if date.is_open else f"{date.minute}:"


def _closed(tokens: frozenset[str], own: frozenset[str]) -> frozenset[str]:
    """Return tokens with a time of either half of the day as the one that an item has."""
    found = set[str]()
    for token in tokens:
        minute = int(token[:-1]) if token.endswith("?") else 0
        halves = (f"{minute}:", f"{(minute + DAY // 2) % DAY}:")
        found.add(next((half for half in halves if half in own), halves[0]) if token.endswith("?") else token)
    return frozenset(found)


def _is_of_step(answer: str, question: str, texts: Sequence[str]) -> bool | None:
    details = read_details(answer)
    values: tuple[Value, ...] = (*details.quantities, *details.dates)
    auxiliary = _ACTS.search(question)
    if len(values) != 1 or auxiliary is None:
        return None
    asked = frozenset(map(_act, _WORD.findall(question[auxiliary.end() :])))
    (value,) = values
    steps = [step for text in texts for step in _steps(text)]
    alike = [step for step in steps if any(kind_of(each) == kind_of(value) for each in step.values)]
    own = [step for step in alike if step.act in asked]
    if len(own) != 1 or len(alike) < LEAST_ITEMS or own[0].objects - asked:
        return None
    if any(same_value(value, each) for each in own[0].values):
        return True
    holding = [step for step in alike if any(same_value(value, each) for each in step.values)]
    # "Blind-bake the base for 10 minutes" has the act in another word.
    return False if holding and not any((step.words - step.objects) & asked for step in holding) else None


@kept_for_sentences
def _steps(text: str) -> tuple[_Step, ...]:
    return tuple(_read_steps(text))


def _read_steps(text: str) -> Iterator[_Step]:
    for piece in _STEPS.split(text):
        match = _STEP.match(piece)
        details = read_details(piece)
        values: tuple[Value, ...] = (*details.quantities, *details.dates)
        if match is None or not values:
            continue
        act, objects = (match["last"], match["left"]) if match["last"] else (match["act"], match["object"])
        if act.lower() in STOP_WORDS:
            continue
        words = frozenset(_act(word) for word in _LETTERS.findall(piece) if word.lower() not in STOP_WORDS)
        told = (word for word in (objects or "").lower().split() if word not in STOP_WORDS and not word.endswith("ly"))
        yield _Step(_act(act), frozenset(map(_act, told)), words, values)


def _act(word: str) -> str:
    """Return the stem of a verb, the same for "bake" and "baked", "simmer" and "simmered"."""
    act = verb_stem(word.lower()).removesuffix("e").removesuffix("er")
    return act[:-1] if len(act) > 3 and act[-1] == act[-2] else act


def _is_code(answer: str, question: str, texts: Sequence[str]) -> bool | None:
    """Return whether a bare number is the one behind the noun that the question asks for: "port 27010"."""
    match = _CODE.fullmatch(answer)
    if match is None:
        return None
    asked = content_words(question)
    codes = {
        (stem(each["noun"].lower()), each["number"])
        for text in texts
        for each in _NUMBERED.finditer(text)
        if stem(each["noun"].lower()) in asked
    }
    nouns = {noun for noun, number in codes if number == match["number"]}
    if len(nouns) != 1:
        return None
    (noun,) = nouns
    if len([number for each, number in codes if each == noun]) == 1:
        return True
    placed = is_answer_placed(question, f"{noun} {match['number']}", texts)
    if placed is not None:
        return placed
    acts = frozenset(map(_act, _WORD.findall(question)))
    shared = {
        own: max(len(acts & frozenset(map(_act, _WORD.findall(text)))) for text in texts if own in _numbers(text, noun))
        for each, own in codes
        if each == noun
    }
    own = shared.pop(match["number"])
    return None if own in shared.values() else own > max(shared.values())


def _numbers(text: str, noun: str) -> set[str]:
    return {each["number"] for each in _NUMBERED.finditer(text) if stem(each["noun"].lower()) == noun}
