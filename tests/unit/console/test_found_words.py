"""The words of a search are marked in a text as the text writes them, and nothing else is."""

import pytest

from workers.console.presentation.found_words import ELLIPSIS, LEAD, marked_words, passage_around
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


FILLER = "word " * 200


@pytest.mark.parametrize(
    ("text", "search", "begin"),
    [
        (f"{FILLER}the zirconium filter. {FILLER}", "zirconium", "zirconium"),
        (f"{FILLER}the Café on the corner. {FILLER}", "cafe", "Café"),
        (f"The filter. {FILLER}a filter of zirconium. {FILLER}", "zirconium filter", "filter of zirconium"),
        (f"The filter. {FILLER}a filter. {FILLER}", "filter", "filter"),
        (f"{'見' * 900}窓{'見' * 900}", "窓", "窓"),
        (f"{FILLER}Straße", "strasse", "Straße"),
    ],
)
def test_a_long_text_is_cut_around_the_words_that_were_found(text: str, search: str, begin: str) -> None:
    shown = passage_around(text, words_of_search(search))
    assert 0 <= shown.index(begin) <= LEAD + len(ELLIPSIS)
    assert shown.strip(ELLIPSIS) in text
    assert len(shown.strip(ELLIPSIS)) <= 300
    assert shown.startswith(ELLIPSIS) == (not text.startswith(shown.strip(ELLIPSIS)))
    assert shown.endswith(ELLIPSIS) == (not text.endswith(shown.strip(ELLIPSIS)))


@pytest.mark.parametrize(
    ("text", "search", "shown"),
    [
        ("A short text of a few words, cut nowhere.", "cut", "A short text of a few words, cut nowhere."),
        (f"First words. {FILLER}", "first", f"First words. {FILLER}"[:300] + ELLIPSIS),
        (FILLER, "nowhere", FILLER[:300] + ELLIPSIS),
        (FILLER, "", FILLER[:300] + ELLIPSIS),
        ("", "nowhere", ""),
    ],
)
def test_a_text_whose_words_stand_at_its_begin_is_cut_behind_it(text: str, search: str, shown: str) -> None:
    assert passage_around(text, words_of_search(search) if search else []) == shown


def test_the_beginning_of_a_longer_text_has_an_ellipsis_however_short_it_is() -> None:
    assert passage_around("providing a", [], is_cut=True) == "providing a…"
    assert passage_around(f"{'word ' * 50}wettest ye", [], is_cut=True).endswith("wettest ye…")
    assert passage_around("A cut question …", [], is_cut=True) == "A cut question …"


def test_a_passage_begins_with_a_word() -> None:
    shown = passage_around(f"{'abcdefg ' * 100}target end", ["target"])
    assert shown.startswith(f"{ELLIPSIS}abcdefg ")
    assert shown.endswith("target end")
