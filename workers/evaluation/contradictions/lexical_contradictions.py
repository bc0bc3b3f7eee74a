"""Find opposites in two texts: antonyms, privative prefixes, comparatives and quantifiers.

Both texts are cut into clauses. Two clauses concern one subject if most of their other words are the same; then an
antonym, or a quantifier that excludes the other, is a contradiction. A negation inverts a word ("not closed" is
"open"), and so does a comparison with exchanged sides ("A is longer than B" is "B is shorter than A"). If any clause of
the evidence agrees with the claim, there is no contradiction.

Sources of the method: MacCartney and Manning, "Natural logic for textual inference" (2007), for
antonyms and quantifiers under alignment and polarity; the thresholds are measured, see
``CLAIM_OVERLAP``.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from schemas.grounding import Mismatch
from workers.evaluation.budget import spend
from workers.evaluation.contradictions.antonyms import (
    DEGREES,
    PARTICLE_VERBS,
    POLES,
    SHARES,
    with_plain_verbs,
    without_privative,
)
from workers.evaluation.contradictions.denials import refuses_without
from workers.evaluation.contradictions.values.row_mismatch import read_fields
from workers.evaluation.facts.units import NUMBER_WORDS, UNITS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import PEOPLE, STOP_WORDS, stem, word_set

CLAIM_OVERLAP = 0.65
"""Share of the claim's other words that evidence on the same subject must contain."""
EVIDENCE_OVERLAP = 0.5
"""The same for the evidence's other words; it may contain more than the claim."""
MAX_VALUE_WORDS = 3
"""Length above which the value of a field is prose."""
MIN_RATIO = 2
"""Maximum number of words of the evidence compared with a claim that has one other word."""

MAX_STATEMENTS = 30
"""Maximum number of clauses of a text; clauses are compared pair by pair, so that the limit bounds the time."""

_CLAUSE = re.compile(
    r"[,;:()–—]\s|[.!?]\s|\s(?:but|while|whereas|although|because|who|which|aber|während|weil|mais)\s", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_DECIMAL = re.compile(r"(?<=\d)[.,](?=\d)")
_FREE = re.compile(
    r"\b(?:need not|needn['’]t|(?:do|does) ?(?:not|n['’]t) (?:have|need) to|not (?:required|mandatory|compulsory|obligatory)"
    r"|no need to|(?:needs?|needed|requires?|required) no)\b",
    re.IGNORECASE,
)
_FORBIDDEN_TO = PrefilteredPattern(
    r"(?<!\bnot )\b(?:strictly |expressly )?(?:forbidden|prohibited|banned|barred) (?:to|from)\b", re.IGNORECASE
)
"""Words that deny the act behind them: "forbidden to publish"."""
_KEPT_FROM = PrefilteredPattern(
    r"\b(?:keep|keeps|kept|keeping|prevents?|prevented|preventing|stops?|stopped|blocks?|deters?|hinders?) ((?:[\w'’-]+ ){1,5}?)from (?=\w+ing\b)",
    re.IGNORECASE,
)
"""Words that deny of a thing what it is kept from: "keep the birds from nesting"."""
_LEFT_ALONE = PrefilteredPattern(
    r"\b(?:let|lets|letting|allow|allows|allowed|allowing|leave|leaves|leaving)\b", re.IGNORECASE
)
_AT_REST = word_set("sit sits sitting sat stand stands standing stood")
"""Verbs that mean one thing of what is left alone: "let the dough sit" and "allow it to stand"."""
_ONE_OF = PrefilteredPattern(
    r"\b(?:only |just )?(?:one|two|three|some|part) of (?:the|its|our|their)\b|\bonly some\b", re.IGNORECASE
)
_EVERY_ONE = re.compile(r"\b(?:every|each) (?:single )?one of\b", re.IGNORECASE)
_NOT_ALL = re.compile(r"\bnot (?:all|every|each|always|everyone|everybody)\b", re.IGNORECASE)
_SHARE = re.compile(r"(?<![\d.,])(\d{1,3}(?:[.,]\d{1,3})?)\s?(?:%|percent|per cent)", re.IGNORECASE)
_NO_SHARE = PrefilteredPattern(
    r"\b(?:at all|after all|all over|all in all|above all|half an?|each other|one another)\b", re.IGNORECASE
)
_PLANNING = word_set("plan plans planned planning intend intends intended want wants wanted hope hopes hoped")
_NEGATIONS = word_set("not never no neither nor none nobody nothing cannot nicht kein keine nie pas jamais")
_SKIPPED = word_set(
    "be been being longer yet any the a an to have has had do does did is are was were will would can could may might"
    " should ever also even actually currently very wurde wird werden ist sind hat haben war est sont été of its their"
    " so too get gets got become became"
)
_SWITCHED = PARTICLE_VERBS - word_set("log logs logged logging sign signs signed signing")
_AS_STATE = {"on": POLES["enabled"], "off": POLES["disabled"]}
"""The side of "enabled" for what is switched on or off."""
_NAMED = word_set("named called look looks looking looked sought modelled take takes took")
_ONLY = re.compile(r"\b(\w+) only (?:an? |the |one )?(\w+)\W*$", re.IGNORECASE)
_ITEMS = re.compile(r", (?:and )?| and ", re.IGNORECASE)
_PIVOTS = word_set("than before after")
_NO_NOUN = word_set("of the its their our his her these those such a an")
_DEFINITE = word_set("the these those both its their our your his her my")
"""Words before a number of things that are all of them: "tick the two records" is no part of "both records"."""
_TIMES = word_set("always mostly usually generally often frequently sometimes occasionally rarely seldom never")
_PERSONS = word_set("nobody everyone everybody")
_SOME_PERSONS = PEOPLE | frozenset(
    map(stem, word_set("customer customers student students pupil pupils patient patients"))
)
_COUNTED_PERSONS = _SOME_PERSONS | frozenset(map(stem, NUMBER_WORDS))
_ANY_PERSON = "*"
"""Quantified noun of "nobody" and "everyone"."""
_EXCLUDED: dict[str, frozenset[str]] = {
    "all": word_set("not-all half some few none many most"),
    "most": word_set("few none half"),
    "many": word_set("few none"),
    "half": word_set("all none"),
    "some": word_set("none"),
    "few": word_set("all most many"),
    "none": word_set("all most many half some few the-number"),
    "the-number": word_set("none"),
    "not-all": word_set("all"),
}
"""Levels of evidence that exclude a claim's level; "some" supports neither "all" nor "not all"."""

_DENIED_LEVELS = {"most": "few", "many": "few", "few": "most", "some": "not-all", "half": "half"}
"""Meaning of a quantifier of a denied verb for the verb itself."""

Row = int | str


@dataclass(frozen=True, slots=True)
class Statement:
    """Describe a clause by the properties that opposites need.

    Attributes:
        words: stems of its content words without units of measure and quantifiers.
        poles: for each row of opposites its side and the words on that side.
        shares: quantifiers as (level, stem of the quantified word, whether they quantify times).
        left: stems before "than", "before" or "after", empty without a comparison.
        right: stems after that word.
        graded: stems of its comparatives and superlatives.
        denied: stems of negated words.
        only: "only", "any" or "", by the word in the clause.
        is_field: whether it is a field of a record, with the words of the whole record.
    """

    words: frozenset[str]
    poles: dict[Row, dict[int, frozenset[str]]]
    shares: frozenset[tuple[str, str, bool]]
    left: frozenset[str]
    right: frozenset[str]
    graded: frozenset[str]
    denied: frozenset[str]
    only: str
    is_field: bool = False


@lru_cache(maxsize=4_096)
def read_statements(text: str) -> tuple[Statement, ...]:
    """Split a text into clauses; a clause of one word belongs to the previous clause."""
    if (fields := read_fields(text)) is not None:
        return tuple(islice(_field_statements(text, fields), MAX_STATEMENTS))
    text = _KEPT_FROM.sub(r"\1not ", _FORBIDDEN_TO.sub(" not ", _FREE.sub(" optional ", with_plain_verbs(text))))
    parts: list[str] = []
    for part in _CLAUSE.split(text):
        if parts and (len(_content(part)) < 2 or len(_content(parts[-1])) < 2):
            parts[-1] += " " + part
        else:
            parts.append(part)
    return tuple(islice((statement for statement in map(_statement, parts) if statement.words), MAX_STATEMENTS))


def opposites(claim: str, evidence: str, others: Sequence[str] = ()) -> list[Mismatch]:
    """Return the kinds of opposites between a claim and its evidence, unordered and without repetition.

    Args:
        claim: plain text.
        evidence: plain text of the best evidence.
        others: further evidence; a clause there that agrees cancels an opposite.
    """
    found: dict[Mismatch, None] = {}
    # Fields of one record are separate pieces of evidence; the whole record names their subject.
    records = [text for text in others if read_fields(text) is not None]
    theirs = [statement for text in (evidence, *records) for statement in read_statements(text)]
    everything = [*theirs, *(statement for other in others for statement in read_statements(other))]
    for own in read_statements(claim):
        for statement in theirs:
            kind = _antonym(own, statement, everything)
            if kind:
                found[kind] = None
            if _quantified(own, statement, everything):
                found["quantifier"] = None
    if _only_one_of_many(claim, evidence):
        found["quantifier"] = None
    return list(found)


def denies_share(claim: str, evidence: str) -> bool:
    """Return true if a claim denies a verb of a share of things that the evidence affirms of a share of them.

    The shares decide then: "most were not closed" agrees with "30% were closed".
    """
    return any(
        noun == other_noun and level in _DENIED_LEVELS and not of_times
        for own in read_statements(claim)
        for other in read_statements(evidence)
        if own.denied & other.words and not other.denied
        for level, noun, of_times in own.shares
        for _, other_noun, _ in other.shares
    )


def _only_one_of_many(claim: str, evidence: str) -> bool:
    """Return true if a claim says "contains only a hammer" and the evidence "contains a hammer, a saw and a file"."""
    match = _ONLY.search(claim)
    if not match:
        return False
    before, verb, listed = evidence.lower().partition(f" {match[1].lower()} ")
    items = [_content(item) for item in _ITEMS.split(listed)]
    subject = frozenset(_content(claim[: match.start()]))
    named = any(stem(match[2]) in item for item in items)
    return bool(verb) and named and len(items) > 1 and all(items) and subject == frozenset(_content(before))


def _antonym(own: Statement, other: Statement, everything: Sequence[Statement]) -> Mismatch | None:
    for row, sides in own.poles.items():
        if row not in other.poles or len(sides) > 1 or len(other.poles[row]) > 1:
            continue
        ((sign, words),) = sides.items()
        ((their_sign, their_words),) = other.poles[row].items()
        bare = frozenset({row[1:]}) if isinstance(row, str) else frozenset()
        # The same word on both sides is a matter of negation, which ``contradiction_checks`` compares.
        if words == their_words or (bare and words | their_words == bare):
            continue
        orientation = _orientation(own, other)
        if sign * orientation == their_sign or not orientation:
            continue
        mine = own.words - words - their_words
        rest = other.words - words - their_words
        if mine > _SOME_PERSONS & mine and any(noun == _ANY_PERSON for _, noun, _ in own.shares | other.shares):
            mine, rest = mine - _SOME_PERSONS, rest - _SOME_PERSONS  # "everyone on board" are "people on board"
        if not _is_on_matter(mine, rest, other, everything) or _said(row, sign, mine, own.left, everything):
            continue
        if bare or bool(words & own.denied) != bool(their_words & other.denied):
            return "negation"
        return "comparative" if words & own.graded else "antonym"
    return None


def _is_on_matter(
    mine: frozenset[str], theirs: frozenset[str], other: Statement, everything: Sequence[Statement]
) -> bool:
    """Return true if two clauses concern one subject; what another clause of the evidence names may be left out.

    "The storm tore off the roof, but the hall was unharmed" is about the hall in the storm.
    """
    least = 0.0 if other.is_field else EVIDENCE_OVERLAP
    if same_matter(mine, theirs, other=least):
        return True
    if not theirs or not theirs < mine:
        return False
    spend(len(everything))
    around = frozenset().union(*(each.words for each in everything if each is not other)) - theirs
    return theirs == mine - around


def _said(row: Row, sign: int, words: frozenset[str], left: frozenset[str], everything: Iterable[Statement]) -> bool:
    """Return true if any clause is on the claim's side of a row and its subject is not clearly different."""
    return any(
        sign in statement.poles.get(row, {})
        and statement.left in (frozenset(), left)
        and len(words & statement.words) >= 0.5 * len(words)
        for statement in everything
    )


def same_matter(
    mine: frozenset[str], theirs: frozenset[str], own: float = CLAIM_OVERLAP, other: float = EVIDENCE_OVERLAP
) -> bool:
    """Return true if two clauses concern one subject, apart from the words that are compared.

    Args:
        mine: stems of the claim.
        theirs: stems of the evidence.
        own: required common share of the claim's stems.
        other: required common share of the evidence's stems.
    """
    common = len(mine & theirs)
    if not common or (len(mine) == 1 and len(theirs) > MIN_RATIO):
        return False
    return common >= own * len(mine) and common >= other * len(theirs)


def _orientation(own: Statement, other: Statement) -> int:
    """Return 1 if two comparisons have the same order of sides, -1 if it is exchanged, 0 if it is undecidable."""
    if not (own.left and other.left):
        return 1
    straight = len(own.left & other.left) + len(own.right & other.right)
    crossed = len(own.left & other.right) + len(own.right & other.left)
    return (straight > crossed) - (straight < crossed)


def _quantified(own: Statement, other: Statement, everything: Sequence[Statement]) -> bool:
    for level, noun, of_times in own.shares:
        for their_level, their_noun, theirs_of_times in other.shares:
            if own.denied & other.words and not other.denied:
                # "Most were not closed" says that few were closed.
                level = _DENIED_LEVELS.get(level, level)
            if of_times != theirs_of_times or (not of_times and not _is_of_same(noun, their_noun)):
                continue
            counted = _COUNTED_PERSONS if _ANY_PERSON in (noun, their_noun) else frozenset()
            is_same = same_matter(own.words - counted, other.words - counted)
            if other.is_field or their_level not in _EXCLUDED[level] or not is_same:
                continue
            agreed = (level, noun, of_times)
            if not any(agreed in statement.shares for statement in everything):
                return True
    if own.only and other.only and own.only != other.only and same_matter(own.words, other.words):
        return own.words != other.words
    return False


def _is_of_same(noun: str, other: str) -> bool:
    """Return true if two quantifiers are of one noun, or one of persons at all and the other of some: "nobody", "two guests"."""
    return noun == other or (_ANY_PERSON in (noun, other) and bool(_SOME_PERSONS & {noun, other}))


def _statement(text: str) -> Statement:
    shares = _shares(text)
    text = _DECIMAL.sub("", text)
    written = [match[0] for match in _WORD.finditer(text)]
    tokens = [token.lower() for token in written]
    denied = _denied(tokens)
    is_left_alone = bool(_LEFT_ALONE.search(text))
    poles: dict[Row, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for index, word in enumerate(tokens):
        sign = -1 if index in denied else 1
        if tokens[max(0, index - 1) : index] == ["to"] and tokens[max(0, index - 2)] in _PLANNING:
            continue  # who plans to build has not built
        if word in ("less", "least") and index + 1 < len(tokens) and tokens[index + 1] in POLES:
            continue  # "less expensive" inverts the next word.
        if word in ("more", "most") and index + 1 < len(tokens) and tokens[index + 1] in POLES:
            continue
        if index and tokens[index - 1] in ("less", "least"):
            sign = -sign
        if word == "without" and refuses_without(text):
            sign = -sign  # "Not possible without a ticket" requires one.
        if index and written[index].istitle():
            continue  # the "New" of "New York" has no opposite
        if word == "after" and index and tokens[index - 1] in _NAMED:
            continue
        if word in _AT_REST and is_left_alone:
            continue
        is_particle = word in ("on", "off")
        if is_particle and index - 1 in denied:
            sign = -sign  # "is not switched on" denies the verb
        if not is_particle or (index and tokens[index - 1] in PARTICLE_VERBS):
            same = _AS_STATE.get(word, ()) if tokens[index - 1] in _SWITCHED else ()
            for row, side in (*POLES.get(word, ()), *same):
                poles[row][side * sign].add(stem(word))
        if word in STOP_WORDS or len(word) < 4:
            continue
        poles["=" + stem(word)][sign].add(stem(word))
        bare = without_privative(word)
        if bare:
            poles["=" + stem(bare)][-sign].add(stem(word))
    words = frozenset(_content(text))
    left, right = _sides(tokens)
    negated = frozenset(stem(tokens[index]) for index in denied)
    graded = frozenset(stem(word) for word in tokens if word in DEGREES)
    only = "only" if tokens[:1] == ["only"] else "any" if tokens[:1] in (["any"], ["anyone"], ["anybody"]) else ""
    frozen = {row: {side: frozenset(names) for side, names in sides.items()} for row, sides in poles.items()}
    return Statement(words, frozen, shares, left, right, graded, negated, only)


def _field_statements(text: str, fields: Sequence[tuple[str, str]]) -> Iterator[Statement]:
    """Yield a statement for each short value; a key only says what may apply, so it is not a statement."""
    words = frozenset(_content(text))
    for _, value in fields:
        if len(value.split()) <= MAX_VALUE_WORDS:
            yield replace(_statement(value), words=words, is_field=True)


def _content(text: str) -> list[str]:
    """Return the stems of a clause's subject matter, including those of the parts of compounds."""
    found = []
    for match in _WORD.finditer(_DECIMAL.sub("", text)):
        token = match[0].lower()
        found += [stem(part) for part in {token, *token.split("-")} if _tells(part)]
    return found


def _tells(token: str) -> bool:
    return bool(token) and not (token in STOP_WORDS or token in UNITS or token in SHARES or token in _SKIPPED)


def _denied(tokens: Sequence[str]) -> set[int]:
    """Return the positions of the negated words: the next content word after each negation."""
    found = set()
    for index, word in enumerate(tokens):
        is_left_undone = word == "without" and tokens[index + 1 : index + 2] and tokens[index + 1].endswith("ing")
        if word in _NEGATIONS or is_left_undone or word.endswith(("n't", "n’t")):
            after = range(index + 1, min(index + 8, len(tokens)))
            told = [place for place in after if tokens[place] not in _SKIPPED and not tokens[place].endswith("ly")]
            found.update(told[:1])
    return found


def _sides(tokens: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words on one side only of "than", "before" or "after"; empty without such a word."""
    place = next((index for index, word in enumerate(tokens) if index and word in _PIVOTS), 0)
    if not place:
        return frozenset(), frozenset()
    left, right = frozenset(map(stem, tokens[:place])), frozenset(map(stem, tokens[place + 1 :]))
    return left - right, right - left


def _shares(text: str) -> frozenset[tuple[str, str, bool]]:
    text = _NO_SHARE.sub(" ", text)
    text = _EVERY_ONE.sub(" all ", text)
    text = _NOT_ALL.sub(" not-all ", text)
    text = _ONE_OF.sub(" some ", text)
    # Shares are read before figures lose their points: "10.0%" is not "100%".
    text = _DECIMAL.sub("", _SHARE.sub(lambda match: f" {_level(float(match[1].replace(',', '.')))} ", text))
    tokens = [match[0].lower() for match in _WORD.finditer(text)]
    found = set()
    for index, word in enumerate(tokens):
        level = SHARES.get(word, "not-all" if word == "not-all" else "")
        if word == "a" and tokens[index + 1 : index + 2] == ["few"]:
            continue
        if level == "few" and index and tokens[index - 1] == "a" and tokens[max(0, index - 2)] not in ("only", "just"):
            level = "some"
        is_count = int(word) > 0 if word.isdecimal() else NUMBER_WORDS.get(word, 0) >= 1
        if not level and is_count:
            level = "the-number" if index and tokens[index - 1] in _DEFINITE else "some"
        if level:
            nouns = (
                stem(word) for word in tokens[index + 1 : index + 6] if word not in _NO_NOUN and not _is_number(word)
            )
            found.add((level, next(nouns, ""), word in _TIMES))
            if word in _PERSONS or tokens[index : index + 2] == ["no", "one"]:
                found.add((level, _ANY_PERSON, False))
    return frozenset(found)


def _is_number(word: str) -> bool:
    return word.isdecimal() or word in NUMBER_WORDS


def _level(percent: float) -> str:
    if percent in (0.0, 50.0, 100.0):
        return {0.0: "none", 50.0: "half", 100.0: "all"}[percent]
    return "few" if percent < 50 else "most"
