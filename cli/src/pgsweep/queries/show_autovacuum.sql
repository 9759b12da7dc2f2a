SHOW autovacuum
