-- What a verifier said of a claim, where one is set: its probability that the evidence supports it.

ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS verifier_score Nullable(Float64);
