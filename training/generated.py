"""Generate pairs from documents: sentences paraphrased, falsified, or without their evidence.

From one sentence come up to three pairs with claims as alike as can be, so that nothing about a claim tells its verdict:

- *supported*: the sentence by rules of paraphrase (a part moved, words exchanged for their equals, an aside left out,
  two sentences joined);
- *contradicted*: that paraphrase with one thing in it made wrong: a number, name, month or unit by another of the same
  document, a negation, an opposite, a quantifier, two names that change places;
- *unsupported*: that paraphrase where the document lacks the sentence, or with a part of another document added to it.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from training.pairs import CONTRADICTED, SUPPORTED, UNSUPPORTED, RawPair, Spans, digest
from workers.evaluation.facts.evidence_units import record_values
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.text.words import content_words

FEWEST_WORDS, MOST_WORDS = 7, 40
"""Length of a sentence that is made into a claim."""
SAME_MATTER = 0.5
"""Share of the claim's words from which another sentence counts as its evidence too and is taken away with it."""

EQUALS = """
about approximately around roughly | begin start commence | began started | help assist aid | buy purchase | big large
show demonstrate | showed demonstrated | use employ utilise | used employed | get obtain receive | got obtained received
make produce create | made produced created | end conclude | ended concluded | many numerous
important significant | also additionally | but however | because since | although though | build construct | built constructed | lives resides | kids children | show reveal | said stated | says states
try attempt | tried attempted | choose select | chose selected | keep retain | kept retained
ask request | asked requested | tell inform | told informed | fast quick | often frequently | usually typically
sick ill | smart clever | car vehicle | doctor physician | movie film | shop store | job position | firm company
rich wealthy | hard difficult | easy simple | sad unhappy | happy glad | whole entire | total overall | main primary
wealth riches | entirely wholly | rapidly quickly | several various | further additional
"""
NEGATABLE = [
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "can",
    "could",
    "will",
    "would",
    "should",
    "may",
    "might",
    "does",
    "did",
]
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
UNITS = """
kilometres miles | kilometers miles | metres feet | meters feet | hours days | minutes hours | weeks months
months years | days weeks | million billion | thousand million | kilograms pounds | percent times | dollars euros
inches centimetres | litres gallons | north south | east west | northern southern | eastern western | first second
second third | morning evening | spring autumn | mother father | brother sister | son daughter | he she | his her
"""
OPPOSITES = """
increase decrease | increased decreased | increases decreases | increasing decreasing | rose fell | rise fall
rising falling | higher lower | high low | more less | most least | larger smaller | large small | big small
before after | earlier later | early late | first last | older younger | old new | better worse | best worst
good bad | positive negative | open closed | opened closed | began ended | begins ends | start stop | started stopped
won lost | win lose | accept reject | accepted rejected | approved rejected | allow forbid | allowed forbidden
allows forbids | include exclude | includes excludes | included excluded | public private | male female | men women
man woman | boy girl | inside outside | indoor outdoor | north south | left right | top bottom | upper lower
hot cold | warm cool | wet dry | fast slow | faster slower | easy difficult | safe dangerous | strong weak
stronger weaker | rich poor | cheap expensive | free paid | full empty | long short | longer shorter | near far
support oppose | supports opposes | supported opposed | improve worsen | improved worsened | gain loss | profit loss
bought sold | buy sell | arrived left | alive dead | guilty innocent | possible impossible | likely unlikely
common rare | similar different | true false | internal external | major minor | maximum minimum | above below
success failure | succeeded failed | passed failed | agree disagree | agreed disagreed | present absent | born died
"""
QUANTIFIERS = """
all some | every no | most few | always never | many few | both neither | everyone nobody | often rarely | some no
only also | at least at most | more than less than | majority minority | must may | entirely partly | none all
"""

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")
_NAME = re.compile(r"(?<=[a-z,;)] )[A-Z][\w'’]+(?: (?:of |the )?[A-Z][\w'’]+){0,3}")
_OPENING_NAME = re.compile(r"^[A-Z][\w'’]+(?: (?:of |the )?[A-Z][\w'’]+){0,3}")
_FUNCTION_WORDS = (
    "the a an this that these those it he she they we i you his her its their there here in on at by for from of as with to"
    " since when while after before during but and or if because although all some many most no one two each every both several despite"
)
_DONE = re.compile(r" (?:\w+ )*(?:\w{3,}ed|beat|won|told|gave|took|met|led|left|by)(?: [a-z]\w*)*? ")
"""The words between two names, one of which does something to the other: a verb, and no comma or bracket."""
_TWO_NOUNS = re.compile(
    r"\b[Tt]he (?P<one>[a-z]{3,}) (?:(?:was|were|is|are) )?[a-z]{3,}ed (?:by )?(?:the|a|an) (?P<two>[a-z]{3,})"
    r"(?=[.,;]| (?:in|on|at|to|with|for|and|after|before|by|from|when|who|which)\b)"
)
"""Two nouns around a verb, where both are whole noun phrases with their articles."""
_LEADING = re.compile(r"^(In|On|At|During|After|Before|By|Since|For|Under|According to) ([^,]{3,60}), ([A-Z]?.+?)\.$")
_ASIDE = re.compile(r" \([^()]{2,60}\)|, (?:which|who) [^,.]{4,60},")
_ADVERB = re.compile(r"\b(?:also|however|then|still|just|already|very|quite|really|currently)\b,? ", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:, | )(?:and|with|after|before|because|which|while|where|for|in|at|on|by) [^,.;]{12,70}\.$")


@dataclass(frozen=True, slots=True)
class Changed:
    """Describe a falsified claim: the change and its position."""

    text: str
    spans: Spans
    how: str


def generated(name: str, documents: Iterable[Sequence[str]], seed: int, limit: int) -> Iterator[RawPair]:
    """Generate pairs from documents.

    Args:
        name: of the result, as a set.
        documents: contexts of answers, of training alone.
        seed: of all choices.
        limit: most pairs.
    """
    rng = random.Random(seed)
    texts = [sentences for contexts in documents if (sentences := sentences_of(contexts))]
    places = [(number, index) for number, sentences in enumerate(texts) for index in range(len(sentences))]
    rng.shuffle(places)
    made = 0
    for number, index in places:
        if made >= limit:
            return
        foreign = rng.choice(texts)
        for pair in _of_sentence(f"{name}-{number}-{index}", name, texts[number], index, foreign, rng):
            made += 1
            yield pair


def sentences_of(contexts: Sequence[str]) -> list[str]:
    """Return sentences of prose; records and tables have separate pairs."""
    prose = [text for text in contexts if not record_values(text)]
    found = (sentence.text for text in prose for sentence in segment(text) if sentence.block != "table_row")
    return [" ".join(text.split()) for text in found if text.strip()]


def _of_sentence(
    identifier: str, name: str, sentences: Sequence[str], index: int, foreign: Sequence[str], rng: random.Random
) -> Iterator[RawPair]:
    sentence = sentences[index]
    if not _is_statement(sentence):
        return
    claim = paraphrased(sentence, sentences[index + 1] if index + 1 < len(sentences) else "", rng)
    document = " ".join(sentences)
    rest = " ".join(_without(sentences, sentence))
    yield RawPair(f"{identifier}-s", name, (document,), claim, SUPPORTED, False, spans=())
    changed = made_wrong(claim, document, rng)
    if changed:
        yield RawPair(
            f"{identifier}-{changed.how}", name, (document,), changed.text, CONTRADICTED, False, spans=changed.spans
        )
    added = with_addition(claim, foreign, document, rng) if rng.random() < 0.5 else None
    if added:
        yield RawPair(f"{identifier}-added", name, (document,), added.text, UNSUPPORTED, False, spans=added.spans)
    elif rest:
        whole = ((0, len(claim)),)
        yield RawPair(
            f"{identifier}-gone", name, (rest,), claim, UNSUPPORTED, False, spans=whole, made_from=digest(document)
        )


def _is_statement(sentence: str) -> bool:
    words = sentence.split()
    return FEWEST_WORDS <= len(words) <= MOST_WORDS and sentence[0].isupper() and sentence.endswith(".")


def _without(sentences: Sequence[str], sentence: str) -> list[str]:
    words = content_words(sentence)
    return [text for text in sentences if len(words & content_words(text)) < SAME_MATTER * max(1, len(words))]


def paraphrased(sentence: str, following: str, rng: random.Random) -> str:
    """Paraphrase a sentence by one to three applicable rules, in any order."""
    text = sentence
    rules: list[Callable[[str], str]] = [_fronted, _without_aside, _without_adverb, lambda each: _exchanged(each, rng)]
    for rule in rng.sample(rules, rng.randint(1, len(rules))):
        text = rule(text)
    if _is_statement(following) and len(text.split()) + len(following.split()) <= MOST_WORDS and rng.random() < 0.15:
        text = f"{text[:-1]}, and {_lowered(following)}"
    return text


def _fronted(text: str) -> str:
    """Move a fronted phrase: "In May, X did Y." becomes "X did Y in May", with a full stop."""
    found = _LEADING.match(text)
    if not found:
        return text
    return f"{found[3][0].upper()}{found[3][1:]} {found[1].lower()} {found[2]}."


def _without_aside(text: str) -> str:
    return _ASIDE.sub("", text, count=1)


def _without_adverb(text: str) -> str:
    shorter = _ADVERB.sub("", text, count=1)
    return shorter[:1].upper() + shorter[1:]


def _exchanged(text: str, rng: random.Random) -> str:
    for _ in range(2):
        choices = [(word, other) for word, others in _SYNONYMS.items() if f" {word} " in text for other in others]
        if choices:
            word, other = rng.choice(choices)
            text = text.replace(f" {word} ", f" {other} ", 1)
    return text


def _lowered(text: str) -> str:
    first = text.split()[0]
    return (
        text[0].lower() + text[1:] if first.lower() in {"the", "a", "an", "it", "they", "this", "he", "she"} else text
    )


def made_wrong(claim: str, document: str, rng: random.Random) -> Changed | None:
    """Falsify one detail of a claim; return ``None`` where no detail can be falsified."""
    ways = list(_WAYS.items())
    rng.shuffle(ways)
    # Numbers and names are what answers get wrong most, and roles are what is learnt last: they are tried first, each
    # in its share of all.
    first = rng.random()
    if first < 0.4:
        ways.sort(key=lambda way: way[0] not in ("number", "name"))
    elif first < 0.7:
        ways.sort(key=lambda way: way[0] != "roles")
    for how, way in ways:
        found = way(claim, document, rng)
        if found:
            start, end, new = found
            return Changed(claim[:start] + new + claim[end:], ((start, start + len(new)),), how)
    return None


_Replacement = tuple[int, int, str]


def _number(claim: str, document: str, rng: random.Random) -> _Replacement | None:
    numbers = list(_NUMBER.finditer(claim))
    if not numbers:
        return None
    chosen = rng.choice(numbers)
    is_year = re.fullmatch(r"(?:1[5-9]|20)\d\d", chosen[0])
    others = {each for each in _NUMBER.findall(document) if each not in claim and len(each) == len(chosen[0])}
    others = {each for each in others if bool(re.fullmatch(r"(?:1[5-9]|20)\d\d", each)) == bool(is_year)}
    if others and rng.random() < 0.6:
        return chosen.start(), chosen.end(), rng.choice(sorted(others))
    value = float(chosen[0].replace(",", ""))
    moved = (
        value + rng.choice([-3, -2, -1, 1, 2, 3]) if is_year or value < 20 else value * rng.choice([0.5, 0.8, 1.2, 2])
    )
    new = f"{abs(moved):,.0f}" if "," in chosen[0] else f"{abs(moved):g}"
    return None if new == chosen[0] else (chosen.start(), chosen.end(), new)


def _name(claim: str, document: str, rng: random.Random) -> _Replacement | None:
    names = list(_NAME.finditer(claim))
    if not names:
        return None
    chosen = rng.choice(names)
    others = {each for each in _NAME.findall(document) if each not in claim and chosen[0] not in each}
    others = {each for each in others if abs(len(each.split()) - len(chosen[0].split())) <= 1}
    return (chosen.start(), chosen.end(), rng.choice(sorted(others))) if others else None


def _roles(claim: str, document: str, rng: random.Random) -> _Replacement | None:
    """Exchange two names, or two nouns around a verb; return ``None`` where the meaning might stay the same."""
    names = list(_NAME.finditer(claim))
    opening = _OPENING_NAME.match(claim)
    # Every sentence opens with a capital: a name is what never stands without one.
    if opening and not re.search(rf"\b{re.escape(opening[0].split()[0].lower())}\b", f"{_FUNCTION_WORDS} {document}"):
        names = [opening, *(name for name in names if name.start() >= opening.end())]
    swaps = [
        (one, two)
        for (one, two) in pairwise(names)
        if one.end() <= two.start()
        and not set(one[0].split()) & set(two[0].split())
        and _DONE.fullmatch(claim[one.end() : two.start()])
    ]
    found = _TWO_NOUNS.search(claim)
    if found and found["one"] != found["two"]:
        start, end = found.span("one")[0], found.span("two")[1]
        between = claim[found.end("one") : found.start("two")]
        return start, end, found["two"] + between.replace(" an ", " a ") + found["one"]
    if not swaps:
        return None
    one, two = rng.choice(swaps)
    return one.start(), two.end(), two[0] + claim[one.end() : two.start()] + one[0]


def _negated(claim: str, _document: str, _rng: random.Random) -> _Replacement | None:
    found = re.search(rf"\b({'|'.join(NEGATABLE)}) not ", claim)
    if found:
        return found.start(), found.end(), f"{found[1]} "
    found = re.search(rf"\b({'|'.join(NEGATABLE)}) (?!not)", claim)
    return (found.start(), found.end(), f"{found[1]} not ") if found else None


def _opposite(claim: str, _document: str, rng: random.Random) -> _Replacement | None:
    words = (word for word in re.finditer(r"\b[a-z]+\b", claim) if word[0] in _OPPOSITES)
    choices = [(word.start(), word.end(), rng.choice(_OPPOSITES[word[0]])) for word in words]
    return rng.choice(choices) if choices else None


def _listed(rows: Sequence[Sequence[str]]) -> Callable[[str, str, random.Random], _Replacement | None]:
    """Replace a word by another of its row."""

    def replace(claim: str, _document: str, rng: random.Random) -> _Replacement | None:
        choices = []
        for row in rows:
            for word in row:
                found = re.search(rf"\b{re.escape(word)}\b", claim)
                if found:
                    choices.append((found.start(), found.end(), rng.choice([each for each in row if each != word])))
        return rng.choice(choices) if choices else None

    return replace


def _pairs_of(table: str) -> list[tuple[str, str]]:
    """Return rows of two words, or of two pairs of words."""
    rows = []
    for cell in table.replace("\n", "|").split("|"):
        words = cell.split()
        if words:
            half = len(words) // 2
            rows.append((" ".join(words[:half]), " ".join(words[half:])))
    return rows


def _opposites() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one, two in _pairs_of(OPPOSITES):
        found.setdefault(one, []).append(two)
        found.setdefault(two, []).append(one)
    return found


def with_addition(claim: str, foreign: Sequence[str], document: str, rng: random.Random) -> Changed | None:
    """Append a part of a sentence of another document to the claim."""
    parts = [found[0] for text in foreign if _is_statement(text) and (found := _CLAUSE.search(text))]
    parts = [part for part in parts if part.strip(" ,.") not in document]
    if not parts or not claim.endswith("."):
        return None
    part = rng.choice(parts)
    return Changed(claim[:-1] + part, ((len(claim) - 1, len(claim) - 1 + len(part)),), "added")


def _synonyms() -> dict[str, list[str]]:
    rows = [cell.split() for cell in EQUALS.replace("\n", "|").split("|") if cell.strip()]
    return {word: [other for other in row if other != word] for row in rows for word in row}


_SYNONYMS = _synonyms()
_OPPOSITES = _opposites()
_WAYS: dict[str, Callable[[str, str, random.Random], _Replacement | None]] = {
    "number": _number,
    "name": _name,
    "roles": _roles,
    "negation": _negated,
    "opposite": _opposite,
    "month": _listed([MONTHS, DAYS]),
    "unit": _listed(_pairs_of(UNITS)),
    "quantifier": _listed(_pairs_of(QUANTIFIERS)),
}
