"""Restore what a later part leaves out behind its time, place or case: "In spring the pool is open 14 hours, in winter 9 hours".

The part behind the comma has a phrase of its own and a figure; subject, verb and the rest of the figure are those of the
part before (stripping; Quirk et al., A Comprehensive Grammar of the English Language, 13.92). With them each figure
stands in a statement of its own, whose values and words the rules compare. The text is compared and never shown.
"""

import re
from itertools import takewhile

from workers.evaluation.facts.calculation.arithmetic import same_dimension
from workers.evaluation.facts.numbers.number_words import NUMBER_NAME
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.verb_forms import is_verb
from workers.evaluation.text.languages.language import guess_language
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import kept_for_sentences, key_of, word_set

MAX_TEXT = 300
"""Longest sentence that is read, code points."""
MAX_PARTS = 4
"""Most parts of a sentence that are restored."""
MAX_PHRASE = 4
"""Most words of a phrase behind its preposition."""

_GROUPS = (
    "in on at during before after since until",
    "with without by",
    "from",
    "to",
    "for",
    "im in am an bei ab nach vor seit bis",
    "mit ohne per",
    "für",
    "von",
    "en au aux à dès avant après pendant jusqu'en",
    "avec sans par",
    "pour",
    "de",
    "en a hasta desde durante",
    "con sin por",
    "para",
    "nel nella in a d'",
    "con senza per",
)
_ALTERNATIVES = {
    word: frozenset(other for group in map(str.split, _GROUPS) if word in group for other in group)
    for word in " ".join(_GROUPS).split()
}
"""Prepositions that can take each other's place: "during the day 12 people, at night 4"."""
_PREPOSITION = rf"(?:{'|'.join(map(re.escape, sorted(_ALTERNATIVES, key=len, reverse=True)))})"
_JOIN = r"(?:and|but|while|whereas|und|aber|et|mais|y|pero|e|ma)"
_CUT = PrefilteredPattern(
    rf"(?:[,;]\s(?:{_JOIN}\s)?|\s{_JOIN}\s)(?={_PREPOSITION}\s(?:[^\s,;]+,?\s){{1,6}}[^,;]*(?:\d|\b{NUMBER_NAME}\b))",
    re.IGNORECASE,
)
"""The place before a further part that begins with a preposition and has a figure."""
_NUMBER = rf"(?P<symbol>[$€£])?(?P<number>\d[\d.,:]*(?<=\d)|{NUMBER_NAME}(?:-{NUMBER_NAME})?)(?![\w°])"
_LINK = "(?:at|in|on|to|for|after|by|every|um|nach|bei|auf|alle|à|en|a|cada)"
_HEDGE = "(?:about|around|only|just|up to|nearly|almost|over|nur|etwa|bis zu|seulement|environ|solo|unos)"
_NO_PART = word_set(
    "a an it he she we they you i this that these those which who there is are was were be been has have had do does did can"
    " could will would may might must should not total all average addition fact case other er es sie wir ist sind war waren"
    " hat haben il elle on ils elles est sont était el ella es son era total ogni"
)
"""Words of no phrase that says when, where or for whom: "in total", "with a break"."""
_LATER = re.compile(
    rf"(?P<phrase>(?P<preposition>{_PREPOSITION})(?:\s[^\s,;.!?]+){{1,{MAX_PHRASE}}}?),?\s(?P<link>{_LINK}\s)?(?P<hedge>{_HEDGE}\s)?{_NUMBER}(?P<rest>[^,;]{{0,40}}?)(?P<stop>[.!?]?)$",
    re.IGNORECASE,
)
_FIRST = re.compile(
    rf"(?P<opening>(?:{_JOIN}\s)?(?P<preposition>{_PREPOSITION})\s)(?P<rest>.+)$", re.IGNORECASE | re.DOTALL
)
_FIGURE = re.compile(rf"(?<=\s){_NUMBER}", re.IGNORECASE)
_STANDING_IN = word_set("one it that them this")
_ARTICLES = word_set(
    "the its his her their our your my each every no it he she they we you one der die das den dem ein eine einen"
    " le la les un une l' il elle on el los las una lo gli"
)
"""Words with which the subject begins."""
_OF = word_set("of in at from de du des von")
"""Prepositions within a phrase: "to members of the union the bank lends at 2 %"."""
_WORD = re.compile(r"\S+")


@kept_for_sentences
def restore_predicates(text: str) -> str:
    """Return a sentence whose parts have the subject and verb that they share with its first part."""
    if len(text) > MAX_TEXT or not (cuts := [*_CUT.finditer(text)]) or len(cuts) > MAX_PARTS:
        return text
    first = text[: cuts[0].start()]
    restored = first
    puts_verb_second = guess_language(text) == "de"
    for place, cut in enumerate(cuts):
        end = cuts[place + 1].start() if place + 1 < len(cuts) else len(text)
        later = text[cut.end() : end]
        restored += cut[0] + (_restored(first, later, puts_verb_second=puts_verb_second) or later)
    return restored


def _restored(first: str, later: str, *, puts_verb_second: bool) -> str | None:
    """Return a later part with the words of the first; ``None`` if it leaves out nothing, or that is not certain."""
    opening, part = _FIRST.match(first.strip()), _LATER.match(later)
    if opening is None or part is None:
        return None
    alternatives = _ALTERNATIVES[opening["preposition"].lower()]
    figures = [*_FIGURE.finditer(opening["rest"])]
    if not figures or part["preposition"].lower() not in alternatives:
        return None
    figure = next(
        (each for each in reversed(figures) if _is_same_kind(opening["rest"][each.start() :], part)), figures[-1]
    )
    before, rest = opening["rest"][: figure.start()], opening["rest"][figure.end() :]
    if link := part["link"]:
        if not before.lower().endswith(f" {link.lower()}"):
            return None
        before = before[: -len(link)]
    # "40 units in May, in June 50": the later phrase stands for the one behind the figure.
    if any(word.lower() in alternatives and word != "a" for word in rest.split()):
        return None
    phrase, count = part["phrase"], len(part["phrase"].split()) - 1
    subject = _without_words(before, count) if puts_verb_second else _without_phrase(before, count)
    if len(subject.split()) < 2:
        return None
    if count == 1 and key_of(phrase.split()[1]) in _STANDING_IN:
        # "With a coupon 120 euros, without one 160".
        phrase = f"{part['preposition']} {before[: len(before) - len(subject)].strip(' ,')}"
    elif any(key_of(word) in _NO_PART for word in phrase.split()[1:]):
        return None
    tail = _tail(rest, part["rest"])
    if tail is None:
        return None
    symbol = part["symbol"] or (figure["symbol"] if not part["rest"].strip() else None) or ""
    return f"{phrase} {subject}{link or ''}{part['hedge'] or ''}{symbol}{part['number']}{tail}{part['stop']}"


def _is_same_kind(text: str, part: re.Match[str]) -> bool:
    """Return true if a text begins with a figure of the kind of a part's."""
    own, unit = text.split()[1:2], part["rest"].split()[:1]
    if not unit or (own and key_of(own[0]) == key_of(unit[0])):
        return True
    one, two = (read_details(each).quantities[:1] for each in (text, f"{part['number']}{part['rest']}"))
    return bool(one and two) and one[0].is_unit and same_dimension(one[0].dimension, two[0].dimension)


def _without_phrase(text: str, words: int) -> str:
    """Return a text without the phrase at its beginning.

    The phrase ends at a comma, before an article or pronoun, before the word in front of the verb, or after as many words
    as the other phrase has.
    """
    tokens = [*_WORD.finditer(text)]
    for place, token in enumerate(tokens[: MAX_PHRASE + 1]):
        word = token[0].lower()
        if place and word in _ARTICLES and tokens[place - 1][0] not in _OF:
            return text[token.start() :]
        if token[0].endswith(","):
            return text[token.end() :].lstrip()
        if place > 1 and is_verb(word) and place != words:
            return text[tokens[place - 1].start() :]
    return _without_words(text, words)


def _without_words(text: str, count: int) -> str:
    tokens = [*_WORD.finditer(text)]
    return text[tokens[count].start() :] if len(tokens) > count else ""


def _tail(rest: str, own: str) -> str | None:
    """Return what stands behind a figure, with what the later part leaves out of it: "9 hours" of "14 hours a day".

    Returns:
        ``None`` if the later part has a verb of its own.
    """
    words, theirs = own.split(), rest.split()
    same = len([*takewhile(lambda pair: key_of(pair[0]) == key_of(pair[1]), zip(words, theirs, strict=False))])
    if any(is_verb(key_of(word)) for word in words[max(same, 1) :]):
        return None
    return own + "".join(f" {word}" for word in theirs[same:]) if same == len(words) else own
