SELECT oid AS datid FROM pg_database WHERE datname = current_database()
