SELECT clock_timestamp() AS at, pg_snapshot_xmax(pg_current_snapshot())::text::int8 AS next_xid
