from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.linear_time import check_linear, repeated
from workers.evaluation.facts.evidence_units import segment_source
from workers.evaluation.text.structure.segmentation import code_ranges, segment

PIECES = (
    *("# ", "- ", "1. ", "> ", "```\n", "`", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "\n", "\n\n", "    ", "**", "_"),
    *("[1]", "[Source: a/b]", "(", ")", "“", "„", '"', "Hello world. ", "3.5 GiB, e.g. this. ", "これは文です。"),
    *("\r\n", "\r", "\x00", "\u2028", "\ud7ff", "😀", "é", "\\", "<div>", "[x]: y\n", "• ", "---\n", "===\n", "\t"),
)
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in segment(text)]


@settings(max_examples=300, deadline=None)
@given(st.one_of(MARKDOWN, st.text(max_size=300)))
def test_offsets_point_into_the_raw_text_in_order_and_without_overlap(text: str) -> None:
    sentences = segment(text)
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text.strip()
    assert all(first.end <= second.start for first, second in pairwise(sentences))
    assert all(start < end for start, end in code_ranges(text, sentences))


@settings(max_examples=200, deadline=None)
@given(MARKDOWN)
def test_no_word_is_lost(text: str) -> None:
    covered = "".join(sentence.text for sentence in segment(text))
    for word in ("Hello", "GiB", "文"):
        assert covered.count(word) == text.count(word)


WHITE_SPACE = tuple(filter(str.isspace, map(chr, range(0x3001))))


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ru", "ja", "zh", "ar", "hi", "xx"])
@pytest.mark.parametrize(
    "before", ["It is rich in vitamin A", "Annexe B", "日本語 C", "Витамин А", "(D", "e.g. E", "\u00c9"]
)
def test_white_space_of_any_kind_before_a_full_stop_is_read(before: str, language: str) -> None:
    """The library that finds sentences panics at some of it."""
    for space in WHITE_SPACE:
        text = f"{before}{space}. Take it daily."
        sentences = segment(text, language)
        assert all(text[each.start : each.end] == each.text for each in sentences)
        assert "".join(each.text for each in sentences).replace(" ", "").endswith("Takeitdaily.")


@pytest.mark.parametrize(
    "text",
    [
        "The value is 3.5 and v1.2.3 is out, e.g. in /etc/loki.d/config.yaml.",
        "See https://example.org/a.html?x=1.5 for that.",
        "It costs approx. 5 euros.",
        "Dr. Smith works for the U.S. Army.",
        "Das ist z. B. gut, bzw. besser.",
        "Am 3. März 2026 war es so, nicht am 4. April.",
        "M. Dupont est là dans la salle.",
        "Call `a. B` or `x.y. Z` first.",
        "It fell [Source: notes. Part B] to 3.",
    ],
)
def test_periods_that_end_no_sentence_do_not_split(text: str) -> None:
    assert texts(text) == [text]


def test_sentences_of_many_languages_are_split() -> None:
    assert texts("これは文です。次の文です！") == ["これは文です。", "次の文です！"]
    assert texts("Der Dienst lief nicht. Er wurde neu gestartet.") == [
        "Der Dienst lief nicht.",
        "Er wurde neu gestartet.",
    ]
    assert len(segment("यह वाक्य है। दूसरा वाक्य।")) == 2


def test_a_marker_behind_the_stop_belongs_to_the_sentence_before() -> None:
    assert texts("It fell. [1] It rose.[2] It fell. [Source: a/b] Now.") == [
        "It fell. [1]",
        "It rose.[2]",
        "It fell. [Source: a/b]",
        "Now.",
    ]


def test_markdown_blocks_are_told_apart() -> None:
    text = (
        "# Head\n\nText.\n\n- item one\n- item two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx. y\n```\n"
    )
    assert [(sentence.block, sentence.text) for sentence in segment(text)] == [
        ("heading", "Head"),
        ("paragraph", "Text."),
        ("list_item", "item one"),
        ("list_item", "item two"),
        ("quote", "quoted"),
        ("table_row", "| a | b |"),
        ("table_row", "| 1 | 2 |"),
        ("code", "```py\nx. y\n```"),
    ]
    header, row = (sentence for sentence in segment(text) if sentence.block == "table_row")
    assert header.is_header
    assert row.header == ("a", "b")


def test_a_claim_cannot_hide_in_markup_that_is_not_shown_as_text() -> None:
    text = "Loki failed\n---\n<div>It cost $5.</div>\n\n[a]: It\n\n" + "> " * 40 + "Deep claim.\n"
    blocks = {sentence.text.lstrip("> "): sentence.block for sentence in segment(text)}
    assert blocks["Loki failed"] == "paragraph"
    assert any("It cost $5" in text for text in blocks)
    assert any("Deep claim." in text for text in blocks)


def test_lines_that_start_anew_are_sentences_of_their_own() -> None:
    assert texts("Name: Loki\nOwner: Anna\n• first\n• second") == ["Name: Loki", "Owner: Anna", "first", "second"]


def test_a_wrapped_sentence_stays_whole() -> None:
    text = "This line is long enough to have been wrapped by an editor and it\ngoes on here."
    assert texts(text) == [text]


def test_a_paragraph_longer_than_a_window_is_split_at_its_sentences_only() -> None:
    sentence = "The ingester of this cluster exceeds its memory limit every day."
    assert texts(" ".join([sentence] * 300)) == [sentence] * 300


ADVERSARIAL: dict[str, Callable[[int], str]] = {
    unit: repeated(unit)
    for unit in (
        *(
            "[",
            "*",
            "`",
            ">",
            "> ",
            "“",
            '"',
            "\n",
            "a.",
            "„a. ",
            "- ",
            "-\n",
            "|",
            "[a]: b\n",
            "(a. ",
            "1. ",
            "a:\n",
            "# a\n",
        ),
        *("a. [Source: ", "https://a. "),
    )
} | {
    "table": lambda n: "|a" * 75 + "\n" + "|-" * 75 + "\n" + "|b\n" * (n // 3),
    "code spans": lambda n: "``".join("`" * (length % 340) for length in range(n // 170)),
}


@pytest.mark.parametrize("name", ADVERSARIAL, ids=repr)
def test_time_stays_linear_on_hostile_answers(name: str) -> None:
    check_linear(lambda text: partial(segment, text), ADVERSARIAL[name], name)


class TestSources:
    def test_json_fields_and_records_are_readable(self) -> None:
        content = '{"asset_id": "grinder-5", "downtimeMinutes": 47, "note": null, "tags": ["a", "b"]}'
        units = {unit.text: content[unit.start : unit.end] for unit in segment_source(content)}
        assert units["asset id: grinder-5"] == '"asset_id": "grinder-5"'
        assert units["downtime minutes: 47"] == '"downtimeMinutes": 47'
        assert "tags: a, b" in units
        assert "asset id: grinder-5; downtime minutes: 47; tags: a, b" in units
        assert not any("note" in text for text in units)

    def test_records_of_a_list_are_not_mixed(self) -> None:
        found = [unit.text for unit in segment_source('[{"id": 1, "v": 2}, {"id": 2, "v": 3}]')]
        assert "id: 1; v: 2" in found
        assert "id: 2; v: 3" in found

    def test_json_lines_are_records(self) -> None:
        found = [unit.text for unit in segment_source('{"id": 1, "v": 2}\n{"id": 2, "v": 3}\n')]
        assert "id: 2; v: 3" in found

    def test_long_texts_in_records_are_sentences_with_their_offsets(self) -> None:
        content = '{"review": "' + "The food was good. " * 15 + 'The bill was high."}'
        unit = segment_source(content)[-1]
        assert content[unit.start : unit.end] == unit.text == "The bill was high."

    def test_table_rows_are_read_with_their_titles(self) -> None:
        markdown = "Asset | Downtime\n---|---\nGrinder 5 | 47 min\n"
        assert segment_source(markdown)[-1].text == "Asset: Grinder 5; Downtime: 47 min"
        assert segment_source("asset,date,downtime\ngrinder-5,2026-01-04,47\n")[0].text == (
            "asset: grinder-5; date: 2026-01-04; downtime: 47"
        )

    @settings(max_examples=200, deadline=None)
    @given(st.one_of(MARKDOWN, st.text(max_size=200), st.text(alphabet='[]{}":,1an\\ ul', max_size=80)))
    def test_units_lie_within_the_content(self, content: str) -> None:
        units = segment_source(content)
        assert all(0 <= unit.start < unit.end <= len(content) and unit.text for unit in units)
        assert all(first.start <= second.start for first, second in pairwise(units))

    @pytest.mark.parametrize("content", ["[" * 100_000, "[1," * 900 + "1" + "]" * 900, "[" + "1," * 49_000 + "1]"])
    def test_deep_and_wide_json_does_not_raise(self, content: str) -> None:
        assert isinstance(segment_source(content), list)

    @pytest.mark.parametrize("shape", [repeated("["), lambda n: "[" + "1," * (n // 2) + "1]"], ids=["deep", "wide"])
    def test_time_stays_linear_on_deep_and_wide_json(self, shape: Callable[[int], str]) -> None:
        check_linear(lambda text: partial(segment_source, text), shape, "JSON")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is at Hafenstr. 12. Bring proof.", ["It is at Hafenstr. 12.", "Bring proof."]),
        (
            "Das Amt ist in der Berliner Str. 7a. Montags ist zu.",
            ["Das Amt ist in der Berliner Str. 7a.", "Montags ist zu."],
        ),
        ("It is good for the soul. 3 people came.", ["It is good for the soul.", "3 people came."]),
        ("It is in the Hafenstr. Bring proof.", ["It is in the Hafenstr.", "Bring proof."]),
    ],
)
def test_the_number_of_a_house_stays_with_its_street(text: str, sentences: list[str]) -> None:
    assert [each.text for each in segment(text)] == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It opens at 10 a.m. [1]. It is online.", ["It opens at 10 a.m. [1].", "It is online."]),
        ("It closes at 6 p.m. [1][2]. It is free.", ["It closes at 6 p.m. [1][2].", "It is free."]),
        ("It was bought by Acme Inc. [2]. It cost EUR 5.", ["It was bought by Acme Inc. [2].", "It cost EUR 5."]),
        ("It is sold by Foo Ltd. [1], Bar Co. [2]. Both are old.", ["It is sold by Foo Ltd. [1], Bar Co. [2].", "Both are old."]),
        ("It has parts, e.g. [1]. The rest is spare.", ["It has parts, e.g. [1].", "The rest is spare."]),
        ("Es gibt Teile, z. B. [1]. Der Rest folgt.", ["Es gibt Teile, z. B. [1].", "Der Rest folgt."]),
        ("Siehe Nr. 5 [1]. Der Rest folgt.", ["Siehe Nr. 5 [1].", "Der Rest folgt."]),
        ("He was born in Washington D.C. [1]. He died there.", ["He was born in Washington D.C. [1].", "He died there."]),
        ("It opens at 10 a.m. [1] It is online.", ["It opens at 10 a.m. [1]", "It is online."]),
        ("営業は9時からです[1]。日曜日は休みです[2]。", ["営業は9時からです[1]。", "日曜日は休みです[2]。"]),
        ("它在9点开门[1]，周一闭馆[2]。", ["它在9点开门[1]，周一闭馆[2]。"]),
    ],
)  # fmt: skip
def test_the_stop_behind_a_citation_ends_its_sentence(text: str, sentences: list[str]) -> None:
    assert texts(text) == sentences
