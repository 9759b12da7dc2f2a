/*
 * statement.h
 *		The VACUUM and ANALYZE commands that a worker runs.
 */
#ifndef SWEEP_STATEMENT_H
#define SWEEP_STATEMENT_H

#include "postgres.h"
#include "nodes/parsenodes.h"
#include "storage/lockdefs.h"

/* How one VACUUM of a table differs from the usual. */
typedef struct StatementOptions
{
	bool		keep_indexes;	/* INDEX_CLEANUP off */
	bool		all_indexes;	/* INDEX_CLEANUP on, however few entries there
								 * are */
	bool		keep_size;		/* TRUNCATE off */
	int			parallel;		/* PARALLEL: workers for the indexes */
} StatementOptions;

/* The table is the one with that OID.  For the names see statement.c. */
extern VacuumStmt *statement_vacuum(Oid relid, const char *schemaname, const char *relname,
									const StatementOptions *options);

/*
 * Analyzes only the table itself.  Given its OID, partitions are only
 * sampled.
 */
extern VacuumStmt *statement_analyze(Oid relid, const char *schemaname, const char *relname);

/* From 16 on: updates only the database's frozen ids. */
extern VacuumStmt *statement_database_stats(void);

/*
 * Runs a command at top level, outside any transaction.  `what` names the
 * object in the log.  Returns 0, or the SQLSTATE of the error, which is
 * logged.
 */
extern int	statement_try(VacuumStmt *stmt, const char *what);

/* Does anybody hold a lock on the table for which that one would have to wait? */
extern bool statement_must_wait(Oid relid, LOCKMODE mode);

/* Was the last one cancelled while somebody waited for its table? */
extern bool statement_gave_way(void);

/* What is run from now on is cancelled after so many ms.  0: never. */
extern void statement_limit(int ms);

/*
 * The same for what is no command.  relid is the table that others may wait
 * for.  `doing` is said in the log: "vacuum", "clean-up".
 */
extern int	statement_try_call(void (*call) (void *arg), void *arg, Oid relid,
							   const char *doing, const char *what);

#endif							/* SWEEP_STATEMENT_H */
