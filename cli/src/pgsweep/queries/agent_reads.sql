-- Blocks of each index that were not found in shared buffers, since the statistics began.
SELECT c.oid AS relid, (pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid))::int8 AS reads
FROM pg_class c WHERE c.relkind = 'i' AND c.relpages > %(small)s
