"""Derive deterministic identifiers, so that a repeated write overwrites and never adds.

Every identifier names its tenant, so that two tenants may use the same ``answer_id``. Names of the second version are
JSON, so that different parts never give one name. The default tenant keeps the names of the first version, which had
no tenant: a deployment with one tenant keeps all its identifiers. No other tenant can make a name of the first version.
"""

import json
from hashlib import sha256
from uuid import UUID, uuid5

from pydantic_core import from_json

DEFAULT_TENANT = "default"
"""Tenant of an event that names none."""

NAMESPACE = UUID("5f6d1f3e-3c55-5d55-9c2b-0f0f7a9d6c01")
"""Namespace of the first version: names without a tenant; changing it would duplicate all stored rows."""
TENANT_NAMESPACE = UUID("c1b7b0de-6a5c-5d0e-8d3f-2a44c7e5f902")
"""Namespace of the second version: names with a tenant."""

_SEPARATOR = "\x1f"

LIVE_RUN = "live"
"""Name of the run of live answers."""
CURRENT_RUN = "current"
"""Name in queries for the promoted run where it has evaluated every answer, else live."""


def _unambiguous(*parts: str) -> str:
    return json.dumps(parts, separators=(",", ":"))


def _identifier(tenant: str, *parts: object) -> str:
    names = [str(part) for part in parts]
    if tenant == DEFAULT_TENANT and _SEPARATOR not in "".join(names):
        return str(uuid5(NAMESPACE, _SEPARATOR.join(names)))
    return str(uuid5(TENANT_NAMESPACE, _unambiguous(tenant, *names)))


def record_key(tenant: str, name: str) -> str:
    """Return the key of records about an answer or a session of a tenant.

    The default tenant's key is the name itself. Other keys are the JSON list of tenant and name.
    """
    # A name of the default tenant must not look like the key of another tenant.
    return name if tenant == DEFAULT_TENANT and not name.startswith("[") else _unambiguous(tenant, name)


def named_by_key(key: str) -> tuple[str | None, str]:
    """Return the tenant and the name of a record's key; the tenant is ``None`` in the key of another producer."""
    try:
        match from_json(key) if key.startswith("[") else None:
            case [str(tenant), str(name)]:
                return tenant, name
    except ValueError:
        pass
    return None, key


def judgement_id(tenant: str, answer_id: str, agent: str, run: str = LIVE_RUN) -> str:
    """Return the identifier of an agent's evaluation in a run; pipeline versions share it on purpose."""
    return _identifier(tenant, "judgement", answer_id, agent, run)


def fact_id(tenant: str, answer_id: str, kind: str) -> str:
    """Return the version-independent identifier of a fact about an answer: its review, release, turn or reward."""
    return _identifier(tenant, "fact", answer_id, kind)


def turn_id(tenant: str, answer_id: str) -> str:
    """Return the identifier of an answer's turn in memory."""
    return "turn_" + fact_id(tenant, answer_id, "turn")


def review_ids(tenant: str, answer_id: str) -> list[str]:
    """Return the identifiers that the review of an answer may have: its own, and that of the first version."""
    return list(dict.fromkeys(fact_id(owner, answer_id, "review") for owner in (tenant, DEFAULT_TENANT)))


def claim_id(tenant: str, answer_id: str, start: int, end: int) -> str:
    """Return the identifier of the claim at ``answer[start:end]``."""
    return _identifier(tenant, "claim", answer_id, start, end)


def citation_id(tenant: str, answer_id: str, chunk_id: str, occurrence: int = 0) -> str:
    """Return the identifier of an answer's citation of a chunk.

    Args:
        tenant: tenant of the answer.
        answer_id: the answer.
        chunk_id: the retriever's name for the chunk.
        occurrence: number of earlier contexts with the same name, because retrievers may repeat chunks.
    """
    return _identifier(tenant, "citation", answer_id, chunk_id, *([occurrence] if occurrence else []))


def invalid_citation_id(tenant: str, answer_id: str, place: str, marker: str) -> str:
    """Return the identifier of an unresolved reference at its position in the answer."""
    return _identifier(tenant, "invalid citation", answer_id, place, marker)


def feedback_id(tenant: str, answer_id: str, kind: str, *about: str) -> str:
    """Return the identifier of feedback that Touchstone itself observed on an answer."""
    return _identifier(tenant, "feedback", answer_id, kind, *about)


def evaluation_id(tenant: str, answer_id: str, name: str) -> str:
    """Return the identifier of an exported evaluation of an answer; a repeated evaluation has the same identifier."""
    return _identifier(tenant, "evaluation", answer_id, name)


def feedback_score_id(tenant: str, answer_id: str, feedback_id: str, name: str) -> str:
    """Return the identifier of a feedback score; a revision of the feedback on the same day replaces the score."""
    return _identifier(tenant, "feedback score", answer_id, feedback_id, name)


def sentence_id(tenant: str, answer_id: str, start: int) -> str:
    """Return the identifier of the findings on a sentence of an answer that still arrives."""
    return _identifier(tenant, "sentence", answer_id, start)


def content_id(tenant: str, *parts: str) -> str:
    """Return the identifier of a message by its content; a repeated message has the same identifier."""
    return _identifier(tenant, "content", *parts)


def decision_id(tenant: str, review_id: str, reviewer: str, said: str, *, second: bool) -> str:
    """Return the identifier of a reviewer's decision; a repeated decision has the same identifier."""
    return _identifier(tenant, "decision", review_id, reviewer, said, *(["second"] if second else []))


def deadline_id(tenant: str, review_id: str, deadline: str) -> str:
    """Return the identifier of the policy's action after a deadline (ISO 8601); a
    repetition has the same identifier.
    """
    return _identifier(tenant, "deadline", review_id, deadline)


def insight_id(tenant: str, until: str, *about: str) -> str:
    """Return the identifier of a pattern or trend of a period; a repeated search has the same identifier."""
    return _identifier(tenant, "insight", tenant, until, *about)


def person_digest(tenant: str, *person: str) -> str:
    """Return the pseudonym of a person where the name must not be stored: SHA-256, hexadecimal.

    Args:
        tenant: tenant of the person.
        person: the user, or another name in several parts.
    """
    if tenant == DEFAULT_TENANT and len(person) == 1 and _SEPARATOR not in person[0]:
        return first_person_digest(tenant, person[0])
    return _digest(_unambiguous(tenant, *person))


def first_person_digest(tenant: str, person: str) -> str:
    """Return the pseudonym of the first version, which stored erasures may contain."""
    return _digest(f"{tenant}{_SEPARATOR}{person}")


def answer_digest(tenant: str, answer_id: str) -> str:
    """Return the pseudonym of an erased answer: SHA-256 of its key, hexadecimal."""
    return _digest(record_key(tenant, answer_id))


def first_answer_digest(answer_id: str) -> str:
    """Return the pseudonym of the first version, which stored erasures may contain."""
    return _digest(answer_id)


def _digest(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def dead_letter_id(topic: str, partition: int, offset: int, agent: str) -> str:
    """Return the identifier of a record that an agent failed to process; its place is unique over all tenants."""
    return _identifier(DEFAULT_TENANT, "dead-letter", topic, partition, offset, agent)
