-- How the derived figures of a claim come about, for readers: "47 minutes × $3,000 per hour = $2,350".

ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS calculations Array(String) CODEC(ZSTD(3));
