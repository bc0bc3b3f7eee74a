-- Replays: what each was asked to read, how far it has come, and which one's figures are the current ones.

-- One row a run; progress and bounds are JSON, partition to offset. The row is written after the rows
-- of the answers that it counts, so a replay goes on where the store has everything.
CREATE TABLE IF NOT EXISTS {database}.replays
(
    run String,
    revision UInt64,
    pipeline_version String,
    options String,
    state LowCardinality(String),
    bounds String,
    progress String,
    counts String,
    started_at DateTime64(3, 'UTC'),
    updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY run
SETTINGS non_replicated_deduplication_window = 1000;
