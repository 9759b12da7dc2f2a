-- Whether the extension is here, and which of its newer objects. Without it a schema of this name is
-- somebody else's: whoever owns a database can make one, with functions that run as who asks.
SELECT x.here AS extension,
       x.here AND to_regclass('sweep.tables') IS NOT NULL AS tables,
       x.here AND to_regclass('sweep.queue') IS NOT NULL AS queue,
       x.here AND to_regclass('sweep.blockers') IS NOT NULL AS blockers,
       x.here AND to_regprocedure('sweep.explain()') IS NOT NULL AS explain,
       x.here AND to_regclass('sweep.totals') IS NOT NULL AS totals,
       x.here AND to_regclass('sweep.budget') IS NOT NULL AND to_regclass('sweep.governor') IS NOT NULL AS budget,
       x.here AND to_regclass('sweep.audit') IS NOT NULL AS audit,
       x.here AND to_regclass('sweep.trial') IS NOT NULL AS trial,
       x.here AND to_regclass('sweep.worth') IS NOT NULL AS worth,
       x.here AND to_regclass('sweep.wraparound') IS NOT NULL AS wraparound
FROM (SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_sweep') AS here) x
