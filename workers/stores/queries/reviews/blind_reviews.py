"""Choose the decided requests that a reviewer may still review independently: their decisions are hidden from them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from schemas.review import OPINIONS, POLICY
from workers.stores.clickhouse.row_reading import optional, without_zone
from workers.stores.queries.searched_texts import quoted_list

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


ASKS = f"""(
    SELECT tenant, review_id, assignee AS person, argMax(reviewer, occurred_at) AS asker,
           groupUniqArray(toString(reviewer)) AS askers, max(occurred_at) AS asked_at
    FROM {{database}}.review_events WHERE kind IN ({quoted_list(OPINIONS)}){{which}}
    GROUP BY tenant, review_id, person
    HAVING argMax(kind, occurred_at) = '{OPINIONS[0]}' AND asked_at > {{{{decided_since:DateTime64(3, 'UTC')}}}})"""
"""Second opinions that were asked for and not taken back, of a person or of anyone (empty)."""

_ASKED_OF = "argMaxIf(what, at, asker != '' AND person = {person}) = '{asked}' AND countIf(asker = {{{{reviewer:String}}}} AND person = {person}) = 0 AND maxIf(at, asker != '' AND person = {person})"
_SINCE = "{{decided_since:DateTime64(3, 'UTC')}}"

# What is asked of anyone is answered by the first review since, what is asked of a person by theirs. Who asks has seen
# the decision.
_ASKED = (
    f"({_ASKED_OF.format(person='{{reviewer:String}}', asked=OPINIONS[0])} > {_SINCE}"
    f" OR {_ASKED_OF.format(person=repr(''), asked=OPINIONS[0])} > greatest({_SINCE}, maxIf(at, what = 'second')))"
)

# The first 32 bits of a UUIDv5 come from a digest, so every process draws the same sample.
_SAMPLED = f"""(maxIf(at, what = 'final') > {_SINCE}
    AND reinterpretAsUInt32(reverse(unhex(substring(review_id, 1, 8))))
        < transform(toString(tenant), {{{{owners:Array(String)}}}}, {{{{shares:Array(Float64)}}}}, {{{{share:Float64}}}}) * 4294967296
    AND uniqExactIf(person, what = 'second') + 1
        < transform(toString(tenant), {{{{owners:Array(String)}}}}, {{{{numbers:Array(UInt32)}}}}, {{{{number:UInt32}}}}))"""

_IS_OPINION = f"kind IN ({quoted_list(OPINIONS)}) AND assignee IN ('', {{{{reviewer:String}}}})"


def _hidden(which: str, *, asked: bool = False) -> str:
    """Return a subquery for the requests that a reviewer may still review, in one pass over few rows.

    Reviews come after the decision, so that older rows matter only if they are the reviewer's own: who voted or decided too
    late has seen the answer. The sample is the beginning of the key.

    Args:
        which: further condition on rows of reviews, which begins with AND.
        asked: restrict to requests on which somebody asked for an opinion.
    """
    sampled = f"review_id < {{{{sampled_below:String}}}} AND (decided_at > {_SINCE} OR decided_by = {{{{reviewer:String}}}}) OR"
    return f"""(
    SELECT tenant, review_id, any(answer) AS answer_id FROM (
        SELECT tenant, review_id, answer_id AS answer, ruling AS what, decided_by AS person, decided_at AS at, CAST('', 'LowCardinality(String)') AS asker
        FROM {{database}}.review_decisions
        WHERE {{{{reviewer:String}}}} != ''{which} AND ({"" if asked else sampled} review_id IN (
            SELECT review_id FROM {{database}}.review_events WHERE {_IS_OPINION} AND occurred_at > {_SINCE}))
        UNION ALL
        SELECT tenant, review_id, answer_id, kind, assignee, occurred_at, reviewer FROM {{database}}.review_events
        WHERE {{{{reviewer:String}}}} != ''{which} AND {_IS_OPINION})
    GROUP BY tenant, review_id
    HAVING countIf(asker = '' AND person = {{{{reviewer:String}}}}) = 0
       AND countIf(what = 'final' AND person NOT IN {{{{others:Array(String)}}}}) > 0
       AND {_ASKED if asked else f"({_ASKED} OR {_SAMPLED})"})"""


_CHOSEN = " AND review_id IN {{review_ids:Array(String)}}"
DUE, ASKED, DUE_OF_CHOSEN = (
    f"(q.tenant, q.review_id) IN (SELECT tenant, review_id FROM {found})"
    for found in (_hidden(""), _hidden("", asked=True), _hidden(_CHOSEN))
)
"""Conditions on rows ``q`` of decided requests, with the parameters of ``due_values``: the reviewer may still review it,
somebody asks for that, and the first one for the requests in ``review_ids`` alone, which is by the key."""

HIDDEN_ANSWERS, HIDDEN_OF_CHOSEN = (f"(SELECT tenant, answer_id FROM {_hidden(which)})" for which in ("", _CHOSEN))
"""Tenant and identifier of the answers whose decision is hidden, of all requests or of those in ``review_ids``."""


def not_hidden(answers: str = HIDDEN_ANSWERS) -> str:
    """Return a further condition on answers: their decision is not hidden. It is left out without a reviewer."""
    return optional("reviewer", f" AND (tenant, answer_id) NOT IN {answers}")


def due_values(sample: Sample | None) -> dict[str, Any]:
    """Return the parameters of the conditions above; without a sample nothing is hidden."""
    sample = sample or Sample("", {EVERY_TENANT: (0.0, 2)}, datetime.fromtimestamp(0, UTC))
    share, number = sample.targets[EVERY_TENANT]
    below = math.ceil(max(each for each, _ in sample.targets.values()) * 2**32)
    return {
        # Hexadecimal digits sort before "g".
        "sampled_below": f"{below:08x}" if below < 2**32 else "g",
        "others": ["", POLICY],
        "reviewer": sample.reviewer,
        "decided_since": without_zone(sample.since),
        "owners": list(sample.targets),
        "shares": [share for share, _ in sample.targets.values()],
        "numbers": [number for _, number in sample.targets.values()],
        "share": share,
        "number": number,
    }
