-- A decision replaces a request's place in the queue and knows little of the request: whoever filters
-- decided ones asks reviews, which keeps it.
ALTER TABLE {database}.reviews ADD COLUMN IF NOT EXISTS signals Array(LowCardinality(String));

ALTER TABLE {database}.reviews ADD COLUMN IF NOT EXISTS queue LowCardinality(String) DEFAULT 'default';
