"""Restore the verb that a later clause leaves out: "Lions live in Africa and tigers in Asia".

Gapping (Quirk et al., A Comprehensive Grammar of the English Language, 13.92). With its verb each clause has its own
subject, object and place, so that the rules on clauses read both. The text is compared and never shown.

A clause without a verb is read beside the clause before it if both end in the same kind of phrase: behind one
preposition ("in Africa", "in Asia"), in adverbs of frequency ("monthly", "yearly") or in objects ("the queen", "the
king"). Its first phrase takes the part of the subject or of the object that has its form: a name, a noun with an article
or a bare noun. Where both have, nothing is restored.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Literal

from workers.evaluation.budget import spend
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, WEEKDAYS
from workers.evaluation.text.parser import NOUNS, VERBS, parse, parse_together
from workers.evaluation.text.words import kept_for_sentences, word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MAX_TEXT = 240
"""Longest sentence that is read, code points."""
MAX_CLAUSES = 4
"""Most clauses of a sentence that get a verb."""
MAX_TRIED = 3
"""Most places of a clause at which a verb may be missing that are looked at."""
PARSED = 8
"""Operations of three parses for each code point."""

_TIMES = frozenset((*MONTHS, *WEEKDAYS)) | word_set("morning afternoon evening night")
_ARTICLES = word_set("the a an its his her their our your my every each all both")
_LINKS = "in on at with from to by for as every until till after before into under over through via during since that"
_LINK = rf"(?:{'|'.join(_LINKS.split())})"
_OFTEN = "(?:(?:two|three|four|five|six|\\d+) times|hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually|once|twice|first|last|free|half)"
_OBJECT = rf"(?:the|an?|half|double|nothing|none|\d[\d.,]*|{'|'.join(sorted(NUMBER_WORDS))})"
_COUNT = rf"(?:one|\d[\d.,]*|{'|'.join(sorted(NUMBER_WORDS))})"
_JOINS = "(?:and|but|while|whereas|or)"
_CUT = rf"(?P<cut>[,;]\s(?:{_JOINS}\s)?|\s{_JOINS}\s)"
_WORD = rf"(?!{_JOINS}\b)[^\s.,;:!?()\"]+"
_NO_LINK = rf"(?!(?:{_JOINS}|of|{_LINK})\b)[^\s.,;:!?()\"]+"
_ARTICLE_OR_NAME = r"(?=[A-Z]|(?:the|an?|its|his|her|their|our|your|my|every|each)\s)"
_END = rf"(?=\s*(?:[.;,!]|$|\s{_JOINS}\s))"
_NAME = r"(?:[A-Z][a-z]{1,3}\.?\s)?[A-Z][\w'’-]+"
_GAPS = tuple(
    # In a lookahead, since a match may begin within another one that turns out to be none.
    re.compile(rf"\s(?={pattern}{_END})")
    for pattern in (
        rf"(?P<first>(?P<link>{_LINK})(?:\s{_WORD}){{1,6}}?){_CUT}(?P<who>{_WORD}(?:\s{_WORD}){{0,4}}?)\s(?P<rest>(?P=link)(?:\s{_WORD}){{1,6}}?)",
        rf"(?P<first>(?P<link>{_OFTEN})(?:\s{_WORD}){{0,3}}?){_CUT}(?P<who>{_NO_LINK}(?:\s{_NO_LINK}){{0,4}}?)\s(?P<rest>{_OFTEN}(?:\s{_WORD}){{0,3}}?)",
        rf"(?P<first>(?P<link>{_OBJECT})(?:\s{_WORD}){{1,4}}?){_CUT}{_ARTICLE_OR_NAME}(?P<who>{_NO_LINK}(?:\s{_NO_LINK}){{0,4}}?)\s(?P<rest>{_OBJECT}(?:\s{_WORD}){{1,4}}?)",
        rf"(?P<first>(?P<link>){_COUNT}(?P<counted>\s[a-z][\w-]+)){_CUT}(?P<who>{_NAME}|the\s[a-z][\w-]+)\s(?P<rest>{_COUNT})",
        rf"(?P<first>(?P<link>)[a-z][\w-]+){_CUT}(?P<who>{_NAME})\s(?P<rest>(?!{_COUNT}\b)[a-z][\w-]+)",
        r"(?P<first>(?P<link>)[a-z][\w-]+)(?P<cut>[,;]\s)(?P<who>the\s[a-z][\w-]+)\s(?P<rest>[a-z][\w-]+)(?=\W*$)",
    )
)
"""Two phrases of one kind at the ends of two clauses, and what stands before the second."""
_NO_THING = re.compile(
    r"\b(?:\w{3,}(?:ing|ed)|said|says|is|are|was|were|be|been|has|have|had|do|does|did|can|could|will|would|may|might|must|should|went|came"
    r"|i|you|he|she|we|they|it|him|them|us|this|these|those|there|here|which|who|whom|where|when|what|how|nor|not|also|then|about)\b",
    re.IGNORECASE,
)
"""Words that no thing is called by; where one of them stands, nothing is parsed."""
_APPOSED = re.compile(r"\b[A-Z][\w'’-]*, (?:the|an?)\s|, (?:the|an?)\s(?:most|only|main|\w+est)\b")
"""A name and what it is called, or a thing and what it is: "in Aurora, the largest town in the region"."""
_WHICH = re.compile(r"\w+\sthe\s(?:first|second|third|fourth|fifth|last|next|other|former|latter)")
_WITH_NOUN = re.compile(r"\w+\sthe\s[\w-]+(?P<noun>\s[\w-]+)")
_SUBJECTS = ("nsubj", "nsubjpass")
_Form = Literal["name", "article", "bare"]


def restore_gapped(text: str) -> str:
    """Return an English sentence whose clauses have the verb that they share with the clause before.

    Raises:
        BudgetExceeded: the evaluation has spent its operations.
    """
    if len(text) > MAX_TEXT:
        return text
    restored, tried = _restore(text)
    spend(tried * len(text) * PARSED)
    return restored


@kept_for_sentences
def _restore(text: str) -> tuple[str, int]:
    """Return a sentence with its verbs, and how often it was parsed."""
    start = tried = 0
    for _ in range(MAX_CLAUSES):
        for match in islice(_matches(text, start), MAX_TRIED):
            tried += 1
            if restored := _restored(text, start, match):
                text, start = restored
                break
        else:
            break
    return text, tried


def _matches(text: str, start: int) -> Iterator[re.Match[str]]:
    for gap in _GAPS:
        for match in gap.finditer(text, start):
            read = match["who"] if match["link"] == "that" else f"{match['who']} {match['rest']}"
            if not _NO_THING.search(read):
                yield match


def _restored(text: str, start: int, match: re.Match[str]) -> tuple[str, int] | None:
    """Return a text with the verb of one clause, and the place where that clause begins; ``None`` if none is missing."""
    clause, later = text[start : match.end("first")], text[match.start("who") : match.end("rest")]
    own, other = parse_together([clause, later])
    is_joined = bool(re.search(_JOINS, match["cut"]))
    shared = _shared(own, match.start("first") - start, match["who"], is_joined=is_joined)
    if (
        shared is None
        or (not is_joined and _APPOSED.search(f"{match['first']}, {later}"))
        or not _is_thing(other, len(match["who"]))
    ):
        return None
    # A clause behind "that" has its own verb.
    end = match.start("rest") if match["link"] == "that" else match.end("rest")
    places = ((other, 0, end - match.start("who")), (parse(text), match.start("who"), end))
    if any(token.pos_ in VERBS for doc, first, last in places for token in doc if first <= token.idx < last):
        return None
    is_subject, words = shared
    # Objects behind a comma or of one verb are items of a list or appositions.
    if not is_subject and not (is_joined and match["link"] in _LINKS.split()):
        return None
    who, rest = match["who"], match["rest"]
    if is_subject and who.endswith(" one"):
        who = who.removesuffix("one") + next(token.text for token in own if token.dep_ in _SUBJECTS)
    # "Ann scored two goals and Ben three" leaves out what is counted.
    rest += match.groupdict().get("counted") or ""
    if _WHICH.fullmatch(rest) and (noun := _WITH_NOUN.fullmatch(match["first"])):
        rest += noun["noun"]
    parts = (who, words, rest) if is_subject else (words, who, rest)
    return text[: match.start("who")] + " ".join(parts) + text[match.end("rest") :], match.start("who")


def _is_thing(clause: "Doc", end: int) -> bool:
    """Return true if the words before a place name one thing: not "the women silver" nor "later"."""
    *before, last = (token for token in clause if token.idx < end)
    is_noun = last.pos_ in NOUNS or last.lower_ == "one" or (last.pos_ == "ADJ" and before)
    return bool(is_noun) and last.lower_ not in _TIMES and not any(token.tag_ == "NNS" for token in before)


def _shared(clause: "Doc", end: int, who: str, *, is_joined: bool) -> tuple[bool, str] | None:
    """Return the words of a clause that the next one leaves out, and whether that one has a subject of its own.

    Args:
        clause: the clause with a verb.
        end: where the phrase begins in which both clauses differ.
        who: first phrase of the next clause.
        is_joined: a conjunction joins the clauses, so that the next one begins no apposition.
    """
    root = next((token for token in clause if token.dep_ == "ROOT"), None)
    if root is None or root.pos_ not in VERBS or root.idx >= end:
        return None
    verb = min((root, *(token for token in root.children if token.dep_ in ("aux", "auxpass"))), key=_place)
    subject = next((token for token in root.children if token.dep_ in _SUBJECTS), None)
    if subject is not None and subject.idx > verb.idx:
        return None
    between = [token for token in clause if root.idx < token.idx < end]
    opening, stop = who.split()[0], between[0].idx if between else end
    if between and between[0].pos_ == "ADP":
        link, between = between[0], between[1:]
        if opening != link.text:
            stop = link.idx + len(link)
        elif len(who.split()) > 1:
            opening = who.split()[1]
    own = _form(opening)
    of_subject = subject is not None and (
        (is_joined and not between) or (subject.pos_ != "PRON" and _form_of(subject) == own)
    )
    of_object = bool(between) and _form(between[0].text, between[0].pos_) == own
    if of_subject == of_object:
        return None
    words = clause.text[verb.idx : end if of_subject else stop].strip()
    if "," in words:
        return None
    return of_subject, words if verb.i else words[0].lower() + words[1:]


def _place(token: "Token") -> int:
    return int(token.idx)


def _form_of(noun: "Token") -> _Form:
    return _form(noun.doc[noun.left_edge.i].text, noun.pos_)


def _form(word: str, kind: str = "PROPN") -> _Form:
    if word.lower() in _ARTICLES:
        return "article"
    return "name" if word[0].isupper() and kind == "PROPN" else "bare"
