"""Find claims that repeat a sentence of their source with another noun of that source in the place of one part.

"Hold the volume button for ten seconds" repeats "Hold the power button for ten seconds", and the source speaks of the
volume button elsewhere. Nothing in it says that this button is held, so that such a claim is unsupported; what it says
may be so all the same. The rule is silent where the two nouns may be one thing ("the bakery", "the shop"), or where
another sentence says most of the claim with its noun.
"""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.budget import spend
from workers.evaluation.clauses.repeated_sentences import (
    OF_STATEMENTS,
    Repetition,
    Sentence,
    Word,
    clause_borders,
    kinds_of,
    read_sentence,
    repetitions,
    without_items,
)
from workers.evaluation.contradictions.antonyms import are_sides
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.traits import exclude
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, WEEKDAYS
from workers.evaluation.text.parser import NOUNS, VERBS
from workers.evaluation.text.unlike_nouns import are_alike, are_unlike
from workers.evaluation.text.words import word_set

MAX_SOURCE = 700
"""Longest source, code points, whose own nouns are exchanged; longer ones name a thing in ways that the words beside it do
not tell.
"""
MAX_SENTENCES = 200
"""Most sentences of all sources, each of which is read for each claim."""
MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MIN_WORDS, MAX_WORDS = 3, 12
"""Fewest and most content words of a part of a claim that is compared."""

_CUT = re.compile(r"(?:[,;:](?!\d)|\.(?=\s|$))\s*|\s+(?:and|but|while|whereas|so|or)\s+", re.IGNORECASE)
_SET_APART = re.compile(
    r"\b(?:only|except|unlike|instead|rather|others?|else|neither|nor|both|respectively|if|unless|according|than|different)\b",
    re.IGNORECASE,
)
"""Words of a claim that compares or excludes."""
_FEW = re.compile(r"\b(?:few|hardly|rarely|seldom|little)\b", re.IGNORECASE)
_NOT_DONE = re.compile(
    r"\b(?:almost|nearly|narrowly|fail(?:s|ed)?|unable|tried|would have|could have|lost)\b", re.IGNORECASE
)
"""Words of an act that did not come about, so that another may have done it: "nearly won but lost to Spain"."""
_GOES_ON = re.compile(r"\b(?:it|they|he|she|this|these|its|their|his|her|them|one|ones)\b", re.IGNORECASE)
_STANDS_IN = re.compile(r"\b(?:they|he|she|this|these)\b|\bit\s\w", re.IGNORECASE)
_OF_IT = re.compile(r"\b(?:of|to|in|for|with|by)\s(?:it|them|him|her|this|these)\b", re.IGNORECASE)
_ADDS = re.compile(
    r"(?<!\band )\balso\b|\btoo(?=\W*$|[,;])|\b(?:as well|in addition|same|likewise|similarly|equally|including|both)\b",
    re.IGNORECASE,
)
"""Words that give a thing what was said of another one before."""
_COMMON = ("NOUN", "NOUNs")
_MARKS = ".,;:!?()\"“”'’"
_GLUED = re.compile(r"['’]|\.\w")
_IS_A = re.compile(r"\b(?:is|are|was|were)\s(?:an?\s)?$")
_EQUAL = r"\b(?:{one})\b(?:,|\s\(|\s(?:is|are|was|were|named|called|known as|becomes?|became)\b)\s?(?:\w+\s){{0,4}}(?:{two})\b"
_LINKING = word_set("of in inside into on with from as like")
_TIMES = frozenset((*MONTHS, *WEEKDAYS)) | word_set(
    "spring summer autumn winter day days week weeks month months year years hour hours minute minutes min morning mornings afternoon"
    " afternoons evening evenings night nights noon midnight today tomorrow yesterday weekend weekends weekday weekdays time times"
    " season seasons decade century daily holiday holidays arrival departure breakfast lunch dinner"
)
_GENERAL = word_set(
    "building place site town city village country area region district company firm shop store business organisation organization"
    " group team club man woman person people staff employee worker patient customer guest visitor passenger user child animal device"
    " machine product item thing tool unit system app software program programme medicine drug medication vehicle car event meeting work"
    " project plan service office authority government official officer police show performance book film piece story report paper study"
    " document form letter message file page course class lesson tour trip journey flight ride walk route path road street way house home"
    " flat apartment room hall space venue location property facility centre center complex hotel restaurant museum school agency ministry"
    " department council board committee party leader head chief director manager owner president minister chairman mother father parent"
    " family couple boy girl baby teacher student doctor nurse player scientist researcher expert author writer artist singer actor driver"
    " pilot victim suspect attacker rebel fighter soldier game sport match race contest competition money fee price cost charge payment sum"
    " amount weather problem issue fault error disease illness condition infection outbreak bird fish plant tree flower insect food meal"
    " dish drink substance material pan pot bowl container box bag role character part"
)
"""Nouns by which a text speaks again of a thing that it has named."""


def has_exchanged_part(claim: str, sources: Sequence[Sequence[str]]) -> bool:
    """Return true if a claim has another noun of a short source in the place of one that a sentence has there.

    Args:
        claim: the claim, English.
        sources: the sentences of each source, in order.
    """
    if len(claim) > MAX_TEXT or sum(map(len, sources)) > MAX_SENTENCES:
        return False
    known = [read_sentence(text).stems for texts in sources for text in texts]
    named = frozenset[str]().union(*known)
    return any(
        _is_exchanged(part, texts, known)
        for part in _parts(claim, known)
        for texts in sources
        # In a longer source only a noun that no source names is looked for.
        if sum(map(len, texts)) <= MAX_SOURCE or not part.stems <= named
    )


def _parts(claim: str, known: Sequence[frozenset[str]]) -> Iterator[Sentence]:
    """Yield a claim, its parts between commas and conjunctions, and those with one of two joined things."""
    for text in dict.fromkeys((claim, *_CUT.split(claim))):
        read = read_sentence(text)
        if not _SET_APART.search(text) and MIN_WORDS <= len(read.words) <= MAX_WORDS:
            yield read
            if not any(read.stems <= stems for stems in known):
                yield from (each for each in without_items(read) if len(each.words) >= MIN_WORDS)


def _is_exchanged(part: Sentence, texts: Sequence[str], known: Sequence[frozenset[str]]) -> bool:
    spend(len(part.words) * len(texts) + len(known))
    source = [read_sentence(text) for text in texts if len(text) <= MAX_TEXT]
    whole = [stems for stems in known if part.stems <= stems]
    stems = [word.stem for word in part.words]
    if any(_places(stems, sentence) for sentence in source):
        return False
    return any(
        all(each == sentence.stems for each in whole)
        and all(
            bool(words.search(sentence.text)) == bool(words.search(part.text)) for words in (DENIED, _FEW, _NOT_DONE)
        )
        and any(
            _can_be_exchanged(part, sentence, found) and _is_of_others(part, sentence, found, source, known)
            for found in repetitions(part.words, sentence)
        )
        for sentence in source
    )


def _can_be_exchanged(part: Sentence, sentence: Sentence, found: Repetition) -> bool:
    """Return true if the parts in which claim and sentence differ are nouns of one kind beside the same verb."""
    own, theirs = part.words[found.start : found.end], [sentence.words[at] for at in found.part]
    behind = part.words[found.end : found.end + 1]
    if any(word.opens for word in part.words[max(found.start, 1) : found.end + 1]) or any(
        word.is_behind_pronoun for word in (*own, *behind)
    ):
        return False
    first, last = min(*found.held, *found.part), max(*found.held, *found.part)
    if last + 1 - first - len(found.held) - len(found.part) > len(found.held):
        return False
    if all(word.text.lower() in _TIMES for word in own) != all(word.text.lower() in _TIMES for word in theirs):
        return False
    mine, kinds = kinds_of(part.text), kinds_of(sentence.text)
    if any(_GLUED.search(word.text) for word in theirs) or not any(kind in VERBS for kind in kinds.values()):
        return False
    if all(word.stem in read_sentence(part.text).stems for word in theirs):
        return False
    if _is_statement(part, found):
        # "To form a base" may be "to make a base", and one man who fell may be the one who called.
        is_plural = found.start > 0 and _is_plural(part.words[found.start - 1], mine)
        return len(own) > 1 if own[0].preposition == "to" else own[0].preposition != "who" or is_plural
    if any(map(_is_figure, own)) or any(map(str.isdigit, "".join(word.text for word in theirs))):
        return False
    if any(mine.get(word.place) in (*VERBS, "ADV") for word in own):
        return False
    if any(kinds.get(word.place) in VERBS for word in theirs):
        return False
    if _tells_apart(part, found):
        one, two = own[-1].text.lower(), theirs[-1].text.lower()
        are_traits = exclude(one, two) or are_sides(one, two)
        return len(own) == 1 and (are_traits or (_is_noun(own[-1], mine) and _is_noun(theirs[-1], kinds)))
    beside = (*part.words[: found.start], *part.words[found.end :])
    has_verb = any(mine.get(word.place) in (*VERBS, "ADJ") for word in beside)
    return has_verb and _is_noun(own[-1], mine) and any(_is_noun(word, kinds) for word in theirs)


def _is_of_others(
    part: Sentence,
    sentence: Sentence,
    found: Repetition,
    source: Sequence[Sentence],
    known: Sequence[frozenset[str]],
) -> bool:
    """Return true if the claim's own part is another thing of a short source, of which this is not said, or of none."""
    own, theirs = part.words[found.start : found.end], [sentence.words[at] for at in found.part]
    is_told_apart = _tells_apart(part, found)
    wanted = [word.stem for word in part.words[found.start : found.end + is_told_apart]]
    named = [(each, at) for each in source for at in _places(wanted, each)]
    inside = [at for each, at in named if each is sentence]
    if not named:
        return _is_another_thing(own, theirs, sentence, known)
    if inside and _ADDS.search(sentence.text):
        return False
    if not all(_is_in_other_clause(at, sentence, found) for at in inside):
        return False
    beside = {word.stem for word in (*part.words[: found.start], *part.words[found.end + is_told_apart :])}
    if _is_said_elsewhere(wanted, beside, sentence, source):
        return False
    return is_told_apart or _is_statement(part, found) or _are_two(own, theirs, part, sentence, named, source)


def _is_another_thing(
    own: Sequence[Word], theirs: Sequence[Word], sentence: Sentence, known: Sequence[frozenset[str]]
) -> bool:
    """Return true if a claim has a thing that no source names in the place of an unlike one: "garden" for "chapel"."""
    text = own[-1].text
    if any(word.stem in stems for word in own for stems in known):
        return False
    kinds = kinds_of(sentence.text)
    nouns = [word.text for word in theirs if _is_noun(word, kinds)]
    # Not the words that were read: "hat" is a small word of German.
    others = (
        sentence.text[place:].split(maxsplit=1)[0].strip(_MARKS) for place, kind in kinds.items() if kind in _COMMON
    )
    return (
        bool(nouns)
        and all(are_unlike(text, other) for other in nouns)
        and not any(are_alike(text, other) for other in others)
    )


def _are_two(
    own: Sequence[Word],
    theirs: Sequence[Word],
    part: Sentence,
    sentence: Sentence,
    named: Sequence[tuple[Sentence, int]],
    source: Sequence[Sentence],
) -> bool:
    """Return true if the source names two things, of which neither stands for the other."""
    mine, kinds = kinds_of(part.text), kinds_of(sentence.text)
    both = {word.stem for word in own}, {word.stem for word in theirs}
    together = [each for each in source if both[0] <= each.stems and both[1] & each.stems]
    if any(
        _are_equated(own, theirs, each.text) or (each is not sentence and _are_linked(both, each)) for each in together
    ):
        return False
    is_general = any(
        len(words) == 1 and {word := words[0].text.lower(), word.removesuffix("s")} & _GENERAL
        for words in (own, theirs)
    )
    nouns = [kinds[word.place] for word in theirs if _is_noun(word, kinds)]
    if not is_general and mine[own[-1].place].endswith("s") != nouns[0].endswith("s"):
        return True
    order = {id(each): place for place, each in enumerate(source)}
    (first, at), place = named[0], order[id(sentence)]
    is_new = first.words[at].article == "a" and order[id(first)] > place
    if is_new or (theirs[0].article == "a" and order[id(first)] < place):
        return True
    are_names = [
        any(table.get(word.place, "").startswith("PROPN") for word in words)
        for words, table in ((own, mine), (theirs, kinds))
    ]
    is_bare = [
        len(own) == 1 and all(each.words[at].article == "the" for each, at in named) and not are_names[0],
        len(theirs) == 1 and theirs[0].article == "the" and not are_names[1],
    ]
    if together:
        return not (are_names[0] and is_bare[1]) and not (are_names[1] and is_bare[0])
    return are_names[0] == are_names[1] and not (any(is_bare) and is_general)


def _is_said_elsewhere(wanted: Sequence[str], beside: set[str], sentence: Sentence, source: Sequence[Sentence]) -> bool:
    """Return true if another sentence has the claim's part, itself or by a pronoun, and half of what is said of it."""
    before = frozenset[str]()
    is_denied = bool(DENIED.search(sentence.text))
    for each in source:
        names = set(wanted) <= each.stems
        if each is not sentence and (names or (set(wanted) <= before and _GOES_ON.search(each.text))):
            is_alike = bool(DENIED.search(each.text)) == is_denied
            shared = len(beside & each.stems) + bool(names and _STANDS_IN.search(each.text))
            adds = bool(each.stems - sentence.stems - beside - set(wanted))
            if (is_alike and 2 * shared >= len(beside) + adds) or (
                names and (_ADDS.search(each.text) or _OF_IT.search(each.text))
            ):
                return True
        before = each.stems
    return False


def _is_in_other_clause(at: int, sentence: Sentence, found: Repetition) -> bool:
    """Return true if a word of a sentence stands in another clause, with a verb of its own, than the repeated part."""
    first, last = min(*found.held, *found.part), max(*found.held, *found.part)
    borders = clause_borders(sentence.text)
    if first <= at <= last or any(first < border <= last for border in borders):
        return False
    return any(min(at, last) < border <= max(at, first) for border in borders)


def _is_statement(part: Sentence, found: Repetition) -> bool:
    """Return true if the claim's part is a cause, a purpose or another statement: "because of a flood", "to save it"."""
    first = part.words[found.start]
    return first.preposition in OF_STATEMENTS or (
        first.preposition == "to" and kinds_of(part.text).get(first.place) in VERBS
    )


def _tells_apart(part: Sentence, found: Repetition) -> bool:
    """Return true if the claim's part tells which one the noun behind it means: the "volume" of "volume button"."""
    if found.end == len(part.words) or not _is_noun(behind := part.words[found.end], kinds_of(part.text)):
        return False
    last = part.words[found.end - 1]
    return not part.text[last.place + len(last.text) : behind.place].strip(" -")


def _places(wanted: Sequence[str], sentence: Sentence) -> list[int]:
    """Return the places of words that stand in a row, without a comma or conjunction between them."""
    words, count = sentence.words, len(wanted)
    return [
        at
        for at in range(len(words) - count + 1)
        if [word.stem for word in words[at : at + count]] == list(wanted)
        and not any(word.opens for word in words[at + 1 : at + count])
    ]


def _are_equated(own: Sequence[Word], theirs: Sequence[Word], text: str) -> bool:
    one, two = ("|".join(re.escape(word.text) for word in words) for words in (own, theirs))
    return any(re.search(_EQUAL.format(one=a, two=b), text, re.IGNORECASE) for a, b in ((one, two), (two, one)))


def _are_linked(both: tuple[set[str], set[str]], sentence: Sentence) -> bool:
    """Return true if a sentence puts one of two things in, on or beside the other: "a ring lay inside the chest"."""
    return any(word.stem in both[0] | both[1] and word.preposition in _LINKING for word in sentence.words)


def _is_noun(word: Word, kinds: dict[int, str]) -> bool:
    return kinds.get(word.place, "").removesuffix("s") in NOUNS


def _is_plural(word: Word, kinds: dict[int, str]) -> bool:
    return _is_noun(word, kinds) and kinds[word.place].endswith("s")


def _is_figure(word: Word) -> bool:
    return word.text.lower() in NUMBER_WORDS or any(map(str.isdigit, word.text))
