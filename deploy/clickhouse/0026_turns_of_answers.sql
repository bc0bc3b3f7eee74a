-- The turns of the conversation that an answer was sent with, as JSON; empty without any and for earlier answers.
-- Oldest worker: 18

ALTER TABLE {database}.answers ADD COLUMN IF NOT EXISTS turns String DEFAULT '' CODEC(ZSTD(1));
