-- The next transaction id, with its epoch.
SELECT CURRENT_TIMESTAMP AS at, pg_snapshot_xmax(pg_current_snapshot())::text AS next_xid
