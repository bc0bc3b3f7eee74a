-- Each promotion and demotion of a run: what, when and by whom, as JSON; empty for changes by earlier versions.
-- Oldest worker: 18

ALTER TABLE {database}.promotions ADD COLUMN IF NOT EXISTS changes String DEFAULT '';
