"""The words of a search are marked in a text as the text writes them, and nothing else is."""

import pytest

from workers.console.presentation.found_words import marked_words
from workers.stores.queries.searched_texts import words_of_search


@pytest.mark.parametrize(
    ("text", "search", "marked"),
    [
        ("Le café de Zürich.", "cafe ZURICH", "Le [café] de [Zürich]."),
        ("Le cafe.", "café", "Le [cafe]."),
        ("Re\u0301sume\u0301 du cafe\u0301\u0327.", "resume cafe", "[Re\u0301sume\u0301] du [cafe\u0301\u0327]."),
        ("Große Straße", "gros strasse", "[Groß]e [Straße]"),
        ("Straße", "as", "Str[aß]e"),
        ("Straße", "se", "Stra[ße]"),
        ("œuvre", "oeuvre o", "[œuvre]"),
        ("İzmir ve Iğdır", "izmir igdir", "[İzmir] ve [Iğdır]"),
        ("banana", "ana nan", "b[anana]"),
        ("one two three", '"two three" on', "[on]e [two three]"),
        ("a.c abc", "a.c", "[a.c] abc"),
        ("Ελλάδας ΛΟΓΟΣ", "ελλαδασ λόγος", "[Ελλάδας] [ΛΟΓΟΣ]"),
        ("ガラスとカラス", "カラス", "ガラスと[カラス]"),
        ("d’un", "d'un", "[d’un]"),
        ("nothing here", "cafe", "nothing here"),
        ("", "cafe", ""),
        ("café", "\u0301", "café"),
    ],
)
def test_words_are_marked(text: str, search: str, marked: str) -> None:
    html = marked.replace("'", "&#39;").replace("[", '<mark class="found">').replace("]", "</mark>")
    assert marked_words(text, words_of_search(search)) == html


def test_texts_are_escaped_around_and_within_marks() -> None:
    shown = marked_words('<b>é & "x"</b>', ["b>e"])
    assert shown == '&lt;<mark class="found">b&gt;é</mark> &amp; &#34;x&#34;&lt;/b&gt;'
    assert marked_words("<i>", []) == "&lt;i&gt;"
