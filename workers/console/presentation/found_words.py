"""Mark the words of a search in a text, and cut a long text around them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from markupsafe import Markup, escape

from workers.stores.queries.answer_queries import MAX_TEXT
from workers.stores.queries.searched_texts import without_accents

LEAD = 60
"""Maximum number of characters ahead of the first word that was found: the first line of a phone shows about 50."""
ELLIPSIS = "…"


def found_places(text: str, words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield begin, end and word of each place of a text that holds one of some words, one word after the other.

    Args:
        text: the text.
        words: words and phrases without accents, in any case.
    """
    # Each folded letter with its place in the text: some letters become two, and accents none.
    forms = {letter: without_accents(letter).lower() for letter in set(text)}
    letters = [(each, place) for place, letter in enumerate(text) for each in forms[letter]]
    folded, places = "".join(each for each, _ in letters), [place for _, place in letters] + [len(text)]
    for word in map(str.lower, words):
        # Ahead of each place, since a word may begin within itself: "ana" in "banana".
        for match in re.finditer(f"(?={re.escape(word)})", folded):
            begin, end = match.start(), match.start() + len(word)
            # An accent behind the last letter belongs to it.
            yield places[begin], max(places[end], places[end - 1] + 1), word


def passage_around(text: str, words: Sequence[str], is_cut: bool = False, length: int = MAX_TEXT) -> str:
    """Return the part of a text that holds most of some words, the first one of them near its begin.

    A text whose words stand at its begin, or which holds none, is cut behind ``length`` characters.

    Args:
        text: the text.
        words: words and phrases without accents, in any case.
        is_cut: the text is the beginning of a longer one: an ellipsis stands at its end, too.
        length: maximum number of characters of the text in it; an ellipsis stands where more was left out.
    """
    if is_cut:
        text = f"{text.removesuffix(ELLIPSIS)}{ELLIPSIS}"
    if len(text) <= LEAD:
        return text
    places = sorted(found_places(text, words))
    most, first, ahead = 0, 0, 0
    held: Counter[str] = Counter()
    for begin, _, left in places:
        while ahead < len(places) and places[ahead][1] <= begin - LEAD + length:
            held[places[ahead][2]] += 1
            ahead += 1
        number = sum(count > 0 for count in held.values())
        if number > most:
            most, first = number, begin
        held[left] -= 1
    start = _word_begin(text, first - LEAD, first)
    end = start + length
    return f"{ELLIPSIS if start else ''}{text[start:end]}{ELLIPSIS if end < len(text) else ''}"


def _word_begin(text: str, earliest: int, found: int) -> int:
    """Return where a passage begins: with a word, or ``earliest`` in a script without blanks; 0 near the begin."""
    if earliest <= 0:
        return 0
    blank = re.compile(r"\s").search(text, earliest - 1, found)
    return blank.end() if blank else earliest


def marked_words(text: str, words: Sequence[str]) -> Markup:
    """Return a text as safe HTML in which some words are marked, as the text writes them.

    Args:
        text: the text, hidden characters made visible.
        words: words and phrases without accents, in any case.
    """
    if not words:
        return escape(text)
    found = {place for begin, end, _ in found_places(text, words) for place in range(begin, end)}
    parts = groupby(enumerate(text), key=lambda each: each[0] in found)
    pieces = ((is_found, "".join(letter for _, letter in part)) for is_found, part in parts)
    return Markup().join(
        Markup('<mark class="found">{}</mark>').format(piece) if is_found else escape(piece)
        for is_found, piece in pieces
    )
