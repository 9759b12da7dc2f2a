-- All extensions of this database. To look for one by its name costs a new session more.
SELECT extname, extversion FROM pg_extension
