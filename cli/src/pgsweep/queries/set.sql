-- One statement, so that all of them are set or none.
SELECT sweep.set(%(relid)s::oid::regclass, s.name, s.value)
FROM unnest(%(names)s::text[], %(values)s::text[]) AS s (name, value)
