-- The minima of the gate score and of the grounding score by which an answer was decided; null for earlier answers.
-- Oldest worker: 18

ALTER TABLE {database}.answers ADD COLUMN IF NOT EXISTS gate_minimum Nullable(Float64) CODEC(ZSTD(1));

ALTER TABLE {database}.answers ADD COLUMN IF NOT EXISTS grounding_minimum Nullable(Float64) CODEC(ZSTD(1));
