SELECT name FROM pg_settings WHERE name = ANY (%(names)s)
