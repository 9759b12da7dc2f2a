-- The same for all servers that replicate from each other.
SELECT system_identifier::text AS identifier FROM pg_control_system()
