SELECT system_identifier::text FROM pg_control_system()
