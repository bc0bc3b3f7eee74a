"""Read the clauses of English sentences: who does what to whom, where and when, denied or not.

A clause is a verb with its phrases. Passive clauses are turned ("was founded by Ann" has the subject Ann), participles
and verbs after "and" take over the subject, and an apposition ("Ann Lee, the treasurer,") is a clause with "be".
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal

from workers.evaluation.facts.forms.powers import plain_powers
from workers.evaluation.facts.numbers.number_words import tens_in_digits
from workers.evaluation.facts.numbers.ranges import spoken_ranges
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, WEEKDAYS
from workers.evaluation.text.parser import parse_together
from workers.evaluation.text.words import KEPT_TEXTS, word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Modality = Literal["", "must", "should", "may", "can"]

MAX_LENGTH = 600
"""Longest text that is parsed, code points; longer ones are tables or lists rather than sentences."""

_TITLES = word_set("mr mrs ms dr prof sir dame lord lady st inc ltd llc gmbh ag co corp plc")
_TELLING = frozenset({"relcl", "acl", "prep"})
"""Dependents that say which one a noun means, so that it does not stand for something named before."""
_OF_NAMES = frozenset({"compound", "flat", "nmod", "amod"})
_OUTSIDE = frozenset({"relcl", "acl", "conj", "cc", "appos", "punct", "advcl", "preconj", "parataxis", "mark"})
"""Dependents that are not part of a phrase."""
_MODALS: dict[str, Modality] = {
    "must": "must",
    "shall": "must",
    "should": "should",
    "may": "may",
    "might": "may",
    "can": "can",
    "could": "can",
}
_REQUIRED = word_set("require oblige need force")
_ALLOWED = word_set("allow permit authorise authorize entitle welcome free able")
_FORBIDDEN = word_set("forbid prohibit ban")
_PLANNED = word_set(
    "plan intend hope want aim wish try attempt propose promise seek expect consider threaten agree decide plans plan"
    " intention proposal hope attempt likely possible"
)
_MOVED = word_set("move change postpone reschedule shift relocate transfer switch delay")
_REFUSED = word_set("refuse decline fail forget neglect unable")
_ALMOST = word_set("almost nearly narrowly")
_LIGHT = word_set("take get give go come make")
"""Verbs that say little without their particle."""
_PERHAPS = word_set("perhaps maybe possibly probably")
_PERMISSIONS = _REQUIRED | _ALLOWED | _FORBIDDEN | word_set("possible required mandatory optional compulsory")
NOW = word_set("today now currently tonight")
_PLACES = word_set("inside outside indoors outdoors upstairs downstairs abroad online")
_POINTING = word_set("the this that these those such both")
_NUMBER = re.compile(r"[\d.,'’]*\d")
_GLUED = re.compile(r"(\d[\d.,]*)(?:[–—-](\d[\d.,]*)|[–-]?(?:k|m|mn|b|bn|t|tn))")
"""A range and a figure with its scale, in lower case."""
_NOBODY = word_set("no none neither nobody nothing noone")
_CONDITIONAL = word_set("if unless provided")
_CONNECTING = frozenset(
    {
        *(f"in {noun}" for noun in ("addition", "fact", "general", "contrast", "particular", "short", "summary", "conclusion", "turn")),
        *("as a result", "by contrast", "for example", "for instance", "on the contrary", "on the other hand", "on the one hand"),
    }
)  # fmt: skip
"""Phrases that join a sentence to the one before it and say nothing else."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Describe a phrase of a clause.

    Attributes:
        role: "subject", "object", "attribute" or the preposition before it; "any" if unknown.
        head: lemma of its main word.
        words: lemmas of its content words.
        modifiers: those of them that tell which one it is: nouns, names and figures beside its main word.
        names: its names in lower case, without titles.
        numbers: its numbers, without separators.
        is_pronoun: a pronoun, which may stand for anything.
        is_definite: "the" or "this" before a common noun, which may stand for something named before.
        shares: quantifiers in it ("all", "only", "most").
        is_restricted: whether a relative clause or participle tells which of them are meant ("members who have paid").
        bound: 1 for "more than 25" and "at least 25", -1 for "less than" and "up to", else 0.
    """

    role: str
    head: str
    words: frozenset[str]
    modifiers: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    is_pronoun: bool = False
    is_definite: bool = False
    shares: frozenset[str] = frozenset()
    is_restricted: bool = False
    bound: int = 0


@dataclass(frozen=True, slots=True)
class Clause:
    """Describe a clause.

    Attributes:
        predicate: lemma of its verb; "be" with an attribute.
        phrases: its phrases in order.
        is_negated: whether the verb is denied.
        modality: "must", "should", "may", "can" or "".
        is_conditional: whether a condition stands beside it.
        is_main: whether its verb is that of a sentence rather than of a part of one.
        is_comparison: whether it compares ("older than", "the largest").
        adverbs: lemmas of its adverbs; "always" also for "even if".
        is_state: whether its verb is "be", also where the predicate is an adjective.
        is_open: whether it is only planned, hoped or possible.
        is_past: whether it is stated as done.
        is_imperative: whether it tells somebody what to do.
    """

    predicate: str
    phrases: tuple[Phrase, ...]
    is_negated: bool = False
    modality: Modality = ""
    is_conditional: bool = False
    is_main: bool = False
    is_comparison: bool = False
    adverbs: frozenset[str] = frozenset()
    is_state: bool = False
    is_open: bool = False
    is_past: bool = False
    is_imperative: bool = False

    @property
    def subject(self) -> Phrase | None:
        """Return its subject; ``None`` without one."""
        return next((phrase for phrase in self.phrases if phrase.role == "subject"), None)


_KEPT: Final[dict[str, tuple[Clause, ...]]] = {}
"""Clauses of the texts that were read last, at most ``KEPT_TEXTS``."""
_LOCK: Final = Lock()
_DENIED_BY_PREFIX: Final = re.compile(r"(?:(?<=\bis)|(?<=\bare)|(?<=\bwas)|(?<=\bwere))\snon-(?=[a-z]{4})")
"""The prefix of "tickets are non-refundable", which the parser takes for a word."""


def read_clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a text; empty for a text above ``MAX_LENGTH``."""
    return read_together([text])[text]


def read_together(texts: Iterable[str]) -> dict[str, tuple[Clause, ...]]:
    """Return the clauses of each text. Parse all uncached texts in one batch.

    A text above ``MAX_LENGTH`` has no clauses.
    """
    wanted = dict.fromkeys(texts)
    with _LOCK:
        found = {text: _KEPT.pop(text) for text in wanted if text in _KEPT}
        _KEPT.update(found)  # behind the others, since the first is dropped first
    unknown = [text for text in wanted if text not in found]
    readable = [text for text in unknown if 0 < len(text) <= MAX_LENGTH]
    read = dict.fromkeys(unknown, ()) | {
        text: tuple(clauses_of(doc))
        for text, doc in zip(
            readable,
            parse_together(
                [_DENIED_BY_PREFIX.sub(" not ", spoken_ranges(tens_in_digits(plain_powers(each)))) for each in readable]
            ),
            strict=True,
        )
    }
    with _LOCK:
        _KEPT.update(read)
        for text in list(islice(_KEPT, max(0, len(_KEPT) - KEPT_TEXTS))):
            del _KEPT[text]
    return found | read


def clauses_of(doc: "Doc") -> Iterator[Clause]:
    """Yield the clauses of a parsed text in the order of their verbs."""
    for token in doc:
        if _is_verb(token):
            yield from _clauses_at(token)
        if token.dep_ == "conj" and token.pos_ in ("NOUN", "PROPN") and _is_verb(token.head):
            yield from _without_verb(token.head, token)
        if token.dep_ == "appos" and token.head.pos_ in ("NOUN", "PROPN"):
            phrases = (*phrases_at(token.head, "subject"), *phrases_at(token, "attribute"))
            if not any(phrase.numbers for phrase in phrases):
                yield Clause("be", phrases)


def _is_verb(token: "Token") -> bool:
    if token.pos_ == "ADJ" and (
        any(child.dep_ == "auxpass" for child in token.children)
        or (token.dep_ == "conj" and token.head.tag_ == "VBN" and token.text.endswith("ed"))
    ):
        return True  # "The deposit is always refunded" has its participle taken for an adjective.
    if token.pos_ not in ("VERB", "AUX") or token.dep_ in ("aux", "auxpass"):
        return False
    if token.lemma_ == "have" and any(child.dep_ == "xcomp" for child in token.children):
        return False  # "have to" says how, not what
    return token.dep_ not in ("amod", "compound", "nmod", "det") or any(
        child.dep_ in ("nsubj", "nsubjpass", "dobj") for child in token.children
    )


def _clauses_at(verb: "Token") -> Iterator[Clause]:
    if _is_negated(verb) and _is_asked_why(verb):
        return  # "Why is he not more worried?" says neither.
    phrases = [*_own_phrases(verb)]
    if not any(phrase.role == "subject" for phrase in phrases) or _lacks_object(verb, phrases):
        phrases = [*_inherited(verb, phrases), *phrases]
    split = _gapped(verb)
    adverbs = {child.lemma_.lower() for child in verb.children if child.dep_ in ("advmod", "neg")}
    adverbs |= {
        own.lower_ for child in verb.children if child.dep_ == "prep" for own in child.children if own.lower_ == "only"
    }
    if any(child.dep_ == "advcl" and _is_concession(child) for child in verb.children):
        adverbs.add("always")
    adjective = next((child for child in verb.children if child.dep_ == "acomp" and verb.lemma_ == "be"), None)
    clause = Clause(
        predicate=_lemma(verb if adjective is None else adjective),
        phrases=tuple(phrases),
        is_negated=_is_negated(verb),
        modality=_modality(verb),
        is_conditional=_is_conditional(verb),
        is_main=verb.dep_ == "ROOT" or (verb.dep_ == "xcomp" and verb.head.dep_ == "ROOT" and not _is_verb(verb.head)),
        is_comparison=any(
            own.tag_ in ("JJR", "RBR", "JJS", "RBS")
            for child in verb.children
            if not _is_no_longer(child)
            for own in (child, *child.children)
        ),
        adverbs=frozenset(adverbs),
        is_state=verb.lemma_ == "be",
        is_open=_is_open(verb),
        is_past=_is_past(verb),
        is_imperative=_is_imperative(verb),
    )
    yield from _excluded(verb, clause)
    yield from _moved(clause)
    if split is None:
        yield clause
        return
    subject, place = split
    moved = [phrase for child in verb.children if child.i >= place for phrase in _phrases_of_child(verb, child)]
    kept = tuple(phrase for phrase in phrases if phrase not in moved and not phrase.words & {subject.lemma_.lower()})
    yield replace(clause, phrases=kept)
    yield replace(clause, phrases=(*phrases_at(subject, _subject_role(verb)), *_appositions(verb, subject), *moved))


def _lacks_object(verb: "Token", phrases: list[Phrase]) -> bool:
    """Return true for "painted by Rosa" in "the mural, painted by Rosa, covers the wall"."""
    is_participle = verb.tag_ == "VBN" and not any(child.dep_ in ("aux", "auxpass") for child in verb.children)
    return is_participle and not any(phrase.role == "object" for phrase in phrases)


def _gapped(verb: "Token") -> "tuple[Token, int] | None":
    """Return the second subject of "Ann was born in Graz and Karl in Linz", and where its phrases begin."""
    preps = [child for child in verb.children if child.dep_ == "prep"]
    for first in preps:
        for second in preps:
            if second.i <= first.i or second.lower_ != first.lower_:
                continue
            between = [
                token
                for token in verb.subtree
                if first.i < token.i < second.i and token.dep_ == "conj" and token.pos_ in ("NOUN", "PROPN")
            ]
            if between:
                return between[-1], second.i
    return None


def _without_verb(verb: "Token", subject: "Token") -> Iterator[Clause]:
    """Yield the clause of "the seat of leather" after "The frame is made of steel and"."""
    own = [phrase for child in subject.children if child.dep_ == "prep" for phrase in _phrases_of_child(verb, child)]
    own += [phrase for child in subject.children if child.dep_ == "nummod" for phrase in phrases_at(child, "any")]
    if own:
        (named, *_) = phrases_at(subject, _subject_role(verb))
        bare = named.words - frozenset().union(*(phrase.words for phrase in own))
        subject_phrase = replace(named, words=bare or named.words, numbers=frozenset())
        yield Clause(_lemma(verb), (subject_phrase, *own), is_negated=_is_negated(verb))


def _subject_role(verb: "Token") -> str:
    return "object" if any(child.dep_ in ("auxpass", "nsubjpass") for child in verb.children) else "subject"


def _appositions(verb: "Token", subject: "Token") -> Iterator[Phrase]:
    for child in subject.children:
        if child.dep_ == "appos":
            yield from phrases_at(child, _subject_role(verb))


def _lemma(token: "Token") -> str:
    if any(_is_place(token, child) for child in token.children):
        return "occur"
    lemma = token.lemma_.lower()
    # "Take over", "give up" and "get in" are acts of their own.
    particle = next((child.lower_ for child in token.children if child.dep_ == "prt"), "")
    return f"{lemma} {particle}" if particle and lemma in _LIGHT else lemma


def _is_place(verb: "Token", token: "Token") -> bool:
    """Return true for "place" in "take place"."""
    return verb.lemma_ == "take" and token.dep_ == "dobj" and token.lower_ == "place"


def _is_negated(verb: "Token") -> bool:
    turned = sum(child.dep_ == "neg" or child.lower_ == "never" or _is_no_longer(child) for child in verb.children)
    turned += any(child.lower_ in _ALMOST and child.i < verb.i and child.dep_ == "advmod" for child in verb.children)
    if verb.dep_ == "xcomp" and verb.head.lemma_.lower() in _REFUSED:
        turned += 1
    for child in verb.children:
        if child.dep_ in ("nsubj", "nsubjpass", "dobj", "attr"):
            turned += any(own.lower_ in _NOBODY for own in (child, *child.children))
        if child.dep_ == "acomp":
            turned += any(own.dep_ == "neg" for own in child.children)
    if verb.dep_ == "pcomp":
        turned += any(own.lower_ in ("instead", "without") for own in (verb.head, verb.head.head))
    return turned % 2 == 1


def _is_no_longer(token: "Token") -> bool:
    return token.lower_ in ("longer", "more") and any(child.lower_ == "no" for child in token.children)


def _is_open(verb: "Token") -> bool:
    """Return true for "plans to build", "might fix" and "hopes that it will fix"."""
    if any(child.dep_ == "aux" and child.lower_ in ("may", "might", "could", "would") for child in verb.children):
        return True
    if any(child.dep_ == "advmod" and child.lower_ in _PERHAPS for child in verb.children):
        return True
    if any(child.lower_ in ("until", "till") and child.dep_ == "mark" for child in verb.children) and not _is_past(
        verb
    ):
        return True
    return verb.dep_ in ("xcomp", "ccomp", "acl") and verb.head.lemma_.lower() in _PLANNED


def _is_past(verb: "Token") -> bool:
    auxiliaries = {child.lemma_.lower(): child for child in verb.children if child.dep_ in ("aux", "auxpass")}
    if any(child.tag_ == "MD" for child in auxiliaries.values()) or verb.dep_ == "xcomp":
        return False
    return "have" in auxiliaries or any(own.tag_ == "VBD" for own in (verb, *auxiliaries.values()))


def _is_asked_why(verb: "Token") -> bool:
    """Return true for "why is he …" and "asks why he is …", but not for the statement "this is why he is …"."""
    subject = next((child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass")), None)
    first = min((own.i for own in (verb, *verb.children) if own.pos_ == "AUX" or own == verb), default=verb.i)
    is_turned = subject is not None and first < subject.i
    return any(child.lower_ == "why" for child in verb.children) and (
        is_turned or (verb.dep_ == "ccomp" and verb.head.lemma_.lower() in ("ask", "wonder"))
    )


def _is_imperative(verb: "Token") -> bool:
    return (
        verb.dep_ == "ROOT"
        and verb.tag_ in ("VB", "VBP")
        and not any(child.dep_ in ("nsubj", "nsubjpass", "aux", "expl") for child in verb.children)
    )


def is_instruction(text: str) -> bool:
    """Return true if an English sentence tells somebody what to do: "In a pan, fry the onions for 5 minutes."."""
    return any(clause.is_imperative for clause in read_clauses(text))


def _excluded(verb: "Token", clause: Clause) -> Iterator[Clause]:
    """Yield what "but not inside" and "not on Sundays" deny beside what a clause says."""
    for child in verb.children:
        for own in (child, *child.children):
            if own.dep_ != "conj" or _is_verb(own) or not _is_denied(own):
                continue
            role = {"dobj": "object", "attr": "attribute"}.get(child.dep_, "any")
            subject = tuple(
                phrase for phrase in clause.phrases if phrase.role == "subject" or phrase.role not in (role, "any")
            )
            denied = tuple(_phrases_of_preposition(own) if own.pos_ == "ADP" else phrases_at(own, role))
            if own.pos_ == "ADP":
                subject = tuple(phrase for phrase in clause.phrases if phrase.role in ("subject", "object"))
            yield replace(clause, phrases=(*subject, *denied), is_negated=not clause.is_negated, is_main=False)


def _moved(clause: Clause) -> Iterator[Clause]:
    """Yield where a thing is and is not, after "was moved from Monday to Wednesday"."""
    thing = next((phrase for phrase in clause.phrases if phrase.role == "object"), clause.subject)
    if clause.predicate not in _MOVED or thing is None or clause.is_negated or clause.is_open:
        return
    for phrase in clause.phrases:
        if phrase.role in ("from", "to"):
            place = replace(phrase, role="on")
            yield Clause("be", (replace(thing, role="subject"), place), is_negated=phrase.role == "from", is_state=True)


def _phrases_of_preposition(token: "Token") -> Iterator[Phrase]:
    for own in token.children:
        if own.dep_ in ("pobj", "pcomp"):
            yield from phrases_at(own, token.lemma_.lower())


def _modality(verb: "Token") -> Modality:
    for child in verb.children:
        if child.dep_ == "aux" and child.lemma_.lower() in _MODALS:
            return _MODALS[child.lemma_.lower()]
    head = verb.head
    if verb.dep_ == "xcomp" and head.lemma_.lower() in ("have", "need", "require", "oblige"):
        return "must"
    if verb.dep_ == "xcomp" and head.lemma_.lower() in _ALLOWED:
        return "may"
    return ""


def _is_conditional(verb: "Token") -> bool:
    for child in verb.children:
        if child.dep_ == "advcl" and any(own.lower_ in _CONDITIONAL for own in child.children):
            return not _is_concession(child)
        if child.lower_ in ("only", "unless", "except", "provided", "providing"):
            return True
    return False


def _is_concession(verb: "Token") -> bool:
    return any(child.lower_ == "even" for child in verb.children)


def _own_phrases(verb: "Token") -> Iterator[Phrase]:
    for child in verb.children:
        yield from _phrases_of_child(verb, child)


def _phrases_of_child(verb: "Token", child: "Token") -> Iterator[Phrase]:
    passive = any(other.dep_ in ("auxpass", "nsubjpass") for other in verb.children)
    if child.dep_ == "npadvmod" and any(_town(verb, other) == child for other in verb.children):
        return
    match child.dep_:
        case "nsubj":
            yield from _relative(verb, child, "subject")
        case "nsubjpass":
            yield from _relative(verb, child, "object")
        case "dobj" | "dative" if child.pos_ != "ADP" and not _is_place(verb, child):
            yield from _relative(verb, child, "object")
        case "acomp" if verb.lemma_ == "be":
            for own in child.children:
                yield from _phrases_of_child(verb, own)
        case "attr" | "acomp" | "oprd":
            yield from phrases_at(child, "attribute")
        case "npadvmod" | "nummod" | "expl":
            if child.lower_ not in NOW:
                yield from phrases_at(child, "any")
        case "advmod" if child.lower_ in _PLACES:
            yield from phrases_at(child, "any")
        case "prep" if _is_connecting(child):
            return
        case "prep" | "agent" | "dative":
            by_agent = child.dep_ == "agent" or (passive and child.lower_ == "by")
            for own in child.children:
                if own.dep_ in ("pobj", "pcomp"):
                    yield from phrases_at(own, "subject" if by_agent and own.pos_ != "NUM" else child.lemma_.lower())
                elif own.dep_ == "conj" and own.pos_ == "ADP" and not _is_denied(own):
                    # "in transit and at rest"
                    for part in own.children:
                        if part.dep_ == "pobj":
                            yield from phrases_at(part, own.lemma_.lower())


def _is_connecting(preposition: "Token") -> bool:
    """Return true for "in addition" and "on the other hand"; "in addition to the fee" says something."""
    return " ".join(own.lower_ for own in preposition.subtree) in _CONNECTING


def _town(verb: "Token", subject: "Token") -> "Token | None":
    """Return "Cusco" of "Cusco, Peru has a mild climate", where the parser takes the country for the subject."""
    before = subject.i - 2
    if subject.dep_ not in ("nsubj", "nsubjpass") or before < 0 or subject.doc[before + 1].text != ",":
        return None
    town = subject.doc[before]
    is_place = town.pos_ == subject.pos_ == "PROPN" and town.dep_ == "npadvmod" and town.head == verb
    is_time = town.lower_ in _CALENDAR or town.lower_ in _DAYS
    return town if is_place and not is_time else None


def _relative(verb: "Token", token: "Token", role: str) -> Iterator[Phrase]:
    """Yield the phrase of a subject or object; "which" and "who" stand for the noun before their clause."""
    token = _town(verb, token) or token
    if token.tag_ in ("WDT", "WP") and verb.dep_ == "relcl":
        yield from phrases_at(verb.head, role)
    else:
        yield from phrases_at(token, role)


def _inherited(verb: "Token", own: list[Phrase]) -> Iterator[Phrase]:
    """Yield the subject that a verb without one takes over."""
    passive = any(child.dep_ == "auxpass" for child in verb.children) or verb.tag_ == "VBN"
    role = "object" if passive and not any(phrase.role == "object" for phrase in own) else "subject"
    if verb.dep_ in ("acl", "relcl") and verb.head.pos_ in ("NOUN", "PROPN"):
        yield from phrases_at(verb.head, role)
        return
    head = verb
    for _ in range(5):
        if head.dep_ not in ("conj", "xcomp", "advcl", "pcomp", "prep", "ccomp") or head.head is head:
            return
        head = head.head
        for child in head.children:
            if child.dep_ in ("nsubj", "nsubjpass"):
                yield from _relative(head, child, role)
                return


def phrases_at(token: "Token", role: str) -> Iterator[Phrase]:
    """Yield the phrase of a noun, those after "and" in the same role, and those within it by their preposition."""
    members = [own for own in _members(token) if not own.is_punct]
    yield _phrase(token, role, members)
    for own in members:
        if own.dep_ == "pobj" and own is not token:
            yield _phrase(own, own.head.lemma_.lower(), [part for part in _members(own) if not part.is_punct])
    for child in token.children:
        if child.dep_ == "conj" and child.pos_ not in ("VERB", "AUX") and not _is_denied(child):
            yield from phrases_at(child, role)


def _is_denied(token: "Token") -> bool:
    """Return true for "macOS" in "Linux but not macOS"."""
    return any(own.dep_ == "neg" for own in token.children)


def _members(token: "Token") -> "Iterator[Token]":
    for child in token.lefts:
        if child.dep_ not in _OUTSIDE:
            yield from _members(child)
    yield token
    for child in token.rights:
        if child.dep_ not in _OUTSIDE:
            yield from _members(child)


def _phrase(token: "Token", role: str, members: "list[Token]") -> Phrase:
    numbers = frozenset(number for own in members for number in _numbers(own, token))
    named = [token, *(own for own in token.children if own.dep_ == "appos" and own.pos_ == "PROPN")]
    # "The Sydney native" is no name but may stand for one; "her brother Karl" and "Sydney" are names.
    named = [own for own in named if own.pos_ == "PROPN"]
    proper = [own for one in named for own in (one, *one.children) if own in named or own.dep_ in _OF_NAMES]
    names = frozenset(
        _undotted(own.lower_)
        for own in proper
        if own.pos_ == "PROPN" and _undotted(own.lower_) not in _TITLES and own.lower_ not in _CALENDAR
    ) or _label(token)
    words = frozenset(
        _undotted(own.lemma_.lower()) if own.pos_ == "PROPN" else own.lemma_.lower()
        for own in members
        if own.pos_ in ("NOUN", "PROPN", "ADJ", "VERB", "ADV", "NUM", "X") and (not own.is_stop or own.lower_ in _TOLD)
    )
    near = {own.lower_ for own in token.children if own.dep_ == "det"}
    head = _noun_of_one(token)
    if head != token.lemma_.lower():
        words |= {head}
    return Phrase(
        role=role,
        head=head,
        words=words or frozenset({head}),
        modifiers=frozenset(
            own.lemma_.lower()
            for own in (*_beside(token, members), *_further_objects(members))
            if own is not token
            and (own.lower_ == "other" or (own.pos_ in ("NOUN", "PROPN", "NUM") and not own.is_stop))
        ),
        names=names,
        numbers=numbers,
        is_pronoun=token.pos_ == "PRON" and token.tag_ not in ("WP", "WDT"),
        is_definite=bool(near & _POINTING) and not names and not any(own.dep_ in _TELLING for own in token.children),
        shares=frozenset(own.lower_ for own in members if own.lower_ in _QUANTIFIERS),
        is_restricted=any(
            own.dep_ in ("relcl", "acl") and not any(part.is_punct for part in token.doc[token.i + 1 : own.left_edge.i])
            for own in token.children
        ),
        bound=_bound(members) if numbers else 0,
    )


def _noun_of_one(token: "Token") -> str:
    """Return the lemma of a noun, for "one" that of the noun before that has an adjective too: "the yellow one"."""
    if token.lower_ in ("one", "ones") and any(child.dep_ == "amod" for child in token.children):
        for own in reversed(token.doc[: token.i]):
            if own.pos_ == "NOUN" and any(child.dep_ == "amod" for child in own.children):
                return own.lemma_.lower()
    return token.lemma_.lower()


def _label(token: "Token") -> frozenset[str]:
    """Return the letter of "vitamin D" and "platform A" as a name; the parser takes some of them for nouns."""
    is_label = len(token.text) == 1 and token.text.isupper() and any(own.dep_ == "compound" for own in token.lefts)
    return frozenset({token.lower_}) if is_label else frozenset()


def _beside(token: "Token", members: "list[Token]") -> "Iterator[Token]":
    """Yield the members that no clause lies between: not "Congress" of "the vote on whether he remains in Congress"."""
    for own in members:
        between = itertools.takewhile(lambda above: above.i != token.i, (own, *own.ancestors))
        if not any(above.pos_ in ("VERB", "AUX") for above in between):
            yield own


def _undotted(name: str) -> str:
    """Return "us" for "u.s."."""
    return name.replace(".", "") or name


def _further_objects(members: "list[Token]") -> "Iterator[Token]":
    """Yield "Paris" of "the offices in Berlin and Paris"."""
    return (own for part in members if part.dep_ == "pobj" for own in part.children if own.dep_ == "conj")


def _numbers(own: "Token", head: "Token") -> Iterator[str]:
    """Yield the figures of a word of a phrase; "3–5 days" and "70B parameters" are each one word."""
    if own.lower_ == "one" and own.i + 1 < len(own.doc) and own.doc[own.i + 1].text in ("-", "‑"):
        return  # "one-liners"
    if (
        _NUMBER.fullmatch(own.text)
        or (own.dep_ == "nummod" and own.lower_ == "one")
        or NUMBER_WORDS.get(own.lower_, 1_000.0) < 1_000.0
    ):
        yield _plain_number(own.lower_)
    elif own is not head and head.tag_ == "NNS" and (match := _GLUED.fullmatch(own.lower_)):
        yield from map(_plain_number, filter(None, match.groups()))


def _bound(members: "list[Token]") -> int:
    words = {own.lower_ for own in members}
    if words & {"more", "least", "over", "above", "minimum"}:
        return 1
    return -1 if words & {"less", "fewer", "most", "under", "below", "maximum", "up"} else 0


_CALENDAR = frozenset((*MONTHS, *WEEKDAYS))
_DAYS = word_set("day eve morning evening night week year christmas easter spring summer autumn winter")
"""Words of times that stand before a comma as a town does: "Christmas Day, Peru …"."""
_TOLD = word_set("other used first second third last next")
"""Words that the parser's list of small words has, and that tell things apart."""
_QUANTIFIERS = word_set(
    "all every each any only most some many few several no none both half always everyone everybody anyone"
)


def _plain_number(text: str) -> str:
    if text in NUMBER_WORDS or text == "one":
        return f"{NUMBER_WORDS.get(text, 1.0):g}"
    return re.sub(r"[,'’]", "", text).rstrip(".")
