-- One agent at a time, whichever database each calls its home. The numbers are arbitrary.
SELECT pg_try_advisory_lock(1952, 71394) AND NOT EXISTS (
           SELECT FROM pg_locks
           WHERE locktype = 'advisory' AND classid = 1952 AND objid = 71394 AND objsubid = 2
             AND granted AND pid <> pg_backend_pid()) AS locked
