SELECT d.not_before AS until
FROM sweep.decisions d JOIN pg_database b ON b.oid = d.datid
WHERE d.relid = %(relid)s::oid AND b.datname = current_database() AND d.decision = 'snoozed'
