-- Two tenants may use the same answer_id: the sort key of every table names the tenant, so that no row of one tenant
-- replaces a row of another.
--
-- REKEY is a statement of Touchstone (workers/stores/clickhouse/rekeying.py): it copies the table into one with another
-- sort key and exchanges both. It does nothing where the key is right already. Stop the workers of the version before
-- while this runs: tables of feedback and reviews are copied, all others stay.

REKEY {database}.feedback ORDER BY (tenant, answer_id, feedback_id, occurred_at);

REKEY {database}.implicit_feedback ORDER BY (tenant, query_id);

REKEY {database}.rewards ORDER BY (tenant, answer_id);

REKEY {database}.insights ORDER BY (tenant, insight_id);

-- A review is looked up by its identifier, also by people who may see several tenants.
REKEY {database}.review_queue ORDER BY (review_id, tenant);

REKEY {database}.review_decisions ORDER BY (review_id, tenant, decision_id);

REKEY {database}.review_events ORDER BY (review_id, tenant, event_id);
