/*
 * clean_cost.h
 *		Does it cost any I/O to change a page, or to remove an index entry?
 */
#ifndef CLEAN_COST_H
#define CLEAN_COST_H

#include "postgres.h"

#include "access/itup.h"
#include "access/xlogdefs.h"
#include "storage/buf.h"

#include "clean_target.h"

/* A page that has changed after this moment is in WAL already. */
extern XLogRecPtr clean_cost_moment(void);

/* Is the page to be written anyway, with no full-page image before that? */
extern bool clean_cost_page_is_free(Buffer buffer, XLogRecPtr moment);

/*
 * Is the leaf that has this entry, or would have it, such a page, and in
 * memory?  It is not read.  Inner pages of the index are.
 */
extern bool clean_cost_entry_is_free(CleanTarget *target, int which, IndexTuple entry, XLogRecPtr moment);

#endif							/* CLEAN_COST_H */
