/*
 * clean_pages.h
 *		Pages of tables that can be cleaned without I/O: they are in shared
 *		buffers, and are to be written anyway.
 */
#ifndef SWEEP_CLEAN_PAGES_H
#define SWEEP_CLEAN_PAGES_H

#include "postgres.h"

#include "state/decisions.h"
#include "worker/clean_job.h"

/* Pages of one table, in their order. */
typedef struct CleanPages
{
	CleanPage  *pages;
	int			count;
} CleanPages;

/*
 * Looks for such pages, at sweep.cleaner_scan_rate, first where they are about
 * to leave the cache, and for some seconds at most.  It returns those of each
 * table, or NULL if must_stop(), which is asked now and then, says so.
 * *all_seen: were all buffers looked at?
 */
extern CleanPages *clean_pages_find(const DecisionKey *tables, int count, bool (*must_stop) (void),
									bool *all_seen);

#endif							/* SWEEP_CLEAN_PAGES_H */
