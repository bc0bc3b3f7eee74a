"""Read a follow-up ("And over 90 days?", "Same for Spain?", "Why?") together with the question before it.

The phrase of the follow-up takes the place of the phrase of the question that it is most alike: with the same
preposition, of the same form (a figure, a name, a code), with the same main word.
"""

import re
from typing import TYPE_CHECKING

from workers.evaluation.conversation.joints import put_in
from workers.evaluation.conversation.mentions import TIMES
from workers.evaluation.facts.series import SERIES_NAMES
from workers.evaluation.text.parser import parse
from workers.evaluation.text.words import word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

MAX_WORDS = 12
"""Most words of a follow-up."""
MIN_LIKENESS = 1.0
"""Least likeness of the phrase that is replaced; below it the follow-up is put behind the question."""

_LEAD = re.compile(
    r"^\W*(?:(?:and|but|or|so|ok(?:ay)?|also|then)[\s,]+)*(?:(?:what|how)\s+about|(?:the\s+)?same\s+(?:for|in|with|at)?|and"
    r"|what\s+if)?\s*",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^\W*(?:\w+[\s,]+){0,3}?(?:(?:what|how)\s+about|(?:the\s+)?same)\b", re.IGNORECASE)
_TRAIL = re.compile(r"[\s,]+(?:too|as\s+well|also|then|instead|though|please)\W*$", re.IGNORECASE)
_OWNED = re.compile(r"^(?:the\s+)?[\w-]+(?:\s[\w-]+)?['’]s(?:\s[\w-]+){1,3}\W*$", re.IGNORECASE)
_MEMBER = r"(?:\w*\d[\w.]*|[A-Z]\b)"
_NUMBERED = re.compile(
    r"(?:(?:for|in|on|at|with|of|to|from|by)\s)?(?:(?:the|an?|my|our|your)\s)?"
    rf"(?P<name>[^\W\d_][\w-]*(?:\s[^\W\d_][\w-]*){{0,3}})\s(?P<member>{_MEMBER}(?P<more>(?:\s[A-Z]\w*){{0,2}}))"
)
"""A name with a number or letter: "Corva 5", "for the iPhone 15", "the Pixel 9 Pro"."""
_CAUSE = re.compile(r"^(?:why(?:\s+(?:not|so|is\s+that|that))?|how\s+(?:so|come))\W*$", re.IGNORECASE)
_SAID = re.compile(r"^(?:(?:yes|no|sure|certainly|correct|right)\b[\s,.!:–—-]*)+", re.IGNORECASE)
_COURTESIES = word_set("thanks thank hello hi hey ok okay great cool perfect nice bye please sorry yes no")
_OPEN = word_set("what which who whom whose where when why how")
_WEIGHTS = {"preposition": 2.0, "form": 2.0, "head": 3.0, "alike": 0.25}


def is_follow_up(doc: "Doc") -> bool:
    """Return true if a query has no statement or question of its own: a phrase, or "what about" and a phrase."""
    rest = _rest(doc)
    if len(rest.split()) > MAX_WORDS or not any(map(str.isalnum, rest)):
        return False
    if _ABOUT.match(doc.text):
        return not any(token.dep_ in ("nsubj", "nsubjpass") for token in parse(rest))
    if _OWNED.match(rest) or _is_bare(doc.text, rest):
        return True
    tokens = [token for token in doc if not token.is_punct]
    if any(
        token.pos_ == "VERB" and token.dep_ in ("ROOT", "ccomp", "advcl", "xcomp") and token.tag_ != "VBG"
        for token in tokens
    ):
        return False
    if any(token.dep_ in ("nsubj", "nsubjpass", "expl") for token in tokens):
        return False
    if tokens[0].pos_ == "INTJ" or tokens[0].lower_ in _COURTESIES:
        return False
    return not any(token.pos_ == "AUX" for token in tokens)


def _is_bare(text: str, rest: str) -> bool:
    """Return true for "And express?", whose only word may be parsed as a verb."""
    word = rest.strip(" ?!.").lower()
    return rest != text.strip() and word.isalpha() and word not in (_OPEN | _COURTESIES | _STARTS)


def _rest(doc: "Doc") -> str:
    text = doc.text.strip()
    return _TRAIL.sub("", text[_LEAD.match(text).end() :]).strip()  # type: ignore[union-attr]  # it matches any text


def follow_up(doc: "Doc", base: str, said: str) -> str:
    """Return the question that a follow-up asks.

    Args:
        doc: the follow-up.
        base: the question before it.
        said: the answer to that.
    """
    rest = _rest(doc).rstrip(" ?!.")
    if _CAUSE.match(rest):
        stated = _SAID.sub("", said).split("\n")[0]
        return f"{rest.capitalize()}: {stated or base}"
    asked = base.rstrip(" ?!.")
    words = rest.split()
    if any(word.lower() in _OPEN for word in words[:2]):
        return f"{rest[0].upper()}{rest[1:]}, {_lowered(asked)}?"
    if same := _other_member(rest, asked):
        return same
    told, question = parse(_as_within(rest)), parse(asked)
    if _OWNED.match(rest):
        return f"What is {rest}?"
    phrase = _with_number(next(iter(told.noun_chunks), told[:]))
    best = max(
        ((_likeness(told, phrase, each), each) for each in _phrases(question)), key=lambda each: each[0], default=None
    )
    if best is None or best[0] < MIN_LIKENESS:
        subject = None if _preposition(phrase) or len(phrase) < len(told) else _subject(question)
        if subject is None or phrase.root.pos_ not in ("NOUN", "PROPN") or phrase.root.lemma_.lower() in TIMES:
            return f"{asked} {rest}?"
        best = (MIN_LIKENESS, subject)
    if _preposition(phrase) and not _preposition(best[1]) and best[1].root.dep_ in ("nsubj", "nsubjpass", "attr"):
        return f"{asked} {rest}?"  # "without breakfast" takes the place of no subject
    start, end, text = _place(phrase, best[1])
    return f"{put_in(text, asked, start, end)}?"


def _other_member(rest: str, asked: str) -> str:
    """Return the question about another member of a series ("the iPhone 15" for "iPhone 14"); empty for another phrase."""
    told = _NUMBERED.fullmatch(rest)
    last = told["name"].split()[-1] if told else ""
    if told is None or (last == last.lower() and last.lower() not in SERIES_NAMES):
        return ""
    more = r"(?:\s[A-Z]\w*){0,2}" if told["more"] else ""
    before = re.search(rf"(?<![\w-])(?i:{re.escape(told['name'])})\s({_MEMBER}{more})", asked)
    return f"{asked[: before.start(1)]}{told['member']}{asked[before.end(1) :]}?" if before else ""


def _as_within(rest: str) -> str:
    """Return a phrase without the capital at its start, unless it is a name in the middle of a sentence as well."""
    lowered = rest[:1].lower() + rest[1:]
    return rest if rest[1:2].isupper() or not rest[1:2].isalpha() or parse(lowered)[0].pos_ == "PROPN" else lowered


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() and text.split()[0].lower() in _STARTS else text


_STARTS = word_set(
    "is are was were do does did has have had can could will would should may must what which who where when how"
)


def _phrases(question: "Doc") -> "list[Span]":
    chunks = (_with_number(chunk) for chunk in question.noun_chunks)
    found = [chunk for chunk in chunks if chunk[0].lower_ not in _OPEN and chunk.root.pos_ != "PRON"]
    inside = {token.i for chunk in found for token in chunk}
    return [
        *found,
        *(question[t.i : t.i + 1] for t in question if t.i not in inside and (t.like_num or t.pos_ == "PROPN")),
    ]


def _with_number(chunk: "Span") -> "Span":
    """Return a phrase with the number behind it that belongs to its name: "the iPhone" of "the iPhone 15"."""
    behind = chunk.doc[chunk.end] if chunk.end < len(chunk.doc) else None
    is_part = behind is not None and behind.is_digit and chunk.start <= behind.head.i < chunk.end
    return chunk.doc[chunk.start : chunk.end + 1] if is_part and chunk[-1].text != chunk[-1].lower_ else chunk


def _subject(question: "Doc") -> "Span | None":
    """Return the subject of a question, unless it asks for the subject."""
    return next((each for each in _phrases(question) if each.root.dep_ in ("nsubj", "nsubjpass")), None)


def _preposition(span: "Span") -> str:
    before = span[0].i - 1
    word = span.doc[before] if before >= 0 else None
    return word.lower_ if word is not None and word.pos_ in ("ADP", "SCONJ") else ""


def _form(token: "Token") -> str:
    if token.like_num or any(character.isdigit() for character in token.text):
        return "code" if token.text[:1].isalpha() else "figure"
    if len(token) == 1 and token.is_upper:
        return "letter"
    return "name" if token.is_title or token.is_upper else "word"


def _forms(span: "Span") -> frozenset[str]:
    return frozenset(
        _form(token) for token in span if not (token.is_stop or token.is_punct) or _form(token) == "letter"
    )


def _likeness(told: "Doc", phrase: "Span", other: "Span") -> float:
    said, before = _preposition(phrase), _preposition(other)
    forms, others = _forms(phrase), _forms(other)
    value = _WEIGHTS["preposition"] if said and said == before else 0.0
    marked = {"figure", "code", "letter"}
    if forms & others & marked or ("name" in forms and "name" in others and len(told) > 0):
        value += _WEIGHTS["form"]
    elif forms == others == {"word"}:
        value += 1.0
    elif ("name" in others) != ("name" in forms) or (forms & marked) != (others & marked):
        value -= 1.5
    if phrase.root.lemma_.lower() == other.root.lemma_.lower() and phrase.root.pos_ in ("NOUN", "PROPN"):
        value += _WEIGHTS["head"]
    if phrase.root.tag_ == other.root.tag_ and _is_determined(phrase) == _is_determined(other):
        value += _WEIGHTS["alike"]  # "children" takes the place of "adults" rather than of "the boat trip"
    # Of equals the last phrase: circumstances stand at the end.
    return value + other.start / (100.0 * len(other.doc))


def _is_determined(span: "Span") -> bool:
    return bool(span[0].pos_ in ("DET", "PRON"))


def _place(phrase: "Span", other: "Span") -> tuple[int, int, str]:
    """Return which part of the question is replaced, and by what."""
    content = [token for token in phrase if not (token.is_stop or token.is_punct) or _form(token) == "letter"]
    if len(content) == 1 and len(other) > 1:
        # "B" takes the place of "A" in "building A"; a noun that of the noun.
        alike = next((t for t in other if _form(t) == _form(content[0]) and _form(t) != "word"), None)
        if alike is not None:
            return alike.idx, alike.idx + len(alike), content[0].text
        modifier = next((t for t in other if t.dep_ in ("compound", "amod", "nmod") and _form(t) == "word"), None)
        if modifier is not None and not _preposition(phrase) and content[0].tag_ not in ("NNS", "NNPS"):
            return modifier.idx, modifier.idx + len(modifier), content[0].text
    said, before = _preposition(phrase), _preposition(other)
    start, text = other.start_char, phrase.text
    if before and text.lower().startswith(f"{before} "):
        text = text[len(before) + 1 :]
    if len(content) == len(other) == 1 and _form(content[0]) == _form(other[0]) == "letter":
        said = ""  # "B" takes the place of "A" behind "building"
    if said and before and said != before:
        start, text = other.doc[other.start - 1].idx, f"{said} {text}"
    elif said and not before:
        text = f"{said} {text}"
    return start, other.end_char, text
