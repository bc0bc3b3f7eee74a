"""Explain the reasons and signals of an answer to reviewers."""

from collections.abc import Mapping

from workers.decision.policy import AUDIT

CODE_MEANINGS: Mapping[str, str] = {
    "no_evidence": "No claim of the answer is supported, and none is contradicted.",
    "grounding_below_minimum": "The mean support of the claims is below the minimum.",
    "empty_answer": "The answer has no text.",
    "tool_failure": "The call failed, or the answer reports a failure of a tool or service.",
    "failed_tool": "A call of a tool failed, and the answer does not say so.",
    "refusal": "The answer declines to answer.",
    "high_hallucination_risk": "The answer probably has statements that the sources do not support.",
    "medium_hallucination_risk": "The answer may have statements that the sources do not support.",
    "gate_score_unknown": "The overall score could not be calculated.",
    "gate_score_below_minimum": "The overall score, the mean of the seven characteristics, is below the minimum.",
    "failure_signals": "The signals of the text together need a person by the rules of the validator.",
    "grounding_not_evaluated": "The claims were not compared with the sources: the evaluation failed or is missing.",
    "text_not_sent": "The gateway did not send the answer or the sources, so nothing was compared.",
    "no_contexts": "The answer makes claims, and its model received no sources.",
    "degraded": "A part of the evaluation is missing or failed.",
    "invalid_citation": "A reference of the answer leads to no source that the model received.",
    "citation_of_other_source": "A claim cites a source that does not support it, and another source does.",
    "uncited_claim": "A claim has no citation, and this tenant or kind of question needs one.",
    "uncited_recommendation": "A recommendation has no source that a reader can look up.",
    "conflicting_sources": "Two sources say different things about a claim.",
    "said_before": "Only an earlier turn of the conversation states a claim; the sources do not.",
    "contradicts_earlier": "A claim contradicts an earlier answer of the conversation and does not say so.",
    "words_not_compared": "The words of a claim could not be compared with those of the sources.",
    AUDIT: "Nothing speaks against the answer; it is part of the sample that people review.",
    "confusion": "The answer says that it does not understand the question, or asks back.",
    "low_confidence": "The answer says that it is not sure.",
    "empty_response": "The answer has no text, or hardly any.",
    "incomplete_reasoning": "The answer ends before its end, or leaves its reasoning open.",
    "hallucination_risk": "Words of the answer often stand in invented statements.",
    "uncertainty_language": "The answer has words such as “probably”.",
    "low_context_similarity": "The words of the claims are far from those of the sources.",
    "unverified_facts": "Claims are not supported by the sources.",
    "low_citation_coverage": "Few claims have a citation.",
    "contradicted_facts": "Sources contradict claims.",
    "cited_unsupported": "A claim cites a source that does not support it.",
}  # fmt: skip
"""Explanation of each reason, signal and issue that a page shows."""
