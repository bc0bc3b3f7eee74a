"""Check the form of the hand-written whole-answer cases, so that their figures mean what they say.

No case is evaluated here: ``benchmarks.answer_cases`` does that, and one half is held out.
"""

from collections import Counter

import pytest

from benchmarks.answer_cases import CASES as CASES_FILE
from benchmarks.answer_cases import EXPECTED, AnswerCase, Kind, read_cases

CASES = read_cases()
OUTSIDERS = read_cases(CASES_FILE.with_name("outsider_cases.jsonl"))
"""Cases of authors who had seen neither the rules nor their misses."""
IN_LANGUAGES = read_cases(CASES_FILE.with_name("language_cases.jsonl"))
"""The same in the twelve most used languages of the web beside English."""
TOOLS = read_cases(CASES_FILE.with_name("tool_cases.jsonl"))
"""Cases whose contexts are results of tools, by such an author."""
FURTHER_TOOLS = read_cases(CASES_FILE.with_name("further_tool_cases.jsonl"))
"""Further cases of this kind: opposite sides of a row, pages, logs and programs."""
FURTHER_IN_LANGUAGES = read_cases(CASES_FILE.with_name("further_language_cases.jsonl"))
"""Further cases in other languages, whose answers stay near the words of their sources."""
PLAIN_IN_LANGUAGES = read_cases(CASES_FILE.with_name("plain_language_cases.jsonl"))
"""Short cases in ten languages whose wrong answers differ in one word of meaning."""
PLAIN_TOOLS = read_cases(CASES_FILE.with_name("plain_tool_cases.jsonl"))
"""Ordinary questions on results of tools, all in view."""
NATURAL = read_cases(CASES_FILE.with_name("natural_cases.jsonl"))
"""Answers in a language model's own words, each beside one with a single mistake, by authors who had seen nothing."""
CONTRARY = read_cases(CASES_FILE.with_name("contrary_cases.jsonl"))
"""Claims with all words of their sources that take an excluded side, another party, month or noun."""
REFUSALS = read_cases(CASES_FILE.with_name("refusal_cases.jsonl"))
"""Acts that the source refuses in other words, durations in other units, and cells of tables with three columns."""
OVERLOOKED = read_cases(CASES_FILE.with_name("overlooked_cases.jsonl"))
"""Answers against another sentence of their source, and right ones that were flagged: calculations, follow-ups, forms."""
EVERYDAY = read_cases(CASES_FILE.with_name("everyday_cases.jsonl"))
"""Ordinary questions on rules, products, hours, contracts, lives and software; answers in other words than the sources."""
FIRST_TRIES = read_cases(CASES_FILE.with_name("first_tries.jsonl"))
"""Plain questions on one or two sentences, as somebody tries the system first; a right and a plainly wrong answer."""
AGENTS = read_cases(CASES_FILE.with_name("agent_cases.jsonl"))
"""Answers of agents in several sentences: over results of tools, in conversations and in ten languages."""
ASSISTANT_PROSE = read_cases(CASES_FILE.with_name("assistant_prose_cases.jsonl"))
"""Long answers in Markdown over one to three documents, as a chat model writes them, with one false claim or none."""
PARAPHRASED = read_cases(CASES_FILE.with_name("paraphrased_cases.jsonl"))
"""Short answers in other words than their sources, by four authors who had seen nothing; two of the four are held out."""
STREAMED = read_cases(CASES_FILE.with_name("streamed_cases.jsonl"))
"""Answers of several sentences that are streamed; the first, a middle or the last sentence is false."""
FURTHER_STREAMED = read_cases(CASES_FILE.with_name("further_streamed_cases.jsonl"))
"""The same by an author who had seen no rule; all are held out."""
EVERYTHING = (
    *CASES,
    *OUTSIDERS,
    *IN_LANGUAGES,
    *TOOLS,
    *FURTHER_TOOLS,
    *FURTHER_IN_LANGUAGES,
    *PLAIN_IN_LANGUAGES,
    *PLAIN_TOOLS,
    *NATURAL,
    *CONTRARY,
    *FIRST_TRIES,
    *REFUSALS,
    *OVERLOOKED,
    *EVERYDAY,
    *AGENTS,
    *ASSISTANT_PROSE,
    *PARAPHRASED,
    *STREAMED,
    *FURTHER_STREAMED,
)
BY_ID = {case.id: case for case in EVERYTHING}
CONVERSATIONS = read_cases(CASES_FILE.with_name("conversation_cases.jsonl"))
"""Cases with earlier turns, of an author who had seen no rules either."""
FURTHER_CONVERSATIONS = read_cases(CASES_FILE.with_name("further_conversation_cases.jsonl"))
"""Further cases with earlier turns: corrections, other topics, several speakers, agreement with a wrong answer."""
PLAIN_CONVERSATIONS = read_cases(CASES_FILE.with_name("plain_conversation_cases.jsonl"))
"""Short cases with earlier turns, in ten languages."""
MINIMUM_PAIRS = 10
"""Fewest pairs of a kind: half of them must be enough to see whether a kind was mended."""


def _differing_fields(case: AnswerCase, twin: AnswerCase) -> set[str]:
    one, other = case.model_dump(), twin.model_dump()
    return {name for name in one if one[name] != other[name]} - {"id", "twin", "expected", "reason"}


def test_there_are_640_pairs_and_identifiers_are_unique() -> None:
    assert len(CASES) >= 480
    assert len(OUTSIDERS) >= 800
    assert len(TOOLS) + len(FURTHER_TOOLS) >= 220
    assert len(BY_ID) == len(EVERYTHING)


def test_twins_name_each_other_and_expect_the_opposite() -> None:
    for case in EVERYTHING:
        twin = BY_ID[case.twin]
        assert twin.twin == case.id != twin.id
        assert {case.expected, twin.expected} == set(EXPECTED[case.kind]), case.id


def test_twins_differ_in_query_contexts_or_answer_alone() -> None:
    for case in EVERYTHING:
        differing = _differing_fields(case, BY_ID[case.twin])
        assert len(differing) == 1, case.id
        assert differing <= {"query", "contexts", "answer"}, case.id


def test_cases_with_earlier_turns_come_in_pairs_too() -> None:
    conversations = (*CONVERSATIONS, *FURTHER_CONVERSATIONS, *PLAIN_CONVERSATIONS)
    by_id = {case.id: case for case in conversations}
    assert len(by_id) == len(conversations) >= 380
    for case in conversations:
        twin = by_id[case.twin]
        assert _differing_fields(case, twin) - {"reason"} == {"answer"}, case.id
        assert {case.expected, twin.expected} == set(EXPECTED[case.kind]), case.id
        assert case.heldout == twin.heldout and case.conversation, case.id


@pytest.mark.parametrize(
    "cases", [FURTHER_TOOLS, FURTHER_IN_LANGUAGES, FURTHER_CONVERSATIONS, PLAIN_IN_LANGUAGES, CONTRARY, OVERLOOKED]
)
def test_about_half_of_the_further_cases_are_held_out(cases: list[AnswerCase]) -> None:
    assert len(cases) >= 100
    assert 0.45 <= sum(case.heldout for case in cases) / len(cases) <= 0.55


def test_everyday_cases_are_60_pairs_and_one_half_is_held_out() -> None:
    halves = Counter((case.heldout, case.is_right) for case in EVERYDAY)
    assert set(halves.values()) == {30} and len(halves) == 4


def test_answers_of_agents_are_90_pairs_and_one_half_is_held_out() -> None:
    parts = Counter((case.id.split("-")[1], case.heldout, case.is_right) for case in AGENTS)
    assert {name for name, _, _ in parts} == {"tool", "conversation", "language"}
    assert set(parts.values()) == {15} and len(parts) == 12


def test_assistant_prose_is_80_pairs_and_one_half_is_held_out() -> None:
    halves = Counter((case.heldout, case.is_right) for case in ASSISTANT_PROSE)
    assert set(halves.values()) == {40} and len(halves) == 4


def test_paraphrased_cases_are_20_pairs_of_each_kind_and_one_half_is_held_out() -> None:
    parts = Counter((case.kind, case.heldout, case.is_right) for case in PARAPHRASED)
    assert set(parts.values()) == {10} and len(parts) == 8 * 4


def test_streamed_cases_are_52_pairs_and_one_half_is_held_out() -> None:
    halves = Counter((case.heldout, case.is_right) for case in STREAMED)
    assert set(halves.values()) == {26} and len(halves) == 4


def test_further_streamed_cases_are_50_pairs_and_held_out() -> None:
    assert Counter(case.is_right for case in FURTHER_STREAMED) == {True: 50, False: 50}
    assert all(case.heldout for case in FURTHER_STREAMED)


def test_first_tries_are_78_pairs_of_which_20_are_held_out() -> None:
    halves = Counter((case.heldout, case.is_right) for case in FIRST_TRIES)
    assert halves == {(False, True): 58, (False, False): 58, (True, True): 20, (True, False): 20}


def test_the_plain_cases_have_six_pairs_in_each_language_and_half_are_held_out() -> None:
    halves = Counter((case.language, case.heldout) for case in PLAIN_IN_LANGUAGES)
    assert set(halves.values()) == {6} and len(halves) == 20
    assert sum(case.heldout for case in PLAIN_CONVERSATIONS) == len(PLAIN_CONVERSATIONS) / 2


@pytest.mark.parametrize("kind", sorted({case.kind for case in CASES}))
def test_each_kind_has_enough_pairs_and_one_half_is_held_out(kind: Kind) -> None:
    halves = Counter((case.heldout, case.is_right) for case in CASES if case.kind == kind)
    assert len(halves) == 4
    assert len(set(halves.values())) == 1, "each half has as many right cases as wrong ones"
    assert sum(halves.values()) >= 2 * MINIMUM_PAIRS


def test_each_language_has_27_pairs_and_about_half_of_them_are_held_out() -> None:
    halves = Counter((case.language, case.heldout) for case in IN_LANGUAGES)
    assert len(halves) == 24
    assert all(22 <= count <= 32 for count in halves.values())
    assert {case.kind for case in IN_LANGUAGES} > {"number", "date", "negation", "sum", "hedge", "cross"}


def test_refusals_are_written_in_twelve_languages_with_three_wordings_each() -> None:
    refusals = {case.answer: case.language for case in CASES if case.expected == "refused"}
    assert len(set(refusals.values())) >= 12
    assert min(Counter(refusals.values()).values()) >= 3


def test_the_languages_beside_english_are_covered() -> None:
    languages = Counter(case.language for case in CASES if case.kind == "language")
    assert set(languages) == {"de", "es", "fr", "pt", "it", "nl", "pl", "ru", "ja", "zh"}


def test_retries_have_an_earlier_query_and_the_others_an_answer() -> None:
    for case in EVERYTHING:
        assert (case.earlier_query is not None) == (case.kind == "retry") == (not case.answer), case.id


def test_no_answer_stands_twice_beside_the_same_evidence() -> None:
    asked = Counter((case.query, case.earlier_query, case.answer, str(case.contexts)) for case in CASES)
    assert max(asked.values()) == 1
