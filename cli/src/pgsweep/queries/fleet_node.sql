-- What a server with the extension says of itself, in one row. To ask core's views and those of sweep
-- for it costs a new session twice as much, and of a fleet every session is new.
SELECT * FROM sweep_internal.get_server()
