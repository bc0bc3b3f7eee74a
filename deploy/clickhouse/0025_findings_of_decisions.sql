-- What the rules of a decision found where no other column tells it, as JSON; empty for earlier answers.
-- Oldest worker: 18

ALTER TABLE {database}.answers ADD COLUMN IF NOT EXISTS findings String DEFAULT '' CODEC(ZSTD(1));
