-- Tables of this database with dead rows, and what makes them due. A TOAST table may go by its main
-- table's options, so all that has options is read. Where there are more than can be judged in a
-- moment, the server counts those that are due (fleet_due.sql). That costs a new session twice as
-- much, because of all the functions and operators that it looks up.
SELECT oid, reltoastrelid, reltuples, reloptions, pg_stat_get_dead_tuples(oid) AS dead_tuples
FROM pg_class
WHERE reloptions IS NOT NULL OR pg_stat_get_dead_tuples(oid) > 0
LIMIT 501
