"""Texts that have characters and say nothing."""

import pytest

from schemas.answers import GeneratedAnswer
from tests.unit.decision.test_unread_texts import FRESH, enriched
from workers.evaluation.quality.quality_evaluator import evaluate_quality, prepare_quality
from workers.evaluation.text.empty_texts import is_blank, says_nothing
from workers.evaluation.thresholds import FeedbackRules, QualityThresholds
from workers.feedback.implicit_signals import execution_signals

NOTHING = [
    "", " \n", "\u200b\u200b", "\u00ad", "\ufeff", "\u3164", "\u2800", "```\n```", "```python\n\n```", "~~~\n~~~", "<br>",
    "<br/>\n<p></p>", "<div><span></span></div>", "![](x.png)", "...", "…", "—", "**", "# ", "---", "- ", "|  |\n|--|", "[1]",
    "[1] [2].", "[1][2][3]", "[^1]", "【1】", "[Source: a/b]", "[[1]](https://a.example)", "[AI Inference]", "&nbsp;", "&#8203;",
    "<!-- hidden words -->",
]  # fmt: skip
SOMETHING = [
    "a", "7", "Yes", "No.", "42 %", "三", "€", "👍", "✓", "`<br>`", "```\n<br>\n```", "```\n4 GiB\n```", "Ja [1].", "[1] 4",
    "[0, 1]", "(ok)", "5 < 6", " arr[0]", "&amp; co", "<b>4 GiB</b>", "https://docs.example/x", "[Guide](https://a.example/x)",
    "<https://docs.example/x>", "<help@docs.example>",
    "![Chart of sales](x.png)",
]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING)
def test_markup_and_invisible_characters_say_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize("text", SOMETHING)
def test_a_word_a_figure_a_sign_and_code_say_something(text: str) -> None:
    assert not says_nothing(text)
    assert not is_blank(text)


@pytest.mark.parametrize("text", NOTHING)
def test_an_answer_that_says_nothing_is_empty_everywhere(text: str) -> None:
    found = enriched({"answer": text, "query": "How much memory?", "contexts": [FRESH]}, "gatekeeper")
    assert found.decision.state == "held"
    assert "empty_answer" in found.decision.reasons
    assert found.grounding is not None and found.grounding.hallucination_risk is None
    answer = GeneratedAnswer(answer_id="a", answer=text, query="How much?", completed_at=found.answer.completed_at)
    quality = evaluate_quality(prepare_quality(answer), {}, QualityThresholds())
    assert (quality.overall_score, quality.issues[:1]) == (None, ["Response is empty"])
    assert "empty_response" in {signal.type for signal in quality.signals}
    assert execution_signals(answer, FeedbackRules(), QualityThresholds()).error_type == "empty_response"


@pytest.mark.parametrize(
    ("text", "risk"),
    [
        ('```json\n{"memory_limit": "4 GiB"}\n```', None),
        ('Here is the setting:\n\n```json\n{"memory_limit": "4 GiB"}\n```', None),
        ("[AI Inference: the pump is old]", None),
        ("You're welcome!", "low"),
        ("Which pump do you mean?", "low"),
        ("I could not find that in the documents.", "low"),
        ('A pump needs 2 GiB [1].\n\n```json\n{"memory_limit": "4 GiB"}\n```', "low"),
    ],
)
def test_an_answer_of_which_nothing_was_compared_has_no_risk_but_a_courtesy_has_a_low_one(
    text: str, risk: str | None
) -> None:
    found = enriched({"answer": text, "query": "How much memory?", "contexts": [FRESH]}, "observer").grounding
    assert found is not None and found.status == "ok"
    assert found.hallucination_risk == risk
    assert (found.risk_score is None, found.confidence_score is None) == (risk is None, risk is None)
