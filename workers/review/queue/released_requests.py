"""Describe an answer that was released without a decision as a request, of which a withdrawal can be made."""

from schemas.identifiers import fact_id
from schemas.review import ReleasableAnswer, ReviewRequest
from workers.decision.reader_text.reader_texts import TextsByLanguage, texts_for
from workers.stores.clickhouse.row_reading import Row


def released_request(answer: Row, texts: TextsByLanguage) -> ReviewRequest:
    """Return what a withdrawal needs of an answer, from its row; there may have been no request for a review.

    Args:
        answer: row of the answer.
        texts: texts of the settings for readers.
    """
    notices = texts_for(answer["answer"], answer["query"], texts).notices(answer["hallucination_risk"])
    return ReviewRequest(
        review_id=fact_id(answer["tenant"], answer["answer_id"], "review"),
        answer_id=answer["answer_id"],
        tenant=answer["tenant"],
        session_id=answer["session_id"] or None,
        user_id=answer["user_id"] or None,
        query=answer["query"],
        answer=answer["answer"],
        risk_mode=answer["risk_mode"],
        held=False,
        reasons=answer["reasons"],
        hallucination_risk=answer["hallucination_risk"],
        grounding_score=answer["grounding_score"],
        gate_score=answer["gate_score"],
        model_id=answer["model_id"],
        pipeline_version=answer["pipeline_version"],
        releasable=ReleasableAnswer(
            state=answer["state"],
            query_type=answer["query_type"] or None,
            completed_at=answer["completed_at"],
            notices=notices,
        ),
        requested_at=answer["enriched_at"],
    )
