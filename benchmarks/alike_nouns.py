"""Make the table of nouns that may stand for each other: workers/data/alike_nouns.txt.

    python -m benchmarks.alike_nouns /usr/share/wordnet

The folder holds the data files of WordNet 3.0 (Debian's package wordnet-base). Nouns are alike that share a meaning, of
which one is a broader one of the other, at most eight steps up, or of which one is a part of the other; and those whose
vectors by the packaged sentence model are near, since WordNet has "ship" and "boat" as two things.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workers.evaluation.text.unlike_nouns import TABLE
from workers.inference.backends import load_sentence_transformer

THINGS = {
    "05": "kind",
    "08": "kind",
    "13": "kind",
    "20": "kind",
    "27": "kind",
    "06": "thing",
    "15": "thing",
    "17": "thing",
}
"""Lexicographer files of things: animals, bodies, food, plants and substances; artifacts, places and natural objects."""
PEOPLE = "18"
WORKERS = {
    "worker", "professional", "skilled_worker", "musician", "clergyman", "serviceman",
}  # fmt: skip
"""Words of the meanings above people that are known by their work."""
NEAR = {"kind": 0.72, "thing": 0.58, "person": 0.58}
"""Cosine from which nouns of a group are alike; kinds of animals, food and substances have near vectors."""
NEAR_SISTERS = 0.48
"""Cosine from which things with one broader meaning are alike: "hut" and "cabin", not "bus" and "train"."""
STEPS, SENSES = 8, 2
"""Broader meanings above each meaning, and the first meanings of which one is a thing."""
_ABOVE, _PARTS = ("@", "@i"), ("%p", "%m", "%s", "#p", "#m", "#s")
HEADER = """\
# Nouns and those that may stand for them, made by benchmarks.alike_nouns from WordNet 3.0 and the packaged model.
# WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved. THIS SOFTWARE AND DATABASE IS PROVIDED "AS IS"
# AND PRINCETON UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES, EXPRESS OR IMPLIED. BY WAY OF EXAMPLE, BUT NOT
# LIMITATION, PRINCETON UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES OF MERCHANTABILITY OR FITNESS FOR ANY PARTICULAR
# PURPOSE OR THAT THE USE OF THE LICENSED SOFTWARE, DATABASE OR DOCUMENTATION WILL NOT INFRINGE ANY THIRD PARTY PATENTS,
# COPYRIGHTS, TRADEMARKS OR OTHER RIGHTS. Permission to use, copy, modify and distribute it for any purpose and without fee
# is granted, provided that this notice appears on all copies. The name of Princeton University may not be used in
# advertising.
"""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Describe a meaning: its lexicographer file, its words, what is above it, and its parts and wholes."""

    file: str
    words: tuple[str, ...]
    above: tuple[str, ...]
    parts: tuple[str, ...]
    is_name: bool


def read_meanings(folder: Path) -> dict[str, Meaning]:
    """Return the meanings of nouns by their place in ``data.noun``, whose format is that of wndb(5WN)."""
    found = {}
    for line in (folder / "data.noun").read_text(encoding="latin1").splitlines():
        if line.startswith(" "):
            continue
        place, file, _, count, *rest = line.partition("|")[0].split()
        names, pointers = rest[: 2 * int(count, 16) : 2], rest[2 * int(count, 16) :]
        links = [(pointers[at], pointers[at + 1], pointers[at + 2]) for at in range(1, 4 * int(pointers[0]) + 1, 4)]
        found[place] = Meaning(
            file,
            tuple(name.lower() for name in names),
            tuple(other for sign, other, pos in links if sign in _ABOVE and pos == "n"),
            tuple(other for sign, other, pos in links if sign in _PARTS and pos == "n"),
            any(sign == "@i" for sign, *_ in links),
        )
    return found


def read_nouns(folder: Path) -> dict[str, list[str]]:
    """Return the places of the meanings of each noun, the most frequent one first."""
    found = {}
    for line in (folder / "index.noun").read_text(encoding="latin1").splitlines():
        if not line.startswith(" "):
            noun, _, count, *rest = line.split()
            found[noun] = rest[-int(count) :]
    return found


def broader(place: str, meanings: dict[str, Meaning], steps: int) -> set[str]:
    """Return a meaning and those above it."""
    found, edge = {place}, {place}
    for _ in range(steps):
        edge = {above for each in edge for above in meanings[each].above} - found
        found |= edge
    return found


def group_of(places: list[str], meanings: dict[str, Meaning]) -> str:
    """Return the group of a noun by its first meaning that is a thing or a person; empty if there is none."""
    for place in places[:SENSES]:
        if meanings[place].file == PEOPLE:
            above = broader(place, meanings, 6)
            return "person" if any(WORKERS & set(meanings[each].words) for each in above) else ""
        if group := THINGS.get(meanings[place].file):
            return group
    return ""


def common_nouns(folder: Path, vocabulary: set[str]) -> Iterator[str]:
    """Yield the nouns that WordNet's texts or the model's vocabulary have."""
    counted = {line.partition("%")[0] for line in (folder / "cntlist.rev").read_text().splitlines() if "%1:" in line}
    for noun in read_nouns(folder):
        if noun.isalpha() and len(noun) > 2 and (noun in vocabulary or noun in counted):
            yield noun


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wordnet", type=Path, help="folder of WordNet's data files, such as /usr/share/wordnet")
    folder: Path = parser.parse_args().wordnet
    meanings, senses = read_meanings(folder), read_nouns(folder)
    model = load_sentence_transformer("all-MiniLM-L6-v2")
    groups = {
        noun: group
        for noun in sorted(common_nouns(folder, set(model.tokenizer.get_vocab())))
        if not meanings[senses[noun][0]].is_name and (group := group_of(senses[noun], meanings))
    }
    nouns = list(groups)
    by_meaning: dict[str, set[str]] = {}
    for noun in nouns:
        for place in senses[noun]:
            by_meaning.setdefault(place, set()).add(noun)
    alike: dict[str, set[str]] = {noun: set() for noun in nouns}
    for noun in nouns:
        for place in senses[noun]:
            for other in broader(place, meanings, STEPS) | set(meanings[place].parts):
                alike[noun] |= by_meaning.get(other, set())
    vectors = model.encode(nouns, normalize_embeddings=True)
    limits = np.array([NEAR[groups[noun]] for noun in nouns], dtype=np.float32)
    near = vectors @ vectors.T >= np.minimum.outer(limits, limits)
    for at, noun in enumerate(nouns):
        alike[noun] |= {nouns[place] for place in np.flatnonzero(near[at])}
        above = {each for place in senses[noun][:SENSES] for each in meanings[place].above}
        for sister in (nouns[place] for place in np.flatnonzero(vectors[at] @ vectors.T >= NEAR_SISTERS)):
            is_sister = any(above & set(meanings[place].above) for place in senses[sister][:SENSES])
            if is_sister and groups[noun] == groups[sister] == "thing":
                alike[noun].add(sister)
    for noun in nouns:
        for other in tuple(alike[noun]):
            alike[other].add(noun)
    lines = (" ".join((noun, *(other for other in sorted(alike[noun]) if other > noun))) for noun in nouns)
    path = Path("workers/data") / TABLE
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path}: {len(nouns)} nouns, {sum(map(len, alike.values())) // 2} pairs")


if __name__ == "__main__":
    main()
