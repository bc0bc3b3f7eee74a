"""Deterministic identifiers: a repeat overwrites and never adds."""

from hashlib import sha256
from uuid import UUID, uuid5

NAMESPACE = UUID("5f6d1f3e-3c55-5d55-9c2b-0f0f7a9d6c01")
"""Namespace of all UUIDv5 here; changing it would double everything ever stored."""

LIVE_RUN = "live"
"""The run of everything that the agents judge as it streams by."""
CURRENT_RUN = "current"
"""In questions: the run that was promoted, where it has judged every answer, else live."""


def _identifier(*parts: object) -> str:
    # The unit separator cannot be told apart from nothing else: parts never run together.
    return str(uuid5(NAMESPACE, "\x1f".join(str(part) for part in parts)))


def judgement_id(answer_id: str, agent: str, run: str = LIVE_RUN) -> str:
    """Identifier of an agent's judgement in a run; pipeline versions share it on purpose."""
    return _identifier("judgement", answer_id, agent, run)


def fact_id(answer_id: str, kind: str) -> str:
    """Identifier of a fact about an answer whatever the version: its review, release, turn, reward."""
    return _identifier("fact", answer_id, kind)


def claim_id(answer_id: str, start: int, end: int) -> str:
    """Identifier of the claim at ``answer[start:end]``."""
    return _identifier("claim", answer_id, start, end)


def citation_id(answer_id: str, chunk_id: str, occurrence: int = 0) -> str:
    """Identifier of an answer's citation of a chunk.

    Args:
        answer_id: the answer.
        chunk_id: the retriever's name for the chunk.
        occurrence: how many contexts before it have the same name: retrievers repeat themselves.
    """
    return _identifier("citation", answer_id, chunk_id, *([occurrence] if occurrence else []))


def invalid_citation_id(answer_id: str, place: str, marker: str) -> str:
    """Identifier of a reference of an answer that leads nowhere, at its place in the text."""
    return _identifier("invalid citation", answer_id, place, marker)


def feedback_id(answer_id: str, kind: str, *about: str) -> str:
    """Identifier of feedback that Touchstone itself observed on an answer."""
    return _identifier("feedback", answer_id, kind, *about)


def evaluation_id(answer_id: str, name: str) -> str:
    """Identifier of one evaluation of an answer for who is exported to; judged again, it is the same."""
    return _identifier("evaluation", answer_id, name)


def feedback_score_id(answer_id: str, feedback_id: str, name: str) -> str:
    """Identifier of a score made of feedback; a revision of the feedback on the same day replaces it."""
    return _identifier("feedback score", answer_id, feedback_id, name)


def content_id(*parts: str) -> str:
    """Identifier of a message by what it says: sent twice, it is one."""
    return _identifier("content", *parts)


def decision_id(review_id: str, reviewer: str, said: str, *, second: bool) -> str:
    """Identifier of a reviewer's decision; said twice, it is the same."""
    return _identifier("decision", review_id, reviewer, said, *(["second"] if second else []))


def deadline_id(review_id: str, deadline: str) -> str:
    """Identifier of what the policy does when a deadline (ISO 8601) has passed; done twice, it is the same."""
    return _identifier("deadline", review_id, deadline)


def insight_id(tenant: str, until: str, *about: str) -> str:
    """Identifier of a pattern or trend of a period; looked at again, it is the same."""
    return _identifier("insight", tenant, until, *about)


def person_digest(tenant: str, person: str) -> str:
    """What a person is known by where the name itself must not stand: SHA-256, hexadecimal."""
    return sha256(f"{tenant}\x1f{person}".encode()).hexdigest()


def answer_digest(answer_id: str) -> str:
    """What an erased answer is known by: SHA-256 of its identifier, hexadecimal."""
    return sha256(answer_id.encode()).hexdigest()


def dead_letter_id(topic: str, partition: int, offset: int, agent: str) -> str:
    """Identifier of a record that an agent gave up."""
    return _identifier("dead-letter", topic, partition, offset, agent)
