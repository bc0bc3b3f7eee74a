-- The person to whom a review request is assigned, on events of the kind "given".

ALTER TABLE {database}.review_events ADD COLUMN IF NOT EXISTS assignee LowCardinality(String) DEFAULT '';
