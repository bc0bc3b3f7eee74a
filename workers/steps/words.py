"""Words of a text for comparison: content words, reduced to crude stems."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}|\bPh\.D\b\.?")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def word_set(words: str) -> frozenset[str]:
    """Words written one after the other, as a set."""
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
    auch sich es er sie wir ihr dass wenn um über unter durch le la les un une des du de et ou mais est sont
    était dans pour par sur avec au aux ce cette ces il elle ils elles ne pas que qui el los las del y o en
    con por para se su sus al son fue
    """
)
"""Words that say nothing by themselves, in English, German, French and Spanish."""

KEPT_TEXTS = 4_096
"""Texts whose words are kept; those of a sentence take some kilobytes."""

KEPT_LENGTH = 1_000
"""Code points of the longest of them, which bounds what they take together."""

_SUFFIXES = re.compile(
    "(?<=.{3})(?:ations|ation|ingly|ities|iness|ments|ment|ness|ings|ing|edly|ies|ied|ers|est|ed|es|en|er|ly|s|e)$"
)


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """A crude stem: enough to match "restarts" with "restarted"; never shorter than three letters."""
    word = word.lower().removesuffix("'s").removesuffix("’s")
    if word.isdigit() or len(word) < 5:
        return word.removesuffix("s") if len(word) == 4 and not word.endswith("ss") else word
    word = _SUFFIXES.sub("", word, count=1)
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.removesuffix("i") if len(word) > 4 else word


def key_of(word: str) -> str:
    """A word as keys are written, in lower case.

    Patterns that ignore case take ı, İ and ſ for "i" and "s", as a Turkish keyboard and old prints write them;
    ``lower`` alone leaves them, and a table has no such key.
    """
    return word.translate(_LOOK_ALIKES).lower()


_LOOK_ALIKES = str.maketrans("ıİſ", "iIs")


def undotted(text: str) -> str:
    """A text with abbreviations written without full stops: "U.S." as "US", "Ph.D." as "PhD"."""
    return _DOTTED.sub(lambda match: match[0].replace(".", ""), text)


def content_words(text: str) -> frozenset[str]:
    """Stems of the content words of a text, numbers included.

    Scripts without spaces are taken apart into single characters, so that Japanese and
    Chinese sentences can be compared at all.
    """
    return _kept_words(text) if len(text) <= KEPT_LENGTH else _content_words(text)


def _content_words(text: str) -> frozenset[str]:
    found: set[str] = set()
    for token in _WORD.findall(undotted(text)):
        lowered = token.lower()
        if _CJK.search(token):
            found.update(_CJK.findall(token))
        elif lowered not in STOP_WORDS:
            found.add(stem(lowered))
            if len(lowered) != len(lowered.replace("-", "").replace(".", "")):
                found.update(stem(part) for part in _PART.findall(lowered) if part not in STOP_WORDS)
    return frozenset(found)


# A sentence of a source is compared with every claim near it, and with those of the next answer.
_kept_words = lru_cache(maxsize=KEPT_TEXTS)(_content_words)
