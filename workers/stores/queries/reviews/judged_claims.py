"""Choose answers by the verdicts on their claims: a verdict of a reviewer counts before that of the evaluation."""

from workers.stores.clickhouse.row_reading import optional
from workers.stores.queries.reviews.blind_reviews import not_hidden

# A withdrawn decision vouches for nothing.
_JUDGED = """(
    SELECT tenant, answer_id, JSONExtractString(each, 'claim_id') AS claim_id, JSONExtractString(each, 'verdict') AS judged
    FROM (
        SELECT tenant, answer_id, arrayJoin(JSONExtractArrayRaw(decision, 'claim_verdicts')) AS each
        FROM {database}.review_decisions FINAL
        WHERE {{verdict:String}} != '' AND ruling = 'final'
          AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}}))
    WHERE judged IN ('supported', 'contradicted', 'unsupported')
      AND (judged != 'supported' OR (tenant, answer_id) NOT IN (
          SELECT tenant, answer_id FROM {database}.review_decisions WHERE ruling = 'withdrawal')))"""
_NAMES = f"(SELECT tenant, answer_id FROM {_JUDGED})"

# The columns of the first condition are the beginning of the key of the claims: few granules are read.
_WITH_VERDICT = f"""(
    SELECT tenant, answer_id FROM (
        SELECT tenant, answer_id, claim_id, verdict FROM {{database}}.claims FINAL
        WHERE {{{{verdict:String}}}} != '' AND run = {{{{run:String}}}}
          AND (tenant, toDate(completed_at), answer_id, pipeline_version) IN (
              SELECT tenant, toDate(completed_at), answer_id, pipeline_version FROM {{database}}.answers FINAL
              WHERE run = {{{{run:String}}}} AND (tenant, answer_id) IN {_NAMES})
    ) AS claims ANY LEFT JOIN {_JUDGED} AS judgements USING (tenant, answer_id, claim_id)
    WHERE if(judged = '', toString(verdict), judged) = {{{{verdict:String}}}})"""

_CORRECTED = """(
    SELECT tenant, answer_id, JSONExtractString(decision, 'corrected_answer') AS correction
    FROM {database}.review_decisions FINAL
    WHERE {{verdict:String}} != '' AND ruling = 'final' AND action = 'correct'
      AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}}))"""
_VERDICT = optional("reviewed", f"ANY LEFT JOIN {_JUDGED} AS judgements USING (tenant, answer_id, claim_id)")
_IS_WANTED = f"""{optional("reviewed", "if(judged != '', judged = {{verdict:String}}, ")}verdict = {{{{verdict:String}}}}{optional("reviewed", ")")}"""
# Corrected answers are few, so only their claims are read. White space may differ in a text that was edited.
CORRECTED_WITH_VERDICT = f"""(
    SELECT tenant, answer_id FROM (
        SELECT tenant, answer_id, claim_id, verdict FROM (
            SELECT tenant, answer_id, claim_id, verdict, text FROM {{database}}.claims FINAL
            WHERE run = {{{{run:String}}}} AND (tenant, toDate(completed_at), answer_id, pipeline_version) IN (
                SELECT tenant, toDate(completed_at), answer_id, pipeline_version FROM {{database}}.answers FINAL
                WHERE run = {{{{run:String}}}} AND (tenant, answer_id) IN (SELECT tenant, answer_id FROM {_CORRECTED}))
        ) AS claims ANY INNER JOIN {_CORRECTED} AS corrected USING (tenant, answer_id)
        WHERE positionCaseInsensitiveUTF8(replaceRegexpAll(correction, '\\\\s+', ' '), replaceRegexpAll(text, '\\\\s+', ' ')) > 0
    ) AS kept {_VERDICT}
    WHERE {_IS_WANTED})"""
"""Subquery for the answers whose correction keeps the text of a claim of the wanted verdict, which readers saw in it."""

_EVALUATED = """
    multiIf({{verdict:String}} = 'contradicted', claims_contradicted, {{verdict:String}} = 'unsupported',
            claims_unsupported, claims_supported) > 0"""
_REVIEWED = f"if((tenant, answer_id) IN {_NAMES}{not_hidden()}, (tenant, answer_id) IN {_WITH_VERDICT},"
WITH_VERDICT = optional("verdict", f"\n  AND {optional('reviewed', _REVIEWED)}{_EVALUATED}{optional('reviewed', ')')}")
"""Further condition on rows of answers: any verdict is wanted, or at least one claim has the wanted one.

Its parameters are ``verdict``, ``run``, ``tenants`` and those of ``due_values``; with an empty ``reviewed`` the verdicts of
reviewers do not count.
"""
