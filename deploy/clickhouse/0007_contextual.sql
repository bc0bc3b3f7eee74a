-- What a router learns of a reward's query: sixteen features of its embedding, none where it was not embedded.

ALTER TABLE {database}.rewards ADD COLUMN IF NOT EXISTS query_features Array(Float32);
