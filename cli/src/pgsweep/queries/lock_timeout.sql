-- A quarter of deadlock_timeout, in ms, and no more than the session has already.
SELECT set_config('lock_timeout', least(250, greatest(setting::int / 4, 1))::text, false)
FROM pg_settings WHERE name = 'deadlock_timeout'
