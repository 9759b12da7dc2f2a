SELECT current_user::text AS role,
       current_setting('allow_alter_system', true) AS allow_alter_system,
       has_function_privilege('pg_reload_conf()', 'EXECUTE') AS may_reload,
       has_table_privilege('pg_file_settings', 'SELECT')
           AND has_function_privilege('pg_show_all_file_settings()', 'EXECUTE') AS may_read_files,
       EXISTS (SELECT FROM pg_stat_activity WHERE application_name ~ '^Patroni\M') AS patroni_session,
       EXISTS (SELECT FROM pg_settings
               WHERE sourcefile ~ '(^|/)(patroni[^/]*|postgresql\.base)\.conf$') AS patroni_file,
       -- Patroni gives these to the server on its command line, all of them.
       (SELECT count(*) FROM pg_settings
        WHERE source = 'command line'
          AND name IN ('cluster_name', 'wal_level', 'hot_standby', 'max_connections',
                       'max_locks_per_transaction', 'max_prepared_transactions')) = 6
           AS patroni_command_line
