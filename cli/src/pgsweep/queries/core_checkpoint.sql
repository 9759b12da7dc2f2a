-- The next transaction id at the last checkpoint, "epoch:xid".
SELECT checkpoint_time AS at,
       split_part(next_xid, ':', 1)::int8 * 4294967296 + split_part(next_xid, ':', 2)::int8 AS next_xid
FROM pg_control_checkpoint()
