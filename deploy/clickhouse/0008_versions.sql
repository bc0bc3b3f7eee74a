-- What each pipeline version was made of, written by every worker at its start: parts is JSON, name to value.

CREATE TABLE IF NOT EXISTS {database}.versions
(
    version String,
    parts String CODEC(ZSTD(3)),
    started_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(started_at)
ORDER BY version
SETTINGS non_replicated_deduplication_window = 1000;
