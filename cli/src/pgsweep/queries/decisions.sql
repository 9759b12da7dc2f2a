SELECT datid, datname, relid, schemaname, relname, decision, reason, first_at, last_at, times,
       not_before, dead_tuples, ins_since_vacuum, next_dead_tuples, next_ins_since_vacuum
FROM sweep.decisions
ORDER BY last_at DESC NULLS LAST, datname, relid
LIMIT %(limit)s
