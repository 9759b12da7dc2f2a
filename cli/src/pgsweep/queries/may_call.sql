SELECT signature,
       coalesce(has_schema_privilege(to_regnamespace('sweep')::oid, 'USAGE')
                AND has_function_privilege(to_regprocedure(signature)::oid, 'EXECUTE'), false) AS allowed
FROM unnest(ARRAY['sweep.cancel(integer, interval)', 'sweep.rearm()', 'sweep.reset_runs()']) AS signature
