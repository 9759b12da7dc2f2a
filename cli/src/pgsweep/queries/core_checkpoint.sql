-- The next transaction id at the last checkpoint, "epoch:xid".
SELECT checkpoint_time AS at, next_xid FROM pg_control_checkpoint()
