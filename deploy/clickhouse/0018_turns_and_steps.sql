-- The earlier turn that states a claim, the earlier answer that it contradicts, and the step of the run that brought it.

ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS earlier_turn Nullable(UInt16);

ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS earlier String DEFAULT '';

ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS contradicted_turn Nullable(UInt16);

ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS contradicted_earlier String DEFAULT '';

ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS step Nullable(UInt16);

ALTER TABLE {database}.claims ADD COLUMN IF NOT EXISTS step_name String DEFAULT '';
