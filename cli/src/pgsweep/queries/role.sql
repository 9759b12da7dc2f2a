SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
       pg_has_role(current_user, 'pg_monitor', 'USAGE') AS in_pg_monitor,
       pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') AS can_read_settings,
       pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS can_read_stats
