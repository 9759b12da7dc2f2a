SELECT current_database()::text AS datname, relid, schemaname, relname, lane, live_tuples,
       dead_tuples, vacuum_threshold, ins_since_vacuum, insert_threshold, mod_since_analyze, analyze_threshold,
       pages, frozen_pages, all_visible_pages, xid_age, mxid_age, xid_limit, mxid_limit, freeze_at, freeze_time, score, xid_score, mxid_score,
       vacuum_score, vacuum_insert_score, analyze_score, do_vacuum, decision, reason, not_before,
       blocked_by, truncatable_bytes, snoozed_until, last_run
FROM sweep.tables
WHERE %(relid)s::oid IS NULL OR relid = %(relid)s::oid
