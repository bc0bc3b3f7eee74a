"""Tell nouns apart that cannot mean one thing: "chapel" and "garden", but not "ship" and "boat".

The table of common nouns, and of those that each may stand for, is made by ``benchmarks.alike_nouns`` from WordNet 3.0
(Fellbaum, WordNet: An Electronic Lexical Database, 1998) and the packaged sentence model: synonyms, broader and narrower
nouns, parts and wholes, and nouns with a near vector. It holds things, and people by their work, since one
person may be a driver, a victim and a neighbour at once. A noun that is not in the table is unlike none.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files

TABLE = "alike_nouns.txt"
"""The shipped file, in ``workers/data``. Each line has a noun and those behind it in the alphabet that are alike."""

_PLURALS = (("ies", "y"), ("ves", "f"), ("men", "man"), ("es", ""), ("s", ""))


@lru_cache(maxsize=1)
def _alike() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in (files("workers") / "data" / TABLE).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        noun, *others = line.split()
        found.setdefault(noun, set()).update(others)
        for other in others:
            found.setdefault(other, set()).add(noun)
    return {noun: frozenset(others) for noun, others in found.items()}


def are_unlike(one: str, two: str) -> bool:
    """Return true if two common nouns, singular or plural, are in the table and neither may stand for the other."""
    return _are_known(one, two) and not are_alike(one, two)


def are_alike(one: str, two: str) -> bool:
    """Return true if two common nouns of the table may mean one thing."""
    ones, twos = set(_singulars(one.lower())), set(_singulars(two.lower()))
    return bool(ones & twos) or any(_alike()[noun] & twos for noun in ones)


def _are_known(*nouns: str) -> bool:
    return all(any(_singulars(noun.lower())) for noun in nouns)


def _singulars(noun: str) -> Iterator[str]:
    """Yield the forms of a noun that are in the table."""
    if noun in _alike():
        yield noun
    for ending, singular in _PLURALS:
        if noun.endswith(ending) and (form := noun.removesuffix(ending) + singular) in _alike():
            yield form
