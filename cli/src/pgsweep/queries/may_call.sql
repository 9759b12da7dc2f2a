-- Of the functions that act those that this version has.
SELECT signature,
       coalesce(has_schema_privilege(to_regnamespace('sweep')::oid, 'USAGE')
                AND has_function_privilege(to_regprocedure(signature)::oid, 'EXECUTE'), false) AS allowed
FROM unnest(ARRAY['sweep.vacuum(regclass, boolean)', 'sweep.cancel(integer, interval, boolean)',
                  'sweep.snooze(regclass, interval)', 'sweep.hold(interval)',
                  'sweep.slow(integer, double precision, double precision)', 'sweep.hurry(integer)',
                  'sweep.release(integer)', 'sweep.set(regclass, text, text)',
                  'sweep.rearm()', 'sweep.reset_runs()']) AS signature
-- who may not use the schema may not look functions up either
WHERE CASE WHEN has_schema_privilege(to_regnamespace('sweep')::oid, 'USAGE')
           THEN to_regprocedure(signature) IS NOT NULL ELSE true END
