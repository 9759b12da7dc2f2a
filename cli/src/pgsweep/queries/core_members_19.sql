SELECT num_members AS used, NULL AS stop_at FROM pg_get_multixact_stats()
