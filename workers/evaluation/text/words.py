"""Reduce the content words of a text to crude stems for comparison."""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

_WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}|\bPh\.D\b\.?")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_UNSPACED_PART = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\W_\u3040-\u30ff\u3400-\u9fff]+")
_CJK_PART = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")

T = TypeVar("T")


def word_set(words: str) -> frozenset[str]:
    """Split space-separated words into a set."""
    return frozenset(words.split())


STOP_WORDS = word_set(
    """
    a about above after again all also am an and any are as at be because been before being below between
    both but by can could did do does doing down during each either etc few for from further had has have
    having he her here hers him his how however i if in into is it its itself just may me might more most my
    no nor not of off on once only or other our out over own per same shall she should so some such than
    that the their them then there therefore these they this those through thus to too under until up upon
    us very was we were what when where whether which while who whom whose why will with within without
    would you your yours der die das den dem des ein eine einen einem einer und oder aber ist sind war waren
    wird werden wurde wurden hat haben nicht kein keine auf für von zu zum zur im in mit bei nach aus an als
    betrug betrugen beträgt betragen lag lagen liegt liegen
    auch sich es er sie wir ihr dass wenn um über unter durch le la les un une des du de et ou mais est sont
    était dans pour par sur avec au aux ce cette ces il elle ils elles ne pas que qui el los las del y o en
    con por para se su sus al son fue
    """
)
"""Stop words in English, German, French and Spanish."""

KEPT_TEXTS = 1_024
"""Maximum number of texts whose results are cached: a sentence of a source is compared with every near claim, also of
the next answers. The words of a sentence take some kilobytes."""

KEPT_LENGTH = 1_000
"""Maximum length in code points of a cached text, which bounds the memory of the cache."""

_SUFFIXES = re.compile(
    "(?<=.{3})(?:ations|ation|ingly|ities|iness|ments|ment|ness|ings|ing|edly|ies|ied|ers|est|ed|es|en|er|ly|s|e)$"
)


_SINGULARS = {
    "children": "child",
    "grandchildren": "grandchild",
    "schoolchildren": "schoolchild",
    "women": "woman",
    "men": "man",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "knives": "knife",
    "wives": "wife",
    "wolves": "wolf",
    "shelves": "shelf",
    "loaves": "loaf",
    "thieves": "thief",
}
"""Irregular plurals of English, whose words differ from their singulars in more than an ending."""


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return a crude stem that matches "restarts" with "restarted"; never shorter than three letters."""
    word = word.lower().removesuffix("'s").removesuffix("’s")
    word = _SINGULARS.get(word, word)
    if word.isdigit() or len(word) < 5:
        return word.removesuffix("s") if len(word) == 4 and not word.endswith("ss") else word
    word = _SUFFIXES.sub("", word, count=1)
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.removesuffix("i") if len(word) > 4 else word


def key_of(word: str) -> str:
    """Return a word in the normalised form of keys, in lower case.

    Patterns that ignore case match ı, İ and ſ (Turkish keyboards, old prints) as "i" and "s". ``lower`` keeps them, and
    the tables have no such keys.
    """
    return word.translate(_LOOK_ALIKES).lower()


_LOOK_ALIKES = str.maketrans("ıİſ", "iIs")


def undotted(text: str) -> str:
    """Remove the full stops of abbreviations: "U.S." becomes "US", "Ph.D." becomes "PhD"."""
    if text.count(".") < 2 and "Ph.D" not in text:
        return text
    return _DOTTED.sub(lambda match: match[0].replace(".", ""), text)


def kept_for_sentences(function: Callable[[str], T]) -> Callable[[str], T]:
    """Return a function of a text that keeps its results for texts of at most ``KEPT_LENGTH`` code points."""
    kept = lru_cache(maxsize=KEPT_TEXTS)(function)

    @wraps(function)
    def call(text: str) -> T:
        return kept(text) if len(text) <= KEPT_LENGTH else function(text)

    return call


@kept_for_sentences
def content_words(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text, numbers included.

    Scripts without spaces are split into characters, so that Japanese and Chinese sentences can be compared.
    """
    found: set[str] = set()
    for token in _WORD.findall(undotted(text)):
        lowered = token.lower()
        if _CJK.search(token):
            # Figures and names within a sentence without spaces count as words.
            found.update(stem(part.lower()) for part in _CJK_PART.findall(token))
        elif lowered not in STOP_WORDS:
            found.add(stem(lowered))
            if len(lowered) != len(lowered.replace("-", "").replace(".", "")):
                found.update(stem(part) for part in _PART.findall(lowered) if part not in STOP_WORDS)
    return frozenset(found)


def parts_of_word(word: str) -> list[str]:
    """Return a word; for scripts without spaces its characters, with the figures and names between them."""
    return _UNSPACED_PART.findall(word) if _UNSPACED.search(word) else [word]


def reading_length(text: str) -> int:
    """Return the length of a text in code points, without white space at its ends.

    An ideograph, a kana or a Hangul syllable counts as three, since it says about as much as three letters.
    """
    bare = text.strip()
    return len(bare) + 2 * len(_CJK.findall(bare))


PEOPLE = frozenset(
    map(
        stem,
        word_set(
            "people person persons guest guests passenger passengers visitor visitors player players child children adult adults"
            " member members participant participants rider riders user users employee employees worker workers staff"
            " inhabitant inhabitants resident residents citizen citizens population"
        ),
    )
)
"""Stems of words for people, who are counted under several of them."""
