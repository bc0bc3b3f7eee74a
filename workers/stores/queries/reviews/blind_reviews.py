"""Choose the decided requests that a reviewer may still review independently: their decisions are hidden from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from schemas.review import POLICY
from workers.stores.clickhouse.row_reading import without_zone

EVERY_TENANT = ""
"""Name of the target of tenants that have none of their own."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Sample of reviews for further independent reviews.

    Attributes:
        reviewer: person who asks for reviews; never one who has reviewed the request.
        targets: share of all reviews in the sample, and number of independent reviews of each, by tenant; those
            of ``EVERY_TENANT`` are for all others.
        since: start of the times of decision, exclusive.
    """

    reviewer: str
    targets: Mapping[str, tuple[float, int]]
    since: datetime


ASKS = """(
    SELECT tenant, review_id, assignee AS person, argMax(reviewer, occurred_at) AS asker,
           groupUniqArray(toString(reviewer)) AS askers, max(occurred_at) AS asked_at
    FROM {database}.review_events WHERE kind IN ('opinion_asked', 'opinion_ended'){which}
    GROUP BY tenant, review_id, person
    HAVING argMax(kind, occurred_at) = 'opinion_asked' AND asked_at > {{decided_since:DateTime64(3, 'UTC')}})"""
"""Second opinions that were asked for and not taken back, of a person or of anyone (empty)."""

# What is asked of anyone is answered by the first review since, what is asked of a person by theirs.
ASKED = f"""(q.tenant, q.review_id) IN (
    SELECT tenant, review_id FROM {ASKS.replace("{which}", "")} AS asks
    LEFT JOIN (SELECT tenant, review_id, max(decided_at) AS reviewed_at FROM {{database}}.review_decisions
               WHERE ruling = 'second' GROUP BY tenant, review_id) AS reviewed USING (tenant, review_id)
    WHERE NOT has(askers, {{{{reviewer:String}}}})
      AND (person = {{{{reviewer:String}}}} OR person = '' AND reviewed_at <= asked_at))"""
"""Condition on rows ``q`` of decided requests: a second opinion is asked of the reviewer, who did not ask for it."""

# The first 32 bits of a UUIDv5 come from a digest, so every process draws the same sample. A reviewer who voted or
# decided too late has seen the answer.
_SAMPLED = """decided_at > {{decided_since:DateTime64(3, 'UTC')}}
AND reinterpretAsUInt32(reverse(unhex(substring(q.review_id, 1, 8))))
    < transform(toString(q.tenant), {{owners:Array(String)}}, {{shares:Array(Float64)}}, {{share:Float64}}) * 4294967296
AND (q.tenant, q.review_id) NOT IN (
    SELECT tenant, review_id FROM {database}.review_decisions WHERE ruling = 'second' GROUP BY tenant, review_id
    HAVING uniqExact(decided_by) + 1
           >= transform(toString(tenant), {{owners:Array(String)}}, {{numbers:Array(UInt32)}}, {{number:UInt32}}))"""

DUE = f"""decided_by NOT IN {{{{others:Array(String)}}}} AND ({ASKED} OR {_SAMPLED})
AND (q.tenant, q.review_id) NOT IN (
    SELECT tenant, review_id FROM {{database}}.review_decisions WHERE decided_by = {{{{reviewer:String}}}})"""
"""Condition on rows ``q`` of decided requests, with the parameters of ``due_values``."""

HIDDEN_ANSWERS = f"""(
    SELECT q.tenant, q.answer_id FROM {{database}}.review_queue AS q FINAL
    WHERE {{{{reviewer:String}}}} != '' AND state != 'open' AND {DUE})"""
"""Tenant and identifier of the answers whose decision is hidden; none without a sample."""


def due_values(sample: Sample | None) -> dict[str, Any]:
    """Return the parameters of ``DUE`` and ``HIDDEN_ANSWERS``; without a sample nothing is hidden."""
    sample = sample or Sample("", {EVERY_TENANT: (0.0, 2)}, datetime.fromtimestamp(0, UTC))
    share, number = sample.targets[EVERY_TENANT]
    return {
        "others": ["", POLICY, sample.reviewer],
        "reviewer": sample.reviewer,
        "decided_since": without_zone(sample.since),
        "owners": list(sample.targets),
        "shares": [share for share, _ in sample.targets.values()],
        "numbers": [number for _, number in sample.targets.values()],
        "share": share,
        "number": number,
    }
