-- The time of the evaluation that found a citation: those of an earlier text stay where the later one has none, and their
-- places would be marked in its words.
-- Oldest worker: 18

ALTER TABLE {database}.citations ADD COLUMN IF NOT EXISTS enriched_at DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta, ZSTD(1));
