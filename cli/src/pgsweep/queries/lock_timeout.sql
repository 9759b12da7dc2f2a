-- A quarter of deadlock_timeout, and no more than the session has already. pg_settings would have
-- the server put together all settings.
SELECT set_config('lock_timeout',
                  least(250, greatest(1, 250 * extract(epoch FROM current_setting('deadlock_timeout')::interval)))::int::text,
                  false)
