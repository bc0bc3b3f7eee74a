-- Which alerts were raised? (seed 004: system_alerts)
-- The latest alerts with all their fields; the metadata are JSON.
WITH chosen AS (
    SELECT tenant, toDate(completed_at) AS day, alert_id
    FROM (
        -- More than are asked for, since one may have come several times.
        SELECT tenant, completed_at, alert_id
        FROM {database:Identifier}.alerts
        WHERE ({tenant:String} = '' OR tenant = {tenant:String})
          AND completed_at >= {from:DateTime64(3, 'UTC')} AND completed_at < {to:DateTime64(3, 'UTC')}
        ORDER BY completed_at DESC
        LIMIT {limit:UInt32} * 20
    )
    ORDER BY completed_at DESC, alert_id
    LIMIT 1 BY alert_id
    LIMIT {limit:UInt32}
)
SELECT alert_id AS id, alert_type, severity, message, metadata, answer_id, tenant, raised_at AS created_at
FROM {database:Identifier}.alerts FINAL
WHERE (tenant, toDate(completed_at), alert_id) IN (SELECT * FROM chosen)
ORDER BY completed_at DESC, alert_id
