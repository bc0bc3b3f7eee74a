-- The decision that an event of the kind "undone" took back, and all sources that the model received for an answer. JSON.
-- Oldest worker: 18

ALTER TABLE {database}.review_events ADD COLUMN IF NOT EXISTS undone String DEFAULT '';

ALTER TABLE {database}.answers ADD COLUMN IF NOT EXISTS sources String DEFAULT '';
