"""Words that the pages show for codes, and sentences that explain scores."""

from collections.abc import Mapping, Sequence

from workers.decision.policy import AUDIT, REASONS

SCORES: Mapping[str, str] = {
    "grounding": "How well the sources support the claims of the answer: the mean support of all checked claims. 1 is fully supported, 0 is not at all.",
    "quality": "How well the answer is written for its question: the mean of relevance, completeness, clarity and actionability, lowered by failure signals. 1 is best.",
    "gate": "The weighted mean of the seven characteristics of an answer; programs call it gate_score. In the mode gatekeeper, readers do not see an answer below the minimum before somebody decides. 1 is best.",
    "faithfulness": "Mean support of the claims, lowered by the share of claims that the sources contradict. 1 is best.",
    "relevance": "How closely the answer fits the question, in meaning and words. 1 is best. A question that names no subject, such as “Summarise this in a few sentences.”, gives a right answer a low one.",
    "correctness": "Agreement with the reference answer, lowered by the share of claims that the sources contradict. A reference answer comes with the answer, to measure a model; it is not shown here. Without one it is one minus that share alone: 1 then means that no claim is contradicted, and not that the answer is correct.",
    "coverage": "Share of the question, and of the sources that bear on it, that the answer covers. 1 is all.",
    "consistency": "Agreement of the answer with itself and with earlier answers to the same question. 1 means no disagreement was found.",
    "freshness": "How recent the cited sources were when the answer was written. 1 is new; it halves with each half-life of the settings.",
    "traceability": "Share of claims with a source, of references that resolve, and of citations whose source supports the claim, multiplied. 1 is all.",
    "citation_coverage": "Share of the factual claims and recommendations of the answer that a valid citation covers. Citations that Touchstone adds for readers do not count. “coverage” is another figure: how much of the question and its sources the answer treats.",
    "readers_rating": "What readers said of the answer: the mean of their ratings and votes, from 0 (bad) to 1 (good). Decisions and votes of reviewers are not part of it.",
    "reward": "What routers learn from the answer, from 0 (bad) to 1 (good): feedback and behaviour of readers, errors, repeated questions, and the decision of a reviewer (an approval is 1, a correction 0.5, a rejection 0). The evaluation is no part of it: an answer that was not evaluated can have a high one.",
    "verifier": "Probability by the verifier model that the evidence supports the claim.",
}  # fmt: skip
"""Explanation of each score that a page shows."""

REASON_WORDS: Mapping[str, str] = {
    "no_evidence": "no claim that the sources support",
    "grounding_below_minimum": "too little support in the sources",
    "gate": "overall score",
    "gate_score_below_minimum": "overall score below the minimum",
    "gate_score_unknown": "overall score unknown",
    "high_hallucination_risk": "high risk of hallucination",
    "medium_hallucination_risk": "medium risk of hallucination",
    "failed_tool": "failed call of a tool that the answer does not admit",
    "text_not_sent": "texts that the gateway did not send",
    "words_not_compared": "claims whose words could not be compared with the sources",
    "low_citation_coverage": "few claims with a citation",
    AUDIT: "random sample for quality control",
}
"""Words for reasons that their code does not say plainly."""

STATES: Mapping[str, str] = {
    "released": "Readers see the answer without a warning.",
    "warned": "Readers see the answer with a warning.",
    "held": "Readers see nothing until somebody decides.",
    "fallback": "Readers see a notice that the sources do not support an answer.",
    "replaced": "Readers see a corrected text instead of the answer.",
    "rejected": "Readers see a notice instead of the answer.",
    "withdrawn": "Readers saw the answer, and see a notice that it was withdrawn.",
}
"""Explanation of each state of an answer."""

REVIEW_EVENTS: Mapping[str, str] = {
    "assigned": "opened for review",
    "unassigned": "closed without a decision",
    "given": "assigned",
    "opinion_asked": "second opinion asked for",
    "opinion_ended": "second opinion no longer asked for",
    "undone": "decision undone",
}
"""Words for events of a review whose code does not say them plainly."""

MODES: Mapping[str, str] = {
    "gatekeeper": "The application waits for the verdict: readers see nothing before the answer is evaluated, and a held answer only once somebody decides.",
    "observer": "The application does not wait: it may have shown the answer before it was evaluated. The verdict warns, and asks for reviews.",
}
"""Explanation of each mode in which an answer is decided."""

ACTIVE_TIME = "The time in which the page of the request was in sight and used before the decision; a pause counts for up to a minute. Decisions of programs, of deadlines and on several requests at once have none."
"""Explanation of the active time of a review."""

REVIEWS_MEASURE = "the first one decides for readers, and the others only measure how far reviewers agree."
"""Explanation of several independent reviews of a request."""

USUAL_QUEUE = "default"


def words_of(code: str) -> str:
    """Return the words that a page shows for a code."""
    return REASON_WORDS.get(code, code.replace("_", " "))


def why_words(ruling: str, reason: str) -> str:
    """Return the reason of a record of the audit in words; that of what the pipeline did holds several rules."""
    if ruling != "automatic":
        return words_of(reason)
    return ", ".join(words_of(rule) for rule in reason.split(", ")) if reason else "every rule passed"


def review_event_words(kind: str, target: str = "") -> str:
    """Return the words of an event of a review.

    Args:
        kind: kind of the event.
        target: queue or person that it names; an undone skip names no queue.
    """
    if kind == "resumed":
        return "escalation undone" if target else "skip undone"
    return REVIEW_EVENTS.get(kind, words_of(kind))


def code_of(words: str) -> str:
    """Return the code of displayed words; any other text is taken as a code."""
    wanted = " ".join(words.split()).lower()
    by_words = {words_of(code).lower(): code for code in (*REASONS, AUDIT)}
    return by_words.get(wanted, wanted.replace(" ", "_"))


ALMOST_ONE = 0.9
"""Least score that is called very high."""


def level_of(score: float | None, code: str = "") -> str:
    """Return a score in words; a correctness near 1 says only that nothing speaks against the answer.

    Args:
        score: the score, 0..1; ``None`` if it is not known.
        code: name of the score.
    """
    if score is None:
        return "unknown"
    if code == "correctness" and score >= ALMOST_ONE:
        return "no contradiction found" if score == 1.0 else "little contradiction found"
    return next(
        name
        for least, name in ((ALMOST_ONE, "very high"), (0.7, "high"), (0.4, "medium"), (0.0, "low"))
        if score >= least
    )


WHAT_HAPPENED: Sequence[tuple[str, str]] = (
    ("", "any decision or step of a person or deadline"), ("released", "approved, shown without a warning"),
    ("warned", "approved, shown with a warning"), ("replaced", "corrected"), ("rejected", "rejected"), ("withdrawal", "withdrawn after it was decided"),
    ("undone", "undone"), ("second", "second opinion"), ("vote", "vote"), ("late", "decided too late"),
    ("skipped", "skipped"), ("escalated", "escalated"), ("resumed", "skip or escalation undone"),
    ("given", "assigned"), ("opinion_asked", "second opinion asked for"), ("opinion_ended", "second opinion no longer asked for"), ("unassigned", "opened and closed again without a decision"), ("automatic", "released automatically, without a person"),
    ("fallback", "answered with the fallback, without a person"), ("everything", "everything"),
)  # fmt: skip
"""Kinds of the records of decisions, with their words in the filter of the audit."""

SHOWN_BY: Mapping[str, str] = {
    "answer": "page or API of the answer", "review": "its review page", "get_review": "its review request by program",
    "next_review": "next review request by program", "preview_outcome": "preview of a decision",
    "preview_bulk": "preview of decisions on several requests",
    "citation": "a source of the answer", "search": "search", "queue": "review queue", "disagreements": "list of reviews that differ",
    "list_reviews": "list of review requests by program", "conversation": "earlier turns of a conversation",
    "audit": "audit", "audit_export": "file of the audit", "search_export": "file of a search", "memory": "search in memory", "source": "citations of a source",
    "loaded_ahead": "loaded ahead, not displayed",
}  # fmt: skip
"""Words for the kinds of accesses."""

_OF_MODEL = "the text of the model"
TEXT_SHOWN: Mapping[str, str] = {
    "answer": "the text of the model, and all versions until then", "review": _OF_MODEL, "get_review": _OF_MODEL,
    "next_review": _OF_MODEL, "preview_outcome": "a text that readers would get",
    "preview_bulk": "the beginning of a text that readers would get", "citation": "a source, and the claims compared with it",
    "search": "parts of the text of the model, and of that of readers where it is another one",
    "queue": "the question, and the beginning of the text of the model",
    "disagreements": "the question", "list_reviews": "the question",
    "conversation": "up to 2,000 characters of the text of the model, and of a correction",
    "audit": "the question, comments and corrections of reviewers, or claims of the citation audit",
    "search_export": "the beginnings of the text of the model, and of that of readers",
    "audit_export": "the question, comments and corrections of reviewers", "memory": "the remembered text",
    "source": "a source", "loaded_ahead": "nothing",
}  # fmt: skip
"""Which text of an answer was shown, by kind of access."""
