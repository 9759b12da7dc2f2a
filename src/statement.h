/*
 * statement.h
 *		The VACUUM and ANALYZE commands that a worker runs.
 */
#ifndef SWEEP_STATEMENT_H
#define SWEEP_STATEMENT_H

#include "postgres.h"
#include "nodes/parsenodes.h"

/* How one VACUUM of a table differs from the usual. */
typedef struct StatementOptions
{
	bool		keep_indexes;	/* INDEX_CLEANUP off */
	bool		keep_size;		/* TRUNCATE off */
} StatementOptions;

extern VacuumStmt *statement_vacuum(Oid relid, const StatementOptions *options);

/* Of that table itself: with its OID given, partitions are only sampled. */
extern VacuumStmt *statement_analyze(Oid relid);

/* 16+: only the database's frozen ids. */
extern VacuumStmt *statement_database_stats(void);

/*
 * Runs it, at top level, outside any transaction; what names the object in the
 * log.  0, or the SQLSTATE of the error, which is logged.
 */
extern int	statement_try(VacuumStmt *stmt, const char *what);

#endif							/* SWEEP_STATEMENT_H */
