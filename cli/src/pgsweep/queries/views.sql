-- Whether the extension is here, and which of its newer objects.
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_sweep') AS extension,
       to_regclass('sweep.tables') IS NOT NULL AS tables,
       to_regclass('sweep.queue') IS NOT NULL AS queue,
       to_regclass('sweep.blockers') IS NOT NULL AS blockers,
       to_regprocedure('sweep.explain()') IS NOT NULL AS explain,
       to_regclass('sweep.totals') IS NOT NULL AS totals,
       to_regclass('sweep.budget') IS NOT NULL AND to_regclass('sweep.governor') IS NOT NULL AS budget,
       to_regclass('sweep.audit') IS NOT NULL AS audit,
       to_regclass('sweep.trial') IS NOT NULL AS trial,
       to_regclass('sweep.worth') IS NOT NULL AS worth
