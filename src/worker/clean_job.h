/*
 * clean_job.h
 *		What a worker and the library pg_sweep_cleaner say to each other.
 *
 * The library includes this file and no other of pg_sweep.  A worker loads it
 * when the first table is to be cleaned.
 */
#ifndef SWEEP_CLEAN_JOB_H
#define SWEEP_CLEAN_JOB_H

#include "postgres.h"

#include "storage/block.h"
#include "storage/buf.h"

#define CLEAN_LIBRARY	"$libdir/pg_sweep_cleaner"
#define CLEAN_FUNCTION	"sweep_clean_table"

/* What cleaning has done, in rows, entries and pages. */
typedef struct CleanCounts
{
	int64		pages;			/* of the table that were looked at */
	int64		pages_pinned;	/* ... that somebody else had pinned */
	int64		rows;			/* removed, so that their row pointers are
								 * dead */
	int64		rows_hot;		/* removed, and no index had an entry of them */
	int64		rows_left;		/* dead, with their entries left: of an
								 * aborted transaction, or with a value in the
								 * TOAST table that an index has */
	int64		rows_costly;	/* dead, and left: to remove them now would
								 * take I/O */
	int64		entries;		/* removed from indexes */
	int64		entries_not_found;
	int64		leaves;			/* index pages from which some were removed */
	int64		leaves_pinned;	/* ... that somebody else had pinned */
	int64		leaves_emptied; /* ... that VACUUM is to empty, and to delete */
	int64		recycled;		/* row pointers that can be used again */
	int64		pages_changed;	/* of the table, so that theirs could not */
} CleanCounts;

/* A page of the table that is in memory, and where it was a moment ago. */
typedef struct CleanPage
{
	BlockNumber block;
	Buffer		buffer;
} CleanPage;

typedef struct CleanJob
{
	/*
	 * Of this struct, as the worker knows it.  It stays the first: an upgrade
	 * replaces the library under a server that runs on with the old
	 * pg_sweep.so
	 */
	Size		size;

	Oid			relid;

	/*
	 * Only these pages, in their order, and only what takes no I/O there
	 * (NULL: the whole table)
	 */
	const CleanPage *cached;
	int			ncached;
	int			work_mem_kb;
	int64		wait_ms;		/* for older transactions, at the end */
	bool		(*must_stop) (void);	/* asked between batches */
	void		(*wait) (void); /* a moment, for older transactions */

	CleanCounts counts;			/* what was done, also when it was cancelled */
	bool		locked;			/* a lock was not available at the beginning */
	const char *why_not;		/* the table cannot be cleaned (NULL: it can) */
} CleanJob;

/* Runs outside any transaction, in several of its own.  It may raise errors. */
typedef void (*CleanFunction) (CleanJob *job);

#endif							/* SWEEP_CLEAN_JOB_H */
