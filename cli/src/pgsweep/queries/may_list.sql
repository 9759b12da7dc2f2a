-- Asked first: what is refused is an error in the server's log.
SELECT has_function_privilege('pg_catalog.pg_ls_dir(text)', 'EXECUTE') AS allowed
