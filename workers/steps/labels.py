"""From decisions of reviewers to labelled answers, in the format that the evaluation reads.

What counts is what a person has said of facts: verdicts on claims, or an approval as it was. A
rejection or correction without verdicts may be about tone or completeness, so it is no label;
nor is what somebody cannot tell, a decision of a deadline, or an answer whose evidence is not
stored whole.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Literal

from schemas.review import POLICY, ClaimVerdict, ReviewDecision, ReviewRequest

DATASET = "touchstone-reviews"
TEST_SHARE = 0.2
"""Of the sources: answers on one source never stand on both sides of a split."""

OFFENDING = frozenset({"contradicted", "unsupported"})

LeftOut = Literal["no verdict", "by a deadline", "evidence not whole"]


def label_row(decision: ReviewDecision, request: ReviewRequest) -> dict[str, Any] | LeftOut:
    """One labelled answer, or why it is none.

    Args:
        decision: final.
        request: what it decided on, with the evidence.

    Returns:
        ``id, dataset, task, query, contexts, answer, label, spans, split, licence, source_repo``; the
        label is 1 where a claim was found contradicted or unsupported, whatever became of the answer.
    """
    if decision.decided_by == POLICY:
        return "by a deadline"
    if not _is_whole(request):
        return "evidence not whole"
    label = _label(decision)
    if label is None:
        return "no verdict"
    spans = [
        [verdict.span.start, verdict.span.end, verdict.verdict]
        for verdict in decision.claim_verdicts
        if verdict.verdict in OFFENDING and verdict.span is not None
    ]
    return _row(request, decision.answer_id, request.answer, label, sorted(spans) or None)


def claim_rows(decision: ReviewDecision, request: ReviewRequest) -> Iterator[dict[str, Any]]:
    """A row for each claim that a person has judged, as if the claim were the answer."""
    if decision.decided_by == POLICY or not _is_whole(request):
        return
    for number, verdict in enumerate(decision.claim_verdicts):
        text = _text(verdict, request)
        if text and verdict.verdict in (*OFFENDING, "supported"):
            label = int(verdict.verdict in OFFENDING)
            yield _row(request, f"{decision.answer_id}#c{number}", text, label, None)


def _label(decision: ReviewDecision) -> int | None:
    said = {verdict.verdict for verdict in decision.claim_verdicts}
    if said & OFFENDING:
        return 1
    approved = decision.user_action == "approve" and not decision.with_warning and "cannot_tell" not in said
    return 0 if approved else None


def _is_whole(request: ReviewRequest) -> bool:
    return bool(request.contexts) and len(request.contexts) == request.contexts_total


def _text(verdict: ClaimVerdict, request: ReviewRequest) -> str:
    return request.answer[verdict.span.start : verdict.span.end] if verdict.span is not None else ""


def _row(
    request: ReviewRequest, identifier: str, answer: str, label: int, spans: list[list[Any]] | None
) -> dict[str, Any]:
    contexts = [context.content for context in request.contexts]
    digest = blake2b("\0".join(contexts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    share = int.from_bytes(digest, "big") / 2**64
    return {
        "id": identifier,
        "dataset": DATASET,
        "task": "qa",
        "query": request.query,
        "contexts": contexts,
        "answer": answer,
        "label": label,
        "spans": spans,
        "split": "test" if share < TEST_SHARE else "train",
        "licence": "internal",
        "source_repo": f"review:{request.tenant}",
    }
