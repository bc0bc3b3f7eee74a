"""Convert decisions of reviewers to labelled answers in the format of the evaluation data.

A label comes only from a reviewer's statement about facts: verdicts on claims, or an approval
without changes. A rejection or correction without verdicts gives no label, because its cause
may be tone or completeness. The verdict "cannot tell", a decision by deadline, and an answer
with incomplete stored evidence give no label either.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, Literal

from schemas.identifiers import record_key
from schemas.review import POLICY, ClaimVerdict, ReviewDecision, ReviewRequest

DATASET = "touchstone-reviews"
TEST_SHARE = 0.2
"""Share of sources in the test split; answers on one source are always in the same split."""

OFFENDING = frozenset({"contradicted", "unsupported"})

LeftOut = Literal["no verdict", "by a deadline", "evidence not whole"]


def label_row(decision: ReviewDecision, request: ReviewRequest) -> dict[str, Any] | LeftOut:
    """Convert a decision to one labelled answer, or return the reason why it gives no label.

    Args:
        decision: the final decision.
        request: the review request, with the evidence.

    Returns:
        ``id, dataset, task, query, contexts, answer, label, spans, span_verdicts, split, licence, source_repo``.
        The label is 1 if a claim was found contradicted or unsupported, for any action. ``spans`` holds
        positions alone and ``span_verdicts`` their verdicts, so that each column has one type in Arrow.
    """
    if decision.decided_by == POLICY:
        return "by a deadline"
    if not _is_whole(request):
        return "evidence not whole"
    label = _label(decision)
    if label is None:
        return "no verdict"
    marked = sorted(
        (verdict.span.start, verdict.span.end, verdict.verdict)
        for verdict in decision.claim_verdicts
        if verdict.verdict in OFFENDING and verdict.span is not None
    )
    return _row(request, record_key(decision.tenant, decision.answer_id), request.answer, label, marked)


def claim_rows(decision: ReviewDecision, request: ReviewRequest) -> Iterator[dict[str, Any]]:
    """Yield a labelled row for each claim with a reviewer's verdict; the claim is the answer of the row."""
    if decision.decided_by == POLICY or not _is_whole(request):
        return
    for number, verdict in enumerate(decision.claim_verdicts):
        text = _text(verdict, request)
        if text and verdict.verdict in (*OFFENDING, "supported"):
            label = int(verdict.verdict in OFFENDING)
            yield _row(request, f"{record_key(decision.tenant, decision.answer_id)}#c{number}", text, label, [])


def preference_row(decision: ReviewDecision, request: ReviewRequest) -> dict[str, Any] | None:
    """Convert a correction to a preference pair; ``None`` for any other decision.

    Returns:
        ``id, tenant, prompt, contexts, chosen, rejected, model_id, reason, decided_at``. ``chosen`` is the corrected
        text, ``rejected`` the answer of the model.
    """
    if decision.user_action != "correct" or not decision.corrected_answer:
        return None
    return {
        "id": record_key(decision.tenant, decision.answer_id),
        "tenant": decision.tenant,
        "prompt": request.query,
        "contexts": [context.content for context in request.contexts],
        "chosen": decision.corrected_answer,
        "rejected": request.answer,
        "model_id": decision.model_id,
        "reason": decision.reason or "",
        "decided_at": decision.timestamp.isoformat(),
    }


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
    request: ReviewRequest, identifier: str, answer: str, label: int, marked: Sequence[tuple[int, int, str]]
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
        "spans": [[start, end] for start, end, _ in marked] or None,
        "span_verdicts": [verdict for _, _, verdict in marked] or None,
        "split": "test" if share < TEST_SHARE else "train",
        "licence": "internal",
        "source_repo": f"review:{request.tenant}",
    }
