"""The SQL texts; each file is one query, read by pgsweep.db."""
