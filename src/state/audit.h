/*
 * audit.h
 *		Who has called which of the functions that act, and with what.
 */
#ifndef SWEEP_AUDIT_H
#define SWEEP_AUDIT_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "state/decisions.h"

/* So many calls are remembered since the server's start. */
#define SWEEP_AUDIT_LIMIT	500

#define AUDIT_COMMAND_LEN	16
#define AUDIT_DETAIL_LEN	128

typedef struct AuditRecord
{
	TimestampTz called_at;
	Oid			dboid;			/* where it was called */
	int			pid;			/* who called it: the process, */
	char		session_user[NAMEDATALEN];	/* who has logged in, */
	char		current_user[NAMEDATALEN];	/* and whose rights counted */
	char		application_name[NAMEDATALEN];
	char		command[AUDIT_COMMAND_LEN]; /* the function, without its
											 * schema */
	DecisionKey key;			/* the table (no relid: none) */
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
	int			vacuum_pid;		/* the vacuum's process (0: none) */
	char		detail[AUDIT_DETAIL_LEN];	/* values that were given ("":
											 * none) */
} AuditRecord;

/* A ring.  Protection: LOCK_AUDIT. */
typedef struct AuditState
{
	int64		count;			/* of all that were ever noted */
	AuditRecord records[SWEEP_AUDIT_LIMIT];
} AuditState;

/* What was acted upon.  Names may be "", detail may be NULL. */
typedef struct AuditTarget
{
	DecisionKey key;
	const char *schemaname;
	const char *relname;
	int			vacuum_pid;
} AuditTarget;

/*
 * Remembers that this session has called sweep.<command>(), and writes it to
 * the log.  It is called when the act is done.  target: NULL if it is the
 * whole server.
 */
extern void audit_note(const char *command, const AuditTarget *target, const char *detail);

/* A copy of what is remembered, the oldest first.  Palloc'd. */
extern AuditRecord *audit_copy(int *count);

#endif							/* SWEEP_AUDIT_H */
