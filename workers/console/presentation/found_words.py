"""Mark the words of a search in a text."""

import re
from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup, escape

from workers.stores.queries.searched_texts import without_accents


def marked_words(text: str, words: Sequence[str]) -> Markup:
    """Return a text as safe HTML in which some words are marked, as the text writes them.

    Args:
        text: the text, hidden characters made visible.
        words: words and phrases without accents, in any case.
    """
    if not words:
        return escape(text)
    # Each folded letter with its place in the text: some letters become two, and accents none.
    letters = [(each, place) for place, letter in enumerate(text) for each in without_accents(letter).lower()]
    folded, places = "".join(each for each, _ in letters), [place for _, place in letters] + [len(text)]
    found: set[int] = set()
    for word in map(str.lower, words):
        # Ahead of each place, since a word may begin within itself: "ana" in "banana".
        for match in re.finditer(f"(?={re.escape(word)})", folded):
            begin, end = match.start(), match.start() + len(word)
            # An accent behind the last letter belongs to it.
            found.update(range(places[begin], max(places[end], places[end - 1] + 1)))
    parts = groupby(enumerate(text), key=lambda each: each[0] in found)
    pieces = ((is_found, "".join(letter for _, letter in part)) for is_found, part in parts)
    return Markup().join(
        Markup('<mark class="found">{}</mark>').format(piece) if is_found else escape(piece)
        for is_found, piece in pieces
    )
