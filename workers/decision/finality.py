"""Implement the release state machine: find the final decision and the state that it releases.

An answer's state is that of its final ``ReleasedAnswer``, otherwise that of the highest revision. The pipeline writes
revisions 1 to 4 (completeness), final or not. A decision writes revision 100, always final. Decisions of one answer are
processed in the order of their log. The first one that approves, rejects or corrects is final, unless the pipeline's
release was final already:

====================================  ===================================================
event                                 result
====================================  ===================================================
a decision, nothing final yet         ``final``, also before its request or any release
the same record again                 ``final`` again: the same outputs, byte for byte
the same decision, published again    ``final`` again: the same state and text, with the time of that publication
another decision, person or policy    ``late``: recorded, releases nothing
the same identifier, other content    ``late``
a vote                                ``vote``: feedback, at any time
a second review                       ``second``: for agreement, at any time
the pipeline's "held" again           nothing: it is not final
a withdrawal of the final decision    ``withdrawal``: final, revision 200, also as a repetition
the withdrawn decision again          ``final`` again; its revision 100 no longer counts
a withdrawal of the release, final    ``withdrawal`` as above, unless a decision is final
by the pipeline or not yet
any other withdrawal                  ``late``; ``withdrawal`` if nothing final is known any more
====================================  ===================================================

The result depends only on ``answers.released`` and the order of ``review.decisions``: not on a clock, on the order
between topics or on the state of a process. A decision that can still be undone has not been published yet
(``workers.review``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Literal

from schemas.answers import ContextChunk
from schemas.base import Metadata, RiskLevel
from schemas.enriched import ReleaseState
from schemas.identifiers import fact_id, turn_id
from schemas.memory import ConversationTurn
from schemas.release import ReleasedAnswer
from schemas.review import POLICY, WITHDRAWN, ReviewDecision
from workers.decision.mitigation import mitigate
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.decision.reader_text.reference_list import entries_of
from workers.evaluation.citations.resolution import SourceIndex, resolve
from workers.evaluation.text.structure.markdown import closed
from workers.evaluation.text.structure.markers import find_markers

Ruling = Literal["final", "late", "vote", "second", "withdrawal"]

DECISION_REVISION = 100
"""Revision of a release by decision; releases of the pipeline have lower ones."""

WITHDRAWAL_REVISION = 200
"""Revision of a release that takes a decided answer back from readers."""

DECIDING = frozenset({"approve", "reject", "correct"})


@dataclass(frozen=True, slots=True)
class Standing:
    """Hold the state of an answer according to ``answers.released``.

    Attributes:
        revision: revision of the record that counts.
        final: True if that record is final.
        decision_id: the decision behind that record, if any.
        digest: digest of its state and content, 16 hexadecimal digits.
    """

    revision: int
    final: bool
    decision_id: str | None
    digest: str


def standing_of(released: ReleasedAnswer) -> Standing:
    """Return the standing that one record gives."""
    return Standing(released.revision, released.final, released.decision_id, _digest(released.state, released.content))


def later_standing(known: Standing | None, new: Standing) -> Standing:
    """Merge two standings in log order; prefer the final one, then the higher revision, then the first."""
    return new if known is None or (new.final, new.revision) > (known.final, known.revision) else known


def rule(standing: Standing | None, decision: ReviewDecision) -> Ruling:
    """Classify a decision by the standing of its answer."""
    if decision.user_action not in DECIDING:
        return "vote"
    if decision.second_review:
        return "second"
    known = standing if standing is not None and standing.final else None
    repeats = known is not None and known == standing_of(released_by(decision))
    if decision.withdraws is not None:
        takes_back = (
            known is None
            or known.decision_id == decision.withdraws
            or (known.decision_id is None and withdraws_release(decision))
        )
        return "withdrawal" if takes_back or repeats else "late"
    was_withdrawn = known is not None and (known.decision_id or "").startswith(f"{decision.feedback_id}{WITHDRAWN}")
    return "final" if known is None or repeats or was_withdrawn else "late"


def withdraws_release(decision: ReviewDecision) -> bool:
    """Return true if a decision takes back what the pipeline released without a decision."""
    return decision.withdraws == fact_id(decision.tenant, decision.answer_id, "release")


def released_by(decision: ReviewDecision) -> ReleasedAnswer:
    """Return the final state that a decision gives its answer; it is equal for every repetition."""
    return ReleasedAnswer(
        release_id=fact_id(decision.tenant, decision.answer_id, "release"),
        answer_id=decision.answer_id,
        tenant=decision.tenant,
        session_id=decision.session_id,
        state=decided_state(decision),
        final=True,
        revision=decided_revision(decision),
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
        released_at=effective_at(decision),
    )


def effective_at(decision: ReviewDecision) -> datetime:
    """Return the time from which readers have the result of a decision, UTC: the end of its undo window, if it had one."""
    return decision.published_at or decision.timestamp


def decided_revision(decision: ReviewDecision) -> int:
    """Return the revision of the release of a decision."""
    return DECISION_REVISION if decision.withdraws is None else WITHDRAWAL_REVISION


def decided_state(decision: ReviewDecision) -> ReleaseState:
    """Return the state to which a deciding action leads."""
    return state_after(decision.user_action, with_warning=decision.with_warning)


def state_after(action: str, *, with_warning: bool) -> ReleaseState:
    """Return the state to which a deciding action leads."""
    if action == "reject":
        return "rejected"
    if action == "correct":
        return "replaced"
    return "warned" if with_warning else "released"


def _content(decision: ReviewDecision) -> str:
    """Return the text for the reader, formatted as by the pipeline if the decision carries formatted text.

    The notices are those that the decision carries, so that a change of settings changes no repetition.
    """
    shown = decision.releasable
    notices = shown.notices if shown is not None else None
    if decision.user_action == "reject":
        texts = notices or ENGLISH
        return texts.rejected if decision.withdraws is None else texts.withdrawn
    if decision.user_action == "correct":
        text = decision.corrected_answer or ""
        return closed(text.rstrip()) + decision.corrected_references if decision.corrected_references else text
    body = shown.body if shown is not None and shown.body is not None else decision.original_answer
    if decision.with_warning:
        risk: RiskLevel = "high" if decision.hallucination_risk == "high" else "medium"
        body = mitigate(body, notices.warning if notices else ENGLISH.disclaimer(risk))
    references = shown.references if shown is not None else ""
    return closed(body) + references if references else body


def _citations(decision: ReviewDecision) -> list[Metadata]:
    """Return the citations of the displayed text; for a correction, those with a remaining marker or reference."""
    shown = decision.releasable
    if shown is None or decision.user_action == "reject":
        return []
    if decision.user_action == "approve":
        return shown.citations
    listed = entries_of(decision.corrected_references)
    cited = still_cited(decision.corrected_answer or "", shown.citations)
    return [each for each in shown.citations if each in cited or each.get("number") in listed]


def still_cited(text: str, citations: Sequence[Metadata]) -> list[Metadata]:
    """Return the citations that a corrected text still cites, by number or by the name of their source."""
    places = {place for _, named in marked_places(text, citations) for place in named}
    return [citations[place - 1] for place in sorted(places)]


def marked_places(text: str, citations: Sequence[Metadata]) -> list[tuple[int, set[int]]]:
    """Return the offset of each marker of a text, and the places from 1 on of the citations that it names."""
    numbers = [number for each in citations if isinstance(number := each.get("number"), int)]
    index = SourceIndex([_named_source(citation, place) for place, citation in enumerate(citations)])
    found = []
    for marker in find_markers(text, max(numbers, default=0)):
        numbered = {place for place, each in enumerate(citations, 1) if each.get("number") in marker.numbers}
        found.append((marker.start, numbered if marker.numbers else set(resolve(marker, index)[0])))
    return found


def _named_source(citation: Metadata, place: int) -> ContextChunk:
    """Return the names of a cited source, by which a marker such as ``[Source: table/record]`` finds it."""
    names = {"chunk_id": "chunk_id", "source_table": "source_table", "record_id": "record_id", "title": "source_name"}
    given = {field: str(citation[name]) for name, field in names.items() if citation.get(name)}
    return ContextChunk.model_validate({"chunk_id": f"citation-{place}", "content": ""} | given)


def decided_turn(decision: ReviewDecision, minimum: float, *, without_context: bool) -> ConversationTurn | None:
    """Return the turn to remember after a final decision, or ``None``.

    Answers that a person approved or wrote are remembered, because they were verified. Answers released by the deadline
    policy, and those approved with a warning, are remembered only if their grounding is sufficient and no other fact
    keeps them out of memory. Answers without context are remembered by setting, as
    in the pipeline; corrections always are.

    Args:
        decision: the final decision.
        minimum: minimum grounding score of a remembered answer with a warning.
        without_context: remember answers without context.
    """
    memorable = decision.releasable is None or decision.releasable.memorable
    grounded = memorable and decision.grounding_score is not None and decision.grounding_score >= minimum
    verified = decision.decided_by != POLICY and not decision.with_warning
    if decision.user_action == "reject" or not (grounded or verified):
        return None
    if decision.user_action == "approve" and not decision.contexts and not without_context:
        return None
    shown = decision.releasable
    corrected = decision.user_action == "correct"
    return ConversationTurn(
        turn_id=turn_id(decision.tenant, decision.answer_id),
        answer_id=decision.answer_id,
        tenant=decision.tenant,
        session_id=decision.session_id,
        user_id=decision.user_id,
        query=decision.query,
        response=(decision.corrected_answer if corrected else None) or decision.original_answer,
        context_chunks=decision.contexts,
        query_type=shown.query_type if shown else None,
        # Scores belong to the evaluated text, and a correction is another text.
        quality_score=shown.quality_score if shown and not corrected else None,
        hallucination_risk=None if corrected else decision.hallucination_risk,
        grounding_score=None if corrected else decision.grounding_score,
        revision=DECISION_REVISION,
        timestamp=shown.completed_at if shown else decision.timestamp,
    )


def withdrawn_turn(decision: ReviewDecision) -> ConversationTurn:
    """Return the turn that takes a withdrawn answer out of memory: it keeps the place, and has no response."""
    shown = decision.releasable
    return ConversationTurn(
        turn_id=turn_id(decision.tenant, decision.answer_id),
        answer_id=decision.answer_id,
        tenant=decision.tenant,
        session_id=decision.session_id,
        user_id=decision.user_id,
        query=decision.query,
        response="",
        revision=WITHDRAWAL_REVISION,
        timestamp=shown.completed_at if shown else decision.timestamp,
    )


def _digest(state: str, content: str | None) -> str:
    return blake2b(f"{state}\x1f{content}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
