-- What the reviewer who escalated a request found about its claims, as JSON, on events of the kind "escalated".
-- Oldest worker: 18

ALTER TABLE {database}.review_events ADD COLUMN IF NOT EXISTS verdicts String DEFAULT '';
