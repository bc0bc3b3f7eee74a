-- Why a reviewer escalated a request, on events of the kind "escalated".
-- Oldest worker: 18

ALTER TABLE {database}.review_events ADD COLUMN IF NOT EXISTS reason String DEFAULT '';
