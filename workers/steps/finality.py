"""The release state machine: which decision is final, and what it releases.

An answer's state is what its final ``ReleasedAnswer`` says, else that of the highest revision. The
pipeline writes revisions 1 to 4 (completeness), final or not; a decision writes revision 100,
always final. Decisions of one answer stand in the order of their log, and the first that approves,
rejects or corrects is final, unless the pipeline's own word was final already. So:

====================================  ===================================================
what comes                            what becomes of it
====================================  ===================================================
a decision, nothing final yet         ``final``, also before its request or any release
the same decision once more           ``final`` again: the same outputs, byte for byte
another decision, person or policy    ``late``: noted, releases nothing
an identifier with another content    ``late``
a vote                                ``vote``: feedback, whenever it comes
a second review                       ``second``: for agreement, whenever it comes
the pipeline's "held" once more       nothing: it is not final
====================================  ===================================================

Only ``answers.released`` and the order of ``review.decisions`` are looked at: no clock, no
order between topics, no state of a process. Undoing is not part of it: a decision that can
be undone has not been published yet (``workers.review``).
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from schemas.base import Metadata
from schemas.enriched import ReleaseState
from schemas.identifiers import fact_id
from schemas.memory import ConversationTurn
from schemas.release import ReleasedAnswer
from schemas.review import POLICY, ReviewDecision
from workers.steps.markdown import closed
from workers.steps.mitigation import mitigate

Ruling = Literal["final", "late", "vote", "second"]

DECISION_REVISION = 100
"""Revision of what a decision releases; whatever the pipeline says has a lower one."""

REJECTION_TEXT = "Response was not approved due to quality concerns."
"""Shown in place of a rejected answer (seed 002, section 4.3)."""

_MARKER = re.compile(r"\[([0-9]{1,4})\]")
DECIDING = frozenset({"approve", "reject", "correct"})


@dataclass(frozen=True, slots=True)
class Standing:
    """What ``answers.released`` says of an answer.

    Attributes:
        revision: of the record that counts.
        final: whether that one is final.
        decision_id: the decision that made it so, if one did.
        digest: of its state and content, 16 hexadecimal digits.
    """

    revision: int
    final: bool
    decision_id: str | None
    digest: str


def standing_of(released: ReleasedAnswer) -> Standing:
    """What one record says by itself."""
    return Standing(released.revision, released.final, released.decision_id, _digest(released.state, released.content))


def later_standing(known: Standing | None, new: Standing) -> Standing:
    """What two records say together, in the order of their log: the final one, then the higher revision, then the first."""
    return new if known is None or (new.final, new.revision) > (known.final, known.revision) else known


def rule(standing: Standing | None, decision: ReviewDecision) -> Ruling:
    """What becomes of a decision."""
    if decision.user_action not in DECIDING:
        return "vote"
    if decision.second_review:
        return "second"
    if standing is None or not standing.final:
        return "final"
    return "final" if standing == standing_of(released_by(decision)) else "late"


def released_by(decision: ReviewDecision) -> ReleasedAnswer:
    """The final state that a decision gives its answer; the same for every repeat."""
    return ReleasedAnswer(
        release_id=fact_id(decision.answer_id, "release"),
        answer_id=decision.answer_id,
        tenant=decision.tenant,
        session_id=decision.session_id,
        state=decided_state(decision),
        final=True,
        revision=DECISION_REVISION,
        content=_content(decision),
        citations=_citations(decision),
        reasons=decision.reasons,
        hallucination_risk=decision.hallucination_risk,
        grounding_score=decision.grounding_score,
        gate_score=decision.gate_score,
        review_id=decision.review_id,
        decision_id=decision.feedback_id,
        decided_by=decision.decided_by,
        pipeline_version=decision.pipeline_version,
        released_at=decision.timestamp,
    )


def decided_state(decision: ReviewDecision) -> ReleaseState:
    """The state that a deciding action leads to."""
    if decision.user_action == "reject":
        return "rejected"
    if decision.user_action == "correct":
        return "replaced"
    return "warned" if decision.with_warning else "released"


def _content(decision: ReviewDecision) -> str:
    """The text for the reader: formatted as the pipeline would have, if the decision carries that."""
    if decision.user_action == "reject":
        return REJECTION_TEXT
    if decision.user_action == "correct":
        return decision.corrected_answer or ""
    shown = decision.releasable
    body = shown.body if shown is not None and shown.body is not None else decision.original_answer
    if decision.with_warning:
        body = mitigate(body, "high" if decision.hallucination_risk == "high" else "medium")
    references = shown.references if shown is not None else ""
    return closed(body) + references if references else body


def _citations(decision: ReviewDecision) -> list[Metadata]:
    """What the shown text cites; of a correction those whose marker it has kept."""
    shown = decision.releasable
    if shown is None or decision.user_action == "reject":
        return []
    if decision.user_action == "approve":
        return shown.citations
    numbers = {int(number) for number in _MARKER.findall(decision.corrected_answer or "")}
    return [citation for citation in shown.citations if citation.get("number") in numbers]


def decided_turn(decision: ReviewDecision, minimum: float, *, without_context: bool) -> ConversationTurn | None:
    """The turn to remember after a final decision, or ``None``.

    What a person approves or writes is remembered, since it was verified. What the policy lets
    pass is not, unless it is grounded well enough. An answer that was given no context is
    remembered by setting, as in the pipeline; a correction stands for itself.

    Args:
        decision: final.
        minimum: grounding from which an answer with a warning is remembered.
        without_context: whether answers without context are.
    """
    grounded = decision.grounding_score is not None and decision.grounding_score >= minimum
    verified = decision.decided_by != POLICY and not decision.with_warning
    if decision.user_action == "reject" or not (grounded or verified):
        return None
    if decision.user_action == "approve" and not decision.contexts and not without_context:
        return None
    shown = decision.releasable
    corrected = decision.user_action == "correct"
    return ConversationTurn(
        turn_id="turn_" + fact_id(decision.answer_id, "turn"),
        answer_id=decision.answer_id,
        tenant=decision.tenant,
        session_id=decision.session_id,
        user_id=decision.user_id,
        query=decision.query,
        response=(decision.corrected_answer if corrected else None) or decision.original_answer,
        context_chunks=decision.contexts,
        query_type=shown.query_type if shown else None,
        # Scores are those of the text that was judged, and a correction is another text.
        quality_score=shown.quality_score if shown and not corrected else None,
        hallucination_risk=None if corrected else decision.hallucination_risk,
        grounding_score=None if corrected else decision.grounding_score,
        revision=DECISION_REVISION,
        timestamp=shown.completed_at if shown else decision.timestamp,
    )


def _digest(state: str, content: str | None) -> str:
    return blake2b(f"{state}\x1f{content}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
