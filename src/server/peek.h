/*
 * peek.h
 *		A table opened for a short look, if nothing is in the way.
 */
#ifndef SWEEP_PEEK_H
#define SWEEP_PEEK_H

#include "postgres.h"

#include "utils/rel.h"

#include "exported.h"

typedef enum PeekResult
{
	PEEK_SEEN,
	PEEK_NOT_FREE,				/* it is locked, gone, or has no file */
	PEEK_FAILED					/* an error, such as a file that cannot be
								 * read */
} PeekResult;

/*
 * Opens the table, calls look(), and closes it.  An error stays here, unless
 * it is a cancel.  Then look() has been left half done.
 */
extern PGDLLEXPORT PeekResult peek(Oid relid, void (*look) (Relation rel, void *arg), void *arg);

/*
 * The same for callers that catch errors themselves.  NULL if the table is
 * locked, gone, or has no file.
 */
extern Relation peek_open(Oid relid);
extern void peek_close(Relation rel);

/*
 * Is nobody about to change the table's row in pg_class, as an uncommitted
 * GRANT is?  Whoever updates that row in place would have to wait.  Inside a
 * transaction.
 */
extern bool peek_row_is_free(Oid relid);

#endif							/* SWEEP_PEEK_H */
